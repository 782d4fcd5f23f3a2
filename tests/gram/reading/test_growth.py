"""What reading, writing and laying out cost: twice the text, twice the calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from gram import GramError, dumps, format_text, loads, parse, syntax_errors

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


def calls_of(use: Callable[[str], object], text: str) -> int:
    """How many functions are called, those in C among them."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        use(text)
    except GramError:
        pass
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_text_is_twice_the_calls(shape: str, use: str) -> None:
    make = SHAPES[shape]
    calls_of(USES[use], make(10))  # what is made once is made before

    once, twice = (calls_of(USES[use], make(n)) for n in (400, 800))

    assert twice <= 2.1 * once + 500


def test_all_errors_of_a_text_are_found_in_linear_time_too() -> None:
    once, twice = (calls_of(syntax_errors, "(a {k: })\n" * n) for n in (50, 100))

    assert twice <= 2.1 * once + 500
