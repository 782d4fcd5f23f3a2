"""Paths to the parts of a program; many places changed in one pass."""

from .finding import (
    completions as completions,
    holds as holds,
    new_property as new_property,
    read_condition as read_condition,
)
from .place import (
    ANY as ANY,
    Kind as Kind,
    read_path as read_path,
    read_pattern as read_pattern,
    read_value as read_value,
    write_path as write_path,
)
from .renaming import Named as Named, mentions as mentions, named_at as named_at
