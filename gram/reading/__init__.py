"""From text to constructs and trees, and the errors of text."""

from . import syntax
from .lexer import (
    END,
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
    tokens as tokens,
    trivia_end,
    without_block_above,
)
from .parser import (
    Spans as Spans,
    Stop as Stop,
    construct_of as construct_of,
    parse_items,
    parse_tokens as parse_tokens,
    parse_trees,
    spans_in_text,
    spans_of,
    trees_if_gram,
)
from .scalars import QUOTES, needs_fence, quote as quote, refence, unescape as unescape, write_fence
from .syntax import (
    Arrow as Arrow,
    Bracket as Bracket,
    Construct as Construct,
    Item,
    Node as Node,
    Path as Path,
    Token as Token,
    Value,
)
