"""Whole programs: references and scopes, composition, validation."""

from .references import tool_with_types
from .scopes import Program
