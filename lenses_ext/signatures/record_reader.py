"""Reads the records of a signature: its JSON Schema keywords, and the keys with a meaning here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from attrs import frozen

from gram import Fault, Symbol, Value
from gram.faults import fault

from ..json_values import Keywords, NotJson, dump_json, to_json_value
from .source import Place
from .values import NO_KEYWORDS, Type

RESERVED_KEYS = frozenset({"optional", "elementType", "of", "paramName", "fields", "keywords"})
"""Keys of a record that say something of their own here; all others are JSON Schema keywords."""

Role: TypeAlias = Literal["parameter", "field", "part", "return", "type"]

NOT_JSON = object()
"""What a value without JSON reads as, once its fault is told."""


@frozen
class Owner:
    """Whom a message speaks of.

    Attributes:
        role: what it is.
        words: what it is called, quotes included, such as ``"age"`` or ``the return type``.
        place: where it stands.
    """

    role: Role
    words: str
    place: Place

    def __str__(self) -> str:
        return f"{self.role} {self.words}" if self.words.startswith('"') else self.words


@frozen
class Written:
    """A type as it was read, with its owner, for the checks that come later.

    ``optional`` tells whether the value may be left out.
    """

    owner: Owner
    type: Type
    optional: bool = False


def owner_of(role: Role, place: Place, words: str) -> Owner:
    """The owner at a place: called by its name where it has one."""
    subject = place.pattern.value
    written = subject.properties.get("paramName")
    name = subject.identity or (written if isinstance(written, str) else "")
    return Owner(role, f'"{name}"' if name or written == "" else words, place)


_NULL_WORD = Symbol("null")


class RecordReader:
    """Reads records and collects what is wrong.

    Attributes:
        faults: all that was found.
        written: every type that was read, in order, with its owner.
    """

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.written: list[Written] = []

    def tell(self, code: str, message: str, place: Place, part: str | None = None) -> None:
        """Note a fault of a place."""
        self.faults.append(fault(code, message, place.pattern, part).below(*place.path))

    def name(self, place: Place, owner: Owner) -> str | None:
        """The name of a node or shape: its identity, or what ``paramName`` says."""
        subject = place.pattern.value
        written = subject.properties.get("paramName")
        if written is None:
            return subject.identity or None
        name = self.json(written, "paramName", owner)
        if not isinstance(name, str):
            self.ill_typed("paramName", "a string", name, owner)
            return subject.identity or None
        if subject.identity and subject.identity != name:
            message = f'{owner} has another paramName, "{name}"; keep one'
            self.tell("duplicate-name", message, place, "paramName")
        return name

    def optional(self, record: Mapping[str, Value], owner: Owner) -> bool | None:
        """The mark ``optional``, or None when there is none."""
        written = record.get("optional")
        if written is None:
            return None
        if not isinstance(written, bool):
            found = self.json(written, "optional", owner)
            self.ill_typed("optional", "true or false", found, owner)
            return None
        if owner.role not in ("parameter", "field"):
            message = f'"optional" of {owner.words}: only parameters and fields can be optional'
            self.tell("optional", message, owner.place, "optional")
        return written

    def type_name(self, written: Value | None, key: str, owner: Owner) -> str | None:
        """The text of a value that should name a type, or None when there is none."""
        if written is None:
            return None
        name = self.json(written, key, owner)
        if not isinstance(name, str):
            self.ill_typed(key, "a type name", name, owner)
            return None
        return name

    def keywords(
        self, record: Mapping[str, Value], owner: Owner
    ) -> tuple[Keywords, Keywords, bool | None]:
        """The JSON Schema keywords of a record, the foreign ones, and a constant schema."""
        if not record:
            return NO_KEYWORDS, NO_KEYWORDS, None
        keys = sorted(key for key in record if key not in RESERVED_KEYS)
        for key in ("default", "const"):
            if record.get(key) == _NULL_WORD:
                message = f"{key} of {owner.words} is the word null; JSON's null is json`null`"
                self.tell("null-word", message, owner.place, key)
        values = {key: self.json(record[key], key, owner) for key in keys}
        keywords = Keywords.of({key: item for key, item in values.items() if item is not NOT_JSON})
        foreign = self.json(record["keywords"], "keywords", owner) if "keywords" in record else {}
        if isinstance(foreign, bool):
            return keywords, NO_KEYWORDS, foreign
        if not isinstance(foreign, dict):
            self.ill_typed("keywords", "a JSON object", foreign, owner)
            foreign = {}
        return keywords, Keywords.of(foreign), None

    def json(self, value: Value, key: str, owner: Owner) -> Any:
        """What a value says as JSON, or `NOT_JSON` and a fault."""
        try:
            return to_json_value(value)
        except NotJson as error:
            message = str(error)
            if not message.startswith("json`"):
                message = f"{key} of {owner.words}: {message}"
            self.tell("not-json", message, owner.place, key)
            return NOT_JSON

    def ill_typed(self, key: str, expected: str, found: object, owner: Owner) -> None:
        """Tell that a key holds the wrong kind of value."""
        if found is not NOT_JSON:
            message = f'"{key}" of {owner.words} must be {expected}, got {dump_json(found)}'
            self.tell("ill-typed", message, owner.place, key)
