"""``gram check``: report what is wrong in files, from the files alone."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from gram import Fault, GramDecodeError
from gram.faults import errors, syntax_fault
from lenses_ext import find_agents

from ..program_checks import check_program
from ..redaction import redact
from .failures import NO
from .inputs import read_document


@click.command("check")
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the faults as JSON.")
def command(files: tuple[str, ...], as_json: bool) -> None:
    """Report what is wrong in FILES; no network, key or tool library is needed.

    Exits with 1 when there is an error; warnings alone are fine. - is standard input.
    """
    faults: list[Fault] = []
    for file in files:
        try:
            document = read_document(file)
        except GramDecodeError as error:
            faults.append(syntax_fault(error))
            continue
        if not find_agents(document.patterns):
            click.echo(f"{document.filename}: no agent here, checked as plain data", err=True)
        faults.extend(check_program(document))
    if as_json:
        found = [_as_json(each) for each in faults]
        click.echo(redact(json.dumps(found, ensure_ascii=False, indent=2)))
    else:
        for each in faults:
            hint = f"\n  hint: {each.hint}" if each.hint else ""
            click.echo(redact(f"{each}{hint}"))
    if errors(faults):
        sys.exit(NO)


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
    }
