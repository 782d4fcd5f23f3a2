"""``gram check``: report the faults in files."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from gram import (
    Document,
    Fault,
    GramDecodeError,
    apply_fixes,
    only_errors,
    syntax_fault,
)
from lenses_ext import find_agents, parse, shared_tools

from ..program_checks import check_program
from ..redaction import redact
from .failures import NO
from .inputs import STDIN, read_document, read_text
from .output import show, tell
from .rewriting import rewrite


@click.command("check")
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the faults as JSON.")
@click.option("--fix", is_flag=True, help="First fix what can be fixed without changing trees.")
def command(files: tuple[str, ...], as_json: bool, fix: bool) -> None:
    """Report the faults in FILES; no network, key or tool library is needed.

    Exits with 1 if there is an error, with 0 if there are only warnings. - is standard input.
    """
    if fix and STDIN in files:
        raise click.UsageError("--fix writes files, so it cannot be used with standard input")
    faults: list[Fault] = []
    unreadable: OSError | None = None
    for file in files:
        try:
            faults.extend(_faults(file, fix))
        except GramDecodeError as error:  # not UTF-8
            faults.append(syntax_fault(error))
        except OSError as error:  # raised after the faults of the other files are printed
            unreadable = unreadable or error
    if as_json:
        found = [_as_json(each) for each in faults]
        show(redact(json.dumps(found, ensure_ascii=False, indent=2)))
    else:
        for each in faults:
            show(redact(each.with_hint()))
    if unreadable is not None:
        raise unreadable
    if only_errors(faults):
        sys.exit(NO)


def _faults(file: str, fix: bool) -> tuple[Fault, ...]:
    text, name = read_text(file)
    try:
        document = parse(text, name)
    except GramDecodeError:
        from gram import syntax_errors  # imported late: it loads all explanations

        return tuple(map(syntax_fault, syntax_errors(text, name)))
    if fix and rewrite(file, _mended):
        document = read_document(file)
    faults = check_program(document)
    _note(document)
    return faults


def _mended(text: str, name: str) -> str:
    document = parse(text, name)
    return apply_fixes(document, check_program(document))


def _note(document: Document) -> None:
    if not find_agents(document) and not shared_tools(document):
        tell(f"{document.filename}: no agent here, checked as plain data")


def _as_json(fault: Fault) -> dict[str, Any]:
    return {
        "code": fault.code,
        "severity": fault.severity,
        "message": fault.message,
        "file": fault.filename,
        "line": fault.lineno,
        "column": fault.colno,
        "path": list(fault.path),
        "hint": fault.hint,
        "fixable": bool(fault.fix),
    }
