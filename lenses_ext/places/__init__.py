"""Paths to the parts of a program; many places changed in one pass."""

from .finding import find_places
