"""Docstrings say what a function does and what its parameters mean."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from interp.tools.from_functions.callables import Documentation, read_docstring

GOOGLE = """Adds two numbers.

    Any two will do:
        even large ones.

    Args:
        a (int): the first,
            which comes first
        b: the second

    Returns:
        The sum.

    Raises:
        ValueError: never

    >>> add(1, 2)
    3
    """

NUMPY = """Adds two numbers.

    Any two will do:
        even large ones.

    >>> add(1, 2)
    3

    Parameters
    ----------
    a : int
        the first,
        which comes first
    b
        the second

    Returns
    -------
    int
        The sum.
    """

SPHINX = """Adds two numbers.

    Any two will do:
        even large ones.

    :param int a: the first,
        which comes first
    :param b: the second
    :returns: The sum.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["Google", "NumPy", "Sphinx"])
def test_three_styles_say_the_same(text: str) -> None:
    assert read_docstring(text) == Documentation(
        "Adds two numbers.\n\nAny two will do:\n    even large ones.",
        {"a": "the first,\nwhich comes first", "b": "the second"},
    )


@pytest.mark.parametrize("text", [None, "", "  \n "])
def test_no_docstring_says_nothing(text: str | None) -> None:
    assert read_docstring(text) == Documentation("", {})


def test_text_after_a_doctest_is_kept() -> None:
    text = "Adds.\n\n>>> add(1)\n2\n\nSlowly."

    assert read_docstring(text).description == "Adds.\n\nSlowly."


def test_a_docstring_in_an_unknown_style_is_all_description() -> None:
    assert read_docstring(":param\n: x") == Documentation(":param\n: x", {})


PIECES = [
    "Args:", "Parameters", "----", ":param x: y", ":param", "Returns:", "@param x: y", ">>> a",
    "    x: y", "  x", "x : int", "", ":", "::", "Yields:", "Example:", ".. note::",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=8).map("\n".join))
def test_any_text_can_be_a_docstring(text: str) -> None:
    read_docstring(text)
