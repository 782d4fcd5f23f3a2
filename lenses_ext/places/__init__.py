"""Paths to the parts of a program, and edits of documents through lenses."""

from .finding import find_places
