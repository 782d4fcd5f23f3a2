"""What reading, writing and laying out cost: four times the text, about four times the calls."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from gram import GramError, dumps, format_text, loads, parse, syntax_errors
from tests.calls import calls_of

SHAPES: dict[str, Callable[[int], str]] = {
    "many patterns": lambda n: "(a {k: 1})\n" * n,
    "a long walk": lambda n: "(a)" + "-->(b)" * n,
    "a long array": lambda n: f"(a {{k: [{', '.join('1' * n)}]}})",
    "many keys": lambda n: f"(a {{{', '.join(f'k{i}: 1' for i in range(n))}}})",
    "many elements": lambda n: f"[a | {', '.join('b' * n)}]",
    "many labels": lambda n: "(a" + ":B" * n + ")",
    "many annotations": lambda n: "@k(1) " * n + "(a)",
    "many comments": lambda n: "// c\n" * n + "(a)",
    "deep brackets": lambda n: "[a | " * n + "b" + "]" * n,
    "deep maps": lambda n: "(a {k: " + "{k: " * n + "1" + "}" * n + "})",
    "open brackets": lambda n: "[" * n,
    "open strings": lambda n: '"\\' * n,
    "broken patterns": lambda n: "(a\n" * n,
}
USES: dict[str, Callable[[str], object]] = {
    "loads": loads,
    "constructs": lambda text: parse(text).items,
    "dumps": lambda text: dumps(loads(text)),
    "format_text": format_text,
}


def used(use: Callable[[str], object], text: str) -> None:
    """Use a text, which may be refused."""
    with suppress(GramError):
        use(text)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("shape", SHAPES)
def test_calls_grow_with_the_text_and_no_faster(shape: str, use: str) -> None:
    make = SHAPES[shape]
    used(USES[use], make(10))  # what is made once is made before

    few, many = (calls_of(lambda n=n: used(USES[use], make(n))) for n in (100, 400))

    assert many < 6 * few + 500


def test_all_errors_of_a_text_are_found_in_linear_time_too() -> None:
    few, many = (calls_of(lambda n=n: syntax_errors("(a {k: })\n" * n)) for n in (25, 100))

    assert many < 6 * few
