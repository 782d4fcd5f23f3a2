"""What lark itself says of a grammar and of a text, with its public functions alone."""

from __future__ import annotations

import logging
from functools import cache
from typing import Any, TypeAlias

import lark

Nested: TypeAlias = tuple[Any, ...]
"""A rule with its parts, or a token with its place."""


@cache
def parser_of(definition: str) -> lark.Lark:
    """lark's own parser and lexer."""
    return lark.Lark(definition, parser="lalr", lexer="basic", keep_all_tokens=True)


def read_by_lark(definition: str, text: str) -> Nested | None:
    """All rules and tokens of a text as lark reads it; None when it refuses the text."""
    try:
        return _nested(parser_of(definition).parse(text))
    except lark.UnexpectedInput:
        return None


def _nested(part: Any) -> Nested:
    if isinstance(part, lark.Token):
        return part.type, part.start_pos, part.end_pos
    return str(part.data), *map(_nested, part.children)


def conflicts_of(definition: str) -> list[str]:
    """The conflicts in which lark prefers one way, which it only says when it is asked."""

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    told: list[str] = []
    handler, level = Kept(), lark.logger.level
    lark.logger.addHandler(handler)
    lark.logger.setLevel(logging.WARNING)
    try:
        lark.Lark(definition, parser="lalr", lexer="basic", debug=True)
    finally:
        lark.logger.removeHandler(handler)
        lark.logger.setLevel(level)
    return [each for each in told if "conflict" in each]
