"""What finding faults costs: four times as many, about four times the calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gram import Diagnostic, apply_fixes, check, parse, syntax_errors
from gram.checks import syntax_fault
from tests.calls import calls_of


def checked(text: str) -> tuple[Diagnostic, ...]:
    """The faults of a text."""
    return check(parse(text))


def spelled(text: str) -> tuple[Diagnostic, ...]:
    """The syntax errors of a text."""
    return tuple(map(syntax_fault, syntax_errors(text)))


def numbered(count: int, entry: str, between: str = ", ") -> str:
    return between.join(entry.format(each) for each in range(count))


MANY: dict[str, tuple[Callable[[str], tuple[Diagnostic, ...]], Callable[[int], str]]] = {
    "commas before closing brackets": (spelled, lambda n: "(a {k: 1,})\n" * n),
    "missing values": (spelled, lambda n: "(a {k: })\n" * n),
    "missing values in one pattern": (spelled, lambda n: f"(a {{{numbered(n, 'k{}: ')}}})"),
    "one key": (checked, lambda n: f"(a {{{numbered(n, 'k: {}')}}})"),
    "keys twice": (checked, lambda n: f"(a {{{numbered(n, 'k{0}: 1, k{0}: 2')}}})"),
    "keys twice, on lines": (checked, lambda n: numbered(n, "(a {{k: {0}, k: 1}})", "\n")),
    "labels": (checked, lambda n: f"(a{numbered(n, ':b{}', '')})"),
    "nested arrays": (checked, lambda n: f"(a {{{numbered(n, 'k{}: [[1]]')}}})"),
    "annotations": (checked, lambda n: "@k(1) " * n + "(a)"),
    "references": (checked, lambda n: f"[a | {numbered(n, 'b{}')}]"),
    "definitions": (checked, lambda n: numbered(n, "(a {{k: {}}})", "\n")),
}


@pytest.mark.parametrize("what", MANY)
def test_calls_grow_with_the_faults_and_no_faster(what: str) -> None:
    find, make = MANY[what]
    found = find(make(10))  # what is made once is made before
    assert found

    few, many = (calls_of(lambda n=n: find(make(n))) for n in (100, 400))

    assert many < 6 * few + 500


def test_fixes_are_applied_in_linear_time_too() -> None:
    def fixed(count: int) -> None:
        text = "(a {k: 1,})\n" * count
        assert apply_fixes(text, spelled(text)) == "(a {k: 1})\n" * count

    fixed(10)

    assert calls_of(lambda: fixed(400)) < 6 * calls_of(lambda: fixed(100)) + 500
