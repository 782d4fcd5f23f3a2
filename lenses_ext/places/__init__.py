"""Paths to the parts of a program; many places changed in one pass."""

from .finding import completions, holds, new_property, read_condition
from .place import ANY, Kind, read_path, read_pattern, read_value, write_path
from .renaming import Named as Named, mentions as mentions, named_at as named_at
