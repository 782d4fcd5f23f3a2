"""Whole programs: references and scopes, composition, validation."""

from .scopes import Program
