"""Trees beside each other: which element of one is which of another, and what changed."""

from .diffs import (
    Diff as Diff,
    TreeChange as TreeChange,
    apply as apply,
    diff as diff,
    from_pattern as from_pattern,
    invert as invert,
    then as then,
    to_pattern as to_pattern,
)
from .edits import DiffError as DiffError
from .matching import Matching as Matching, match as match, match_values as match_values
