"""The vocabulary of the language: what agents and tools consist of, one line for each part.

`lenses_ext.language.agent` and `lenses_ext.language.tool_spec` declare the parts. The lenses, the
words of paths and the validation all come from there, so that a new property is one line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from gram import Pattern, Subject
from gram.errors import expect

from ..errors import FocusError
from ..optics import Codec, Getter, Lens, Prism, identity, labelled, optional, put, required

A = TypeVar("A")
B = TypeVar("B")
G = TypeVar("G", bound=Getter[Any, Any])


class Vocabulary:
    """What the patterns with some labels consist of.

    Args:
        labels: the labels that are read.

    Attributes:
        labels: as above.
        properties: the lenses onto the properties that mean something, by key; a pattern may have
            others of its own.
        needed: the keys of those that have to be there.
        words: the lens or getter for each word of a path that is not a property.
    """

    def __init__(self, labels: frozenset[str]) -> None:
        self.labels = labels
        self.properties: dict[str, Lens[Pattern, Any, Any]] = {}
        self.needed: set[str] = set()
        self.words: dict[str, Getter[Pattern, Any]] = {}

    def required(
        self, lens_name: str, key: str, codec: Codec[A, B], doc: str
    ) -> Lens[Pattern, A, B]:
        """Declare a property that has to be there; gives its lens, whose ``help`` is ``doc``."""
        lens = required(lens_name, key, codec, doc)
        self.properties[key] = lens
        self.needed.add(key)
        return lens

    def optional(
        self, lens_name: str, key: str, codec: Codec[A, B], doc: str
    ) -> Lens[Pattern, A | None, B | None]:
        """Declare a property that may be absent; gives its lens, which shows None then."""
        lens = optional(lens_name, key, codec, doc)
        self.properties[key] = lens
        return lens

    def word(self, word: str, lens: G) -> G:
        """Declare the word by which paths name a part that is not a property; gives its lens."""
        self.words[word] = lens
        return lens

    def prism(self, name: str) -> Prism[Pattern, Pattern]:
        """The prism onto a pattern that has one of the labels."""
        labels = " or ".join(sorted(self.labels))
        return labelled(name, self.labels, f"A pattern itself, if it is labelled {labels}.")

    def make(self, by: str, name: str, label: str, properties: Mapping[str, Any]) -> Pattern:
        """Make a pattern of its name, its label and its properties but those that are None.

        Args:
            by: the function that makes it, for errors.
            name: its identity.
            label: the label that is written.
            properties: the properties by key.

        Raises:
            FocusError: the name or a property is empty, or has no notation.
        """
        expect(name, str, "name", by=by)
        placeholders = dict.fromkeys(self.needed, "?/?")
        pattern = put(identity(by), name, Pattern(Subject("?", {label}, placeholders)))
        for key, value in properties.items():
            if isinstance(value, str) and not value.strip():
                raise FocusError(by, f"value.properties.{key}", pattern, f"the {key} is empty")
            if value is not None or key in self.needed:
                pattern = put(self.properties[key], value, pattern)
        return pattern
