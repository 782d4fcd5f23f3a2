"""The lossless edit: rewrites a text for changed trees and keeps all other bytes."""

from .adopting import (
    Pairing as Pairing,
    adopt,
    align as align,
    common_ends as common_ends,
    longest_increasing as longest_increasing,
)
from .comma_list import ElementList, ListElement, list_of
from .pairing import ChangedPattern as ChangedPattern, changed_patterns
from .replacement import Change, Replacement, end_of_head, replace
from .rewrite_parts import respell
