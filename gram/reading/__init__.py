"""From text to constructs and trees, and the errors of text."""

from . import syntax
from .lexer import END, matches, tokens
from .literals import QUOTES, needs_fence, quote, refence, write_fence
from .parser import construct_of, constructs_of, parse_constructs, parse_trees
from .scalars import scalar_of
from .spans import Spans, spans_in_text, spans_of
from .syntax import Construct, Item, Value
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
