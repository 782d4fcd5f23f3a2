"""Paths to the parts of a program, and edits of documents through lenses."""

from .places import find_places
