"""Whole programs: references and scopes, composition, validation."""

from .scopes import Definition, Program

__all__ = ["Definition", "Program"]
