"""From text to constructs and trees, and the errors of text."""

from . import lexer, syntax
from .lexer import tokens as tokens
from .parser import (
    Spans as Spans,
    Stop as Stop,
    construct_of as construct_of,
    parse_items,
    parse_tokens as parse_tokens,
    parse_trees,
    placed as placed,
    spans_in_text,
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
