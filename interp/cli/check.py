"""``gram check``: report what is wrong in files, from the files alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from gram import Document, Fault, GramDecodeError, apply_fixes
from gram.checks import syntax_fault
from gram.faults import errors
from gram.files import write_atomically
from lenses_ext import find_agents, parse

from ..program_checks import check_program
from ..redaction import redact
from .failures import NO
from .inputs import STDIN, read_text


@click.command("check")
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the faults as JSON.")
@click.option("--fix", is_flag=True, help="First mend what can be mended without changing trees.")
def command(files: tuple[str, ...], as_json: bool, fix: bool) -> None:
    """Report what is wrong in FILES; no network, key or tool library is needed.

    Exits with 1 when there is an error; warnings alone are fine. - is standard input.
    """
    if fix and STDIN in files:
        raise click.UsageError("--fix writes files; it cannot mend standard input")
    faults: list[Fault] = []
    unreadable: OSError | None = None
    for file in files:
        try:
            faults.extend(_faults(file, fix))
        except GramDecodeError as error:  # not UTF-8
            faults.append(syntax_fault(error))
        except OSError as error:  # told when the others have been
            unreadable = unreadable or error
    if as_json:
        found = [_as_json(each) for each in faults]
        click.echo(redact(json.dumps(found, ensure_ascii=False, indent=2)))
    else:
        for each in faults:
            click.echo(redact(each.with_hint()))
    if unreadable is not None:
        raise unreadable
    if errors(faults):
        sys.exit(NO)


def _faults(file: str, fix: bool) -> tuple[Fault, ...]:
    text, name = read_text(file)
    try:
        document = parse(text, name)
    except GramDecodeError:
        from gram import syntax_errors  # and all that explains them

        return tuple(map(syntax_fault, syntax_errors(text, name)))
    faults = check_program(document)
    if fix and (mended := apply_fixes(document, faults)) != text:
        write_atomically(Path(file), mended)
        document = parse(mended, name)
        faults = check_program(document)
    _note(document)
    return faults


def _note(document: Document) -> None:
    if not find_agents(document.patterns):
        click.echo(f"{document.filename}: no agent here, checked as plain data", err=True)


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
