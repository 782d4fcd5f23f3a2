"""Reads types: the labels of a node or shape, its members, and the forms that stand for members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from pyrsistent import PMap, PVector

from gram import Pattern, TaggedString, Value, origin

from ..json_values import NotJson, from_json_value, to_json_value
from ..labels import is_tool
from .record_reader import Owner, RecordReader, Role, Written, owner_of
from .source import Place
from .type_names import (
    ANY,
    COMBINATORS,
    NAMED,
    PARAMETERS,
    RESERVED,
    basic,
    haskell_type,
    unknown_type,
)
from .values import Parameter, Type

_JUST_ANY = frozenset({ANY})


class TypeReader(RecordReader):
    """Reads types that may name the shapes of their tool and of the file around it."""

    def __init__(self, outer: Iterable[Pattern] = ()) -> None:
        super().__init__()
        self.own: dict[str, Place] = {}
        self.outer = {
            pattern.value.identity: Place(pattern)
            for pattern in outer
            if pattern.value.identity and pattern.value.labels and not is_tool(pattern)
        }
        self.used: dict[str, Place] = {}

    def place_of(self, shape: str) -> Place:
        """Where a shape is defined."""
        return self.own.get(shape) or self.outer[shape]

    def member(self, place: Place, owner: Owner) -> Parameter:
        """What a node says: name, type and whether it may be left out."""
        subject = place.pattern.value
        name = self.name(place, owner)
        if name is None and owner.role in ("parameter", "field"):
            self._nameless(subject.labels, owner)
        elif name is not None and owner.role == "part":
            self.tell("members", f'{owner.words} cannot have a name, found "{name}"', place)
        type = self.type(subject.labels, subject.properties, place.below(), owner)
        return Parameter(name, type, self.optional(subject.properties, owner))

    def _nameless(self, labels: Iterable[str], owner: Owner) -> None:
        label = "::".join(sorted(labels))
        if not label:
            message = f"{owner.words} has neither name nor type: write (name::Text)"
        else:
            message = (
                f"{owner.words} has a type ({label}) but no name: "
                f'write (name::{label}) or (::{label} {{paramName:"…"}})'
            )
        self.tell("no-name", message, owner.place)

    def unique(self, role: Role, members: Iterable[tuple[Parameter, Place]]) -> None:
        """Tell which names are given twice."""
        first: dict[str, Place] = {}
        for member, place in members:
            if member.name is None:
                continue
            if member.name in first:
                message = f'{role} "{member.name}" is given twice'
                before, here = origin(first[member.name].pattern), origin(place.pattern)
                if before and here:
                    message += f" ({before.lineno}:{before.colno} and {here.lineno}:{here.colno})"
                self.tell(f"duplicate-{role}", message, place)
            first.setdefault(member.name, place)

    # --- what labels say

    def type(
        self,
        labels: frozenset[str],
        record: Mapping[str, Value],
        below: list[Place],
        owner: Owner,
    ) -> Type:
        """The type that labels, a record and members say."""
        labels = self._labels(labels, owner)
        members = self._members(labels, record, below, owner)
        element_type = self._element_type(labels, record, members, owner)
        of = self._alternatives(labels, record, members, owner)
        keywords, foreign, constant = self.keywords(record, owner)
        type = Type(labels, element_type, of, members, keywords, foreign, constant)
        optional = owner.role in ("parameter", "field") and record.get("optional") is not False
        self.written.append(Written(owner, type, optional))
        return type

    def _labels(self, labels: frozenset[str], owner: Owner) -> frozenset[str]:
        if not labels:
            name = owner.words.strip('"') if owner.words.startswith('"') else "name"
            written = f"[{name}:Object | …]" if owner.role == "type" else f"({name}::Integer)"
            if owner.words.startswith('"') or owner.role not in ("parameter", "field"):
                self.tell("no-type", f"{owner} has no type: write {written}", owner.place)
            return _JUST_ANY
        known = [label for label in sorted(labels) if self._known(label, owner, "labels")]
        if len(known) < len(labels):
            return _JUST_ANY
        if len(labels) > 1 and not all(map(basic, labels)):
            self.mixed(labels, owner)
            return _JUST_ANY
        return labels

    def mixed(self, labels: Iterable[str], owner: Owner) -> None:
        """Tell that labels stand together that form no union."""
        *first, last = (f'"{label}"' for label in sorted(labels))
        message = (
            f"labels {', '.join(first)} and {last} of {owner.words} cannot be combined: "
            "only basic types form a union"
        )
        self.tell("mixed-labels", message, owner.place, "labels")

    def _known(self, name: str, owner: Owner, part: str) -> bool:
        """Whether a name is a type; a fault when it is none."""
        if name in RESERVED:
            if name in (NAMED, PARAMETERS):
                self._unknown(name, owner, part)
            return name not in (NAMED, PARAMETERS)
        if name in self.own:
            return True
        if name in self.outer:
            self.used.setdefault(name, self.outer[name])
            return True
        if (haskell := haskell_type(name)) is not None:
            self.tell("haskell-type", haskell, owner.place, part)
        else:
            self._unknown(name, owner, part)
        return False

    def _unknown(self, name: str, owner: Owner, part: str) -> None:
        message = unknown_type(name, str(owner), (*self.own, *self.outer))
        self.tell("unknown-type", message, owner.place, part)

    # --- members, fields, items, alternatives

    def _members(
        self,
        labels: frozenset[str],
        record: Mapping[str, Value],
        below: list[Place],
        owner: Owner,
    ) -> tuple[Parameter, ...]:
        names = {basic(label) for label in labels}
        is_object, is_array = "Object" in names, "Array" in names
        kind = "::".join(sorted(labels))
        fields = record.get("fields")
        if fields is not None:
            if below:
                message = f"{kind} {owner.words} has both fields and members; keep one"
                self.tell("both-forms", message, owner.place, "fields")
            elif is_object:
                return self._fields(fields, owner)
            else:
                message = f'"fields" of {owner.words} belong to Object, not {kind}'
                self.tell("members", message, owner.place, "fields")
            return ()
        if not below:
            return ()
        if not (is_object or is_array or labels & COMBINATORS.keys()):
            self.tell("members", f"{kind} {owner.words} cannot have members", owner.place)
            return ()
        members = []
        for index, place in enumerate(below, 1):
            subject = place.pattern.value
            named = bool(subject.identity) or "paramName" in subject.properties
            if is_object and (named or not is_array):
                below_owner = owner_of("field", place, f"field {index} of {owner.words}")
            elif is_array:
                below_owner = Owner("part", f"the element type of {owner.words}", place)
            else:
                below_owner = Owner("part", f"alternative {index} of {owner.words}", place)
            members.append((self.member(place, below_owner), place))
        self.unique("field", members)
        return tuple(member for member, _ in members)

    def _fields(self, fields: Value, owner: Owner) -> tuple[Parameter, ...]:
        """The members of an object given as an array of maps."""
        entries = _entries(fields)
        if entries is None:
            message = f'"fields" of {owner.words} must be an array of maps'
            self.tell("ill-typed", message, owner.place, "fields")
            return ()
        members = []
        for index, entry in enumerate(entries, 1):
            name = self.type_name(entry.get("name"), "name", owner)
            words = f'"{name}"' if name is not None else f"field {index} of {owner.words}"
            field = Owner("field", words, owner.place)
            type = self.type_name(entry.get("type"), "type", field)
            if name is None:
                self._nameless([type] if type else (), field)
                continue
            if type is None:
                message = f'{field} has no type: write {{name: {words}, type: "Integer"}}'
                self.tell("no-type", message, owner.place, "fields")
                continue
            record = {key: item for key, item in entry.items() if key not in ("name", "type")}
            read = self.type(frozenset({type}), record, [], field)
            members.append((Parameter(name, read, self.optional(record, field)), owner.place))
        self.unique("field", members)
        return tuple(member for member, _ in members)

    def _element_type(
        self,
        labels: frozenset[str],
        record: Mapping[str, Value],
        members: tuple[Parameter, ...],
        owner: Owner,
    ) -> str | None:
        name = self.type_name(record.get("elementType"), "elementType", owner)
        unnamed = sum(member.name is None for member in members)
        is_array = "Array" in map(basic, labels)
        if is_array and unnamed + (name is not None) > 1:
            found = unnamed + (name is not None)
            message = f"Array {owner.words} needs exactly one element type, found {found}"
            self.tell("members", message, owner.place)
        if name is None:
            return None
        if not is_array:
            kind = "::".join(sorted(labels))
            message = f'"elementType" of {owner.words} belongs to Array, not {kind}'
            self.tell("members", message, owner.place, "elementType")
            return None
        return name if self._known(name, owner, "elementType") else None

    def _alternatives(
        self,
        labels: frozenset[str],
        record: Mapping[str, Value],
        members: tuple[Parameter, ...],
        owner: Owner,
    ) -> tuple[str, ...]:
        combinator = next(iter(labels & COMBINATORS.keys()), None)
        written = record.get("of")
        names: Any = [] if written is None else self.json(written, "of", owner)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            self.ill_typed("of", "an array of type names", names, owner)
            return ()
        if combinator is None:
            if names:
                kind = "::".join(sorted(labels))
                message = f'"of" of {owner.words} belongs to {", ".join(COMBINATORS)}, not {kind}'
                self.tell("members", message, owner.place, "of")
            return ()
        if bool(names) == bool(members):
            message = f'{combinator} {owner.words} needs "of" or members'
            self.tell("members", message if not names else message + ", not both", owner.place)
        return tuple(name for name in names if self._known(name, owner, "of"))


def _entries(fields: Value) -> list[Mapping[str, Value]] | None:
    """The maps of a ``fields`` array, or None when it is no such array."""
    entries: list[Any] | None = None
    if isinstance(fields, PVector):
        entries = list(fields)
    elif isinstance(fields, TaggedString):
        with suppress(NotJson):
            entries = to_json_value(fields)
    if not isinstance(entries, list) or not all(isinstance(each, Mapping) for each in entries):
        return None
    return [
        each if isinstance(each, PMap) else {k: from_json_value(v) for k, v in each.items()}
        for each in entries
    ]
