"""Immutable trees of patterns: values, walks, operations, and where they were read from."""

from . import operations, pattern
from .operations import unfold
from .origins import carry_origin as carry_origin, origin, read_from
from .pattern import (
    WALK as WALK,
    WALK_SUBJECT as WALK_SUBJECT,
    Pattern,
    ReadFrom,
    Subject,
    patterns_of,
)
from .scopes import (
    WHOLE as WHOLE,
    Scope as Scope,
    Scoped as Scoped,
    ScopeKey,
    Scopes as Scopes,
    one_scope as one_scope,
    scoped,
    scopes_from as scopes_from,
    with_names,
)
from .shapes import is_edge, is_header, is_reference, walk_nodes
from .values import (
    Bound,
    Measurement,
    Number,
    Range,
    Symbol,
    TaggedString,
    Value,
    check_number,
    check_text,
    exact as exact,
    is_symbol,
    levels,
)
from .walks import TreePath, pattern_at, walk
