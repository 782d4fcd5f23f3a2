"""Paths to the parts of a program; many places changed in one pass."""

from .conditions import Condition as Condition, holds as holds, read_condition as read_condition
from .finding import completions as completions, find_places, new_property as new_property
from .paths import ANY as ANY, read_path as read_path, write_path as write_path
from .place import Kind as Kind
from .renaming import Named as Named, mentions as mentions, named_at as named_at
from .values import read_pattern as read_pattern, read_value as read_value
