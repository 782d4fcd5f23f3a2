"""From text to constructs and trees, and what is said of a text that cannot be read."""

from . import syntax
from .lexer import END, tokens
from .literals import QUOTES, needs_fence, quote, refence, write_fence
from .parser import Stop, construct_of, parse_constructs, parse_tokens, parse_trees
from .spans import Spans, spans_of
from .syntax import Construct, Header, Item, Token, Value
from .trivia import (
    Trivia,
    comments,
    comments_in,
    has_comment,
    last_line,
    leaves_comment_open,
    line_break,
    read_trivia,
    same_line_comment,
    text_start,
    trivia_end,
    without_block_above,
)

__all__ = [
    "END",
    "QUOTES",
    "Construct",
    "Header",
    "Item",
    "Spans",
    "Stop",
    "Token",
    "Trivia",
    "Value",
    "comments",
    "comments_in",
    "construct_of",
    "has_comment",
    "last_line",
    "leaves_comment_open",
    "line_break",
    "needs_fence",
    "parse_constructs",
    "parse_tokens",
    "parse_trees",
    "quote",
    "read_trivia",
    "refence",
    "same_line_comment",
    "spans_of",
    "syntax",
    "text_start",
    "tokens",
    "trivia_end",
    "without_block_above",
    "write_fence",
]
