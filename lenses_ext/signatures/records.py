"""Reads the record of a node or shape: the keys that mean something here, and JSON Schema's."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pyrsistent import PMap, PVector

from gram import Symbol, TaggedString, Value

from ..schemas import Keywords, NotJson, dump_json, from_json_value, to_json_value
from .faults import Faults, Owner
from .slips import check_keys
from .values import NO_KEYWORDS
from .vocabulary import RESERVED_KEYS

_NO_VALUE = frozenset(map(Symbol, ("null", "Null", "NULL", "None", "nil", "undefined")))
"""Words for null elsewhere: in gram a bare word is text."""

_NOTHING = object()
"""What an absent key says, and one whose value is not JSON."""


class Record:
    """A record whose keys are read as JSON.

    Args:
        values: the record.
        owner: the parameter, field, result or type that it belongs to.
        faults: collects what is wrong.
    """

    def __init__(self, values: Mapping[str, Value], owner: Owner, faults: Faults) -> None:
        self.values = values
        self.owner = owner
        self.faults = faults

    def text(self, key: str, wanted: str = "a type name") -> str | None:
        """The text of a key, or None; another value is a fault."""
        found = self._json(key)
        if isinstance(found, str):
            return found
        self._refuse(key, wanted, found)
        return None

    def type_names(self, key: str) -> list[str] | None:
        """The names of types in the array of a key, ``[]`` when absent; None after a fault."""
        found = self._json(key) if key in self.values else []
        if isinstance(found, list) and all(isinstance(name, str) for name in found):
            return found
        self._refuse(key, "an array of type names", found)
        return None

    def optional(self) -> bool | None:
        """The mark ``optional``, or None when there is none."""
        written = self.values.get("optional")
        if written is not None and not isinstance(written, bool):
            self._refuse("optional", "true or false", self._json("optional"))
            return None
        if written is not None and not self.owner.may_be_absent:
            words = self.owner.words
            message = f'"optional" of {words}: only parameters and fields can be optional'
            self.faults.tell("optional", message, self.owner.element, "optional")
        return written

    def fields(self) -> list[Mapping[str, Value]] | None:
        """The maps of ``fields``, or None when it is not an array of maps."""
        written = self.values["fields"]
        entries: Any = None
        if isinstance(written, PVector):
            entries = list(written)
        elif isinstance(written, TaggedString):
            with suppress(NotJson):
                entries = to_json_value(written)
        if not isinstance(entries, list) or not all(isinstance(each, Mapping) for each in entries):
            return None
        return [
            each if isinstance(each, PMap) else {k: from_json_value(v) for k, v in each.items()}
            for each in entries
        ]

    def keywords(self, labels: frozenset[str]) -> tuple[Keywords, Keywords, bool | None]:
        """The JSON Schema keywords, the foreign ones under ``keywords``, and a constant schema."""
        if not self.values:
            return NO_KEYWORDS, NO_KEYWORDS, None
        for key in ("default", "const"):
            if (word := self.values.get(key)) in _NO_VALUE:
                message = f"{key} of {self.owner.words} is the word {word}; "
                message += "JSON's null is json`null`"
                self.faults.tell("null-word", message, self.owner.element, key)
        keys = sorted(key for key in self.values if key not in RESERVED_KEYS)
        check_keys(keys, labels, self.owner, self.faults)
        found = {key: self._json(key) for key in keys}
        keywords = Keywords.of({key: each for key, each in found.items() if each is not _NOTHING})
        foreign = self._json("keywords")
        if isinstance(foreign, bool):
            return keywords, NO_KEYWORDS, foreign
        if isinstance(foreign, dict):
            return keywords, Keywords.of(foreign), None
        self._refuse("keywords", "a JSON object", foreign)
        return keywords, NO_KEYWORDS, None

    def _json(self, key: str) -> Any:
        """What a key says as JSON; `_NOTHING` where it is absent, or not JSON, which is a fault."""
        if key not in self.values:
            return _NOTHING
        try:
            return to_json_value(self.values[key])
        except NotJson as error:
            message = str(error)
            if not message.startswith("json`"):
                message = f"{key} of {self.owner.words}: {message}"
            self.faults.tell("not-json", message, self.owner.element, key)
            return _NOTHING

    def _refuse(self, key: str, wanted: str, found: object) -> None:
        """Note that a key holds the wrong kind of value."""
        if found is not _NOTHING:
            message = f'"{key}" of {self.owner.words} must be {wanted}, got {dump_json(found)}'
            self.faults.tell("ill-typed", message, self.owner.element, key)
