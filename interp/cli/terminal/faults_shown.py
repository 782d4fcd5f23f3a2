"""Shows faults as text with their lines, as JSON, SARIF or GitHub annotations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from gram import Diagnostic, GramDecodeError, Span
from gram.checks import syntax_fault

from ...errors import ValidationError
from ..failures import Failure, exit_code_of, shown
from .console import Styled, show_json, show_result, tell


def tell_failure(failure: Failure) -> int:
    """Tell the user of an error: its faults with their lines, or its message; its exit code."""
    faults: Sequence[Diagnostic] = ()
    if isinstance(failure, GramDecodeError) and failure.doc:
        faults = [syntax_fault(failure)]
    elif isinstance(failure, ValidationError):
        faults = failure.faults
    for each in faults:
        tell(as_text(each))
    if not faults:
        tell(shown(failure))
    return exit_code_of(failure)


def as_text(fault: Diagnostic) -> Styled:
    """A fault with its place, severity and code, the line it is about, and its hint."""
    place = f"{fault.place}: " if fault.place else ""
    parts = [
        (place, "place"),
        (f"{fault.severity}[{fault.code}]", fault.severity),
        (f" {fault.message}", ""),
    ]
    if fault.excerpt:
        line, carets = fault.excerpt.rsplit("\n", 1)
        parts += [(f"\n{line}\n", ""), (carets, "caret")]
    if fault.hint:
        parts += [("\n  hint: ", "hint"), (fault.hint, "")]
    return parts


_JSON_REGION = ("line", "column", "end_line", "end_column")


def as_json(fault: Diagnostic) -> dict[str, Any]:
    """A fault as JSON; lines and columns count from 1, ends are the first place behind."""
    return {
        "code": fault.code,
        "severity": fault.severity,
        "message": fault.message,
        "file": fault.filename,
        **_region(fault, _JSON_REGION),
        "path": list(fault.path),
        "hint": fault.hint,
        "fixable": bool(fault.fix),
        "fix": [
            {**_region(fault, _JSON_REGION, each.span), "text": each.text} for each in fault.fix
        ],
    }


_SARIF_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_SARIF_REGION = ("startLine", "startColumn", "endLine", "endColumn")


def as_sarif(faults: Iterable[Diagnostic]) -> dict[str, Any]:
    """Faults as a log of the Static Analysis Results Interchange Format, version 2.1.0."""
    from importlib.metadata import version

    faults = tuple(faults)
    driver = {
        "name": "gram",
        "version": version("gram-agents"),
        "rules": [{"id": code} for code in dict.fromkeys(each.code for each in faults)],
    }
    results = [_sarif_result(each) for each in faults]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_result(fault: Diagnostic) -> dict[str, Any]:
    text = f"{fault.message} (hint: {fault.hint})" if fault.hint else fault.message
    said = {"ruleId": fault.code, "level": _LEVELS[fault.severity], "message": {"text": text}}
    if fault.filename is None:
        return said
    file = {"artifactLocation": {"uri": quote(PurePath(fault.filename).as_posix())}}
    region = {"region": _region(fault, _SARIF_REGION)} if fault.span else {}
    located = {**said, "locations": [{"physicalLocation": {**file, **region}}]}
    edits = [(_region(fault, _SARIF_REGION, each.span), {"text": each.text}) for each in fault.fix]
    changed = [{"deletedRegion": old, "insertedContent": new} for old, new in edits]
    fixes = [{"artifactChanges": [{**file, "replacements": changed}]}]
    return {**located, "fixes": fixes} if changed else located


_GITHUB_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
_GITHUB_REGION = ("line", "col", "endLine", "endColumn")


def as_github(fault: Diagnostic) -> str:
    """A fault as a command that annotates a line on GitHub.

    >>> from gram import Source
    >>> as_github(Diagnostic("syntax", "error", "50% of it", source=Source("", "a.gram")))
    '::error title=syntax,file=a.gram::50%25 of it'
    """
    words: dict[str, object] = {"title": fault.code}
    if fault.filename is not None:
        words |= {"file": fault.filename, **_region(fault, _GITHUB_REGION)}
    said = ",".join(
        f"{word}={_escaped(str(value), ',:')}" for word, value in words.items() if value is not None
    )
    text = f"{fault.message}\nhint: {fault.hint}" if fault.hint else fault.message
    return f"::{_GITHUB_LEVELS[fault.severity]} {said}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def show_faults(faults: Sequence[Diagnostic], form: str) -> None:
    """Print faults in one of the forms of ``--format``."""
    if form == "sarif":
        show_json(as_sarif(faults))
    else:
        lines = ((as_github if form == "github" else as_text)(each) for each in faults)
        show_result(form == "json", [as_json(each) for each in faults], lines)


def _region(
    fault: Diagnostic, names: Sequence[str], span: Span | None = None
) -> dict[str, int | None]:
    """The lines and columns of a fault, or of a span of its text, under these names."""
    span = span or fault.span
    if fault.source is None or span is None:
        return dict.fromkeys(names)
    places = (number for offset in span for number in fault.source.position(offset))
    return dict(zip(names, places, strict=True))
