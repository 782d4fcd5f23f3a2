"""Immutable trees of patterns: values, walks, operations, and where they were read from."""

from . import operations, pattern, values
from .operations import TreePath, pattern_at, walk
from .pattern import (
    WALK as WALK,
    WALK_SUBJECT as WALK_SUBJECT,
    Pattern,
    ReadFrom,
    Subject,
    carry_origin as carry_origin,
    is_edge,
    is_header,
    is_reference,
    origin,
    patterns_of,
    read_from,
    walk_nodes,
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
from .values import (
    Bound,
    Measurement,
    Range,
    Symbol,
    TaggedString,
    Value,
    exact as exact,
    is_symbol,
)
