"""The lossless edit: rewrites a text for changed trees and keeps all other bytes."""

from .adopting import adopt
from .alignment import (
    Pairing as Pairing,
    align as align,
    common_ends as common_ends,
    longest_increasing as longest_increasing,
)
from .changed import ChangedPattern as ChangedPattern, changed_patterns
from .comma_list import ElementList, ListElement, annotations_of, entries_of, list_of
from .removal import changes_without
from .replacement import Change, Replacement, end_of_head, replace
from .respelling import respell
