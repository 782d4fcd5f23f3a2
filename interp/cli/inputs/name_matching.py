"""Which names an expression such as ``greets and not (long or slow)`` means, as in pytest."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import click

if TYPE_CHECKING:
    import ast

Matching: TypeAlias = Callable[[str], bool]

_TOKEN = re.compile(r"""[()]|"[^"]*"|'[^']*'|[^\s()"']+|["']""")
_KEPT = ("(", ")", "and", "or", "not")


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
    import ast  # imported late: it is needed with -k alone

    texts: list[str] = []
    words: list[str] = []  # of the expression, as Python reads it: each text is a name
    for token in _TOKEN.findall(expression):
        if token in (*_KEPT, "'", '"'):  # a quote alone is no text, and Python refuses it
            words.append(token)
        elif words and words[-1][0] == "_" and token[0] not in "\"'":
            texts[-1] += f" {token}"
        else:
            words.append(f"_{len(texts)}")
            texts.append(token[1:-1] if token[0] in "\"'" else token)
    try:
        return _matching(ast.parse(" ".join(words), mode="eval").body, texts)
    except (SyntaxError, RecursionError, MemoryError, TypeError):
        raise click.UsageError(
            f"-k {expression!r}: write texts with and, or, not and brackets, and texts that have "
            "those in quotes"
        ) from None


def _matching(tree: ast.expr, texts: list[str]) -> Matching:
    import ast

    match tree:
        case ast.Name(id=name):
            wanted = texts[int(name[1:])].casefold()
            return lambda name: wanted in name.casefold()
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            negated = _matching(inner, texts)
            return lambda name: not negated(name)
        case ast.BoolOp(op=joined, values=values):
            parts = [_matching(each, texts) for each in values]
            how = all if isinstance(joined, ast.And) else any
            return lambda name: how(each(name) for each in parts)
    raise TypeError("no expression of names")  # such as a call
