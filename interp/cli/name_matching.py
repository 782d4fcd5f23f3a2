"""Which names an expression such as ``greets and not (long or slow)`` means, as in pytest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import click

Matching: TypeAlias = Callable[[str], bool]

_GRAMMAR = r"""
?start: both | start "or" both -> either
?both: one | both "and" one -> all
?one: "not" one -> none | "(" start ")" | text
text: WORD+ | QUOTED
WORD: /(?!(?:and|or|not)(?![^\s()"']))[^\s()"']+/
QUOTED: /"[^"]*"|'[^']*'/
%ignore /\s+/
"""


def matching(expression: str) -> Matching:
    """A function that says whether a name is meant.

    A text means the names that have it, in capitals or not: a word, words with blanks between, or
    anything in quotes. Texts are joined with ``and``, ``or``, ``not`` and brackets.

    Raises:
        click.UsageError: it is no such expression.

    >>> is_meant = matching("greets and not (long or 'in a hurry')")
    >>> is_meant("greets Ada"), is_meant("greets Ada in a hurry"), is_meant("a Long one greets")
    (True, False, False)
    """
    from lark import (
        Lark,
        UnexpectedInput,
        UnexpectedToken,
    )  # imported late: it is needed with -k alone

    parser = Lark(_GRAMMAR, parser="lalr")
    try:
        return _matching(parser.parse(expression))
    except UnexpectedInput as error:
        is_at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        where = "it ends too early" if is_at_end else f"character {error.column} is not expected"
        raise click.UsageError(
            f"-k {expression!r}: {where}; write texts with and, or, not and brackets, and texts "
            "that have those in quotes"
        ) from None


def _matching(tree: Any) -> Matching:
    if tree.data == "text":
        words = " ".join(map(str, tree.children))
        wanted = (words[1:-1] if words[0] in "\"'" else words).casefold()
        return lambda name: wanted in name.casefold()
    parts = [_matching(each) for each in tree.children]
    if tree.data == "none":
        return lambda name: not parts[0](name)
    joined = all if tree.data == "all" else any
    return lambda name: joined(each(name) for each in parts)
