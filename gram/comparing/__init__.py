"""Compares trees: matches their elements, says what changed, finds patterns, merges texts."""

from .diffs import (
    Diff as Diff,
    DiffError as DiffError,
    Matching as Matching,
    apply as apply,
    diff as diff,
    from_pattern as from_pattern,
    invert as invert,
    match as match,
    match_values as match_values,
    then as then,
    to_pattern as to_pattern,
)
from .merging import Conflict as Conflict, Merge as Merge, merge as merge
from .query import (
    AsWritten as AsWritten,
    Bound as Bound,
    Match as Match,
    QueryError as QueryError,
    find_matches as find_matches,
    holes_in as holes_in,
)
from .rewriting import rewrite as rewrite
