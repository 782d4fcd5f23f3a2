"""Paths to the parts of a program, and edits of documents through lenses."""

from .document_edits import edit, edit_with
from .paths import ANY, PathError, read_path, write_path
from .places import (
    Kind,
    Place,
    change_places,
    completions,
    find_places,
    new_property,
    remove_places,
)

__all__ = [
    "ANY",
    "Kind",
    "PathError",
    "Place",
    "change_places",
    "completions",
    "edit",
    "edit_with",
    "find_places",
    "new_property",
    "read_path",
    "remove_places",
    "write_path",
]
