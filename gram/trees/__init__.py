"""Immutable trees of patterns: values, walks, operations, and where they were read from."""

from . import operations, pattern
from .operations import unfold
from .origins import origin, read_from
from .pattern import WALK, WALK_SUBJECT, Pattern, ReadFrom, Subject, patterns_of
from .scopes import (
    WHOLE,
    Scope,
    Scoped,
    ScopeKey,
    Scopes,
    one_scope,
    scoped,
    scopes_from,
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
    exact,
    is_symbol,
    levels,
)
from .walks import TreePath, walk
