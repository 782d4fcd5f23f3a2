"""What `gram lint` finds: the cases of ``tests/data/lint.toml``, and what holds of any program."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from typing import Any

import pytest

from gram import Diagnostic, Pattern, apply_fixes, check
from interp.models import lint_program
from lenses_ext import parse_program, write_program
from lenses_ext.names import program_scopes
from lenses_ext.rules import LINT_CHECKS, with_levels
from tests.by_day import given_few
from tests.lenses_ext.strategies import agent_forests, programs
from tests.paths import DATA

TODAY = date(2026, 11, 24)
FILE = tomllib.loads((DATA / "lint.toml").read_text(encoding="utf-8"))
ROWS: list[dict[str, Any]] = FILE["case"]
CASES = [pytest.param(row, id=row["name"]) for row in ROWS]


def written(text: str) -> str:
    for short, long in FILE["short"].items():
        text = text.replace(short, long)
    return text


def found_in(text: str) -> tuple[Diagnostic, ...]:
    document = parse_program(text, "p.gram")
    return tuple(with_levels(lint_program(document, today=TODAY), document.patterns, {}))


@pytest.mark.parametrize("row", CASES)
def test_lint_finds_what_is_marked_and_nothing_else(row: dict[str, Any]) -> None:
    parts = re.split(r"(?<!x)\^", written(row["text"]))
    places = [sum(map(len, parts[: n + 1])) for n in range(len(parts) - 1)]

    found = found_in("".join(parts))

    codes = [
        f"{each.code} ({each.severity})" if "(" in str(row["found"]) else each.code
        for each in found
    ]
    assert codes == row["found"]
    assert [each.span.start for each in found if each.span] == places
    assert row.get("says", "") in "".join(each.message for each in found[:1])


@pytest.mark.parametrize("row", [row for row in ROWS if "fixed" in row])
def test_what_has_a_fix_is_fixed(row: dict[str, Any]) -> None:
    document = parse_program(written(row["text"]).replace("^", ""), "p.gram")

    after = apply_fixes(document, lint_program(document, today=TODAY))

    assert after == written(row["fixed"])
    assert found_in(after) == ()


@given_few(programs() | agent_forests())
def test_lint_of_any_program_raises_nothing_and_places_what_it_finds(
    patterns: tuple[Pattern, ...],
) -> None:
    check(patterns, checks=LINT_CHECKS, scopes=program_scopes)
    for each in found_in(write_program(patterns)):
        assert each.span is not None
        assert each.severity != "error"
