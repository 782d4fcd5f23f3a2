"""Workflows from parts; definitions that are shared; files bundled and merged; what changed."""

from .program_changes import (
    MergeFault as MergeFault,
    ProgramMerge as ProgramMerge,
    changes as changes,
    conflict_in_words as conflict_in_words,
    judge_merge as judge_merge,
    level_of as level_of,
)
from .sharing import importing, with_other_meaning
from .signature_changes import (
    Level as Level,
    ProgramChange as ProgramChange,
    ProgramChanges as ProgramChanges,
    Said as Said,
)
