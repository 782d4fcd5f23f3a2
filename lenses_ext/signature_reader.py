"""Reads the parts of a signature: nodes become parameters, shapes become types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Literal, TypeAlias

from attrs import frozen
from pyrsistent import PMap, PVector

from gram import Fault, Pattern, TaggedString, Value, origin
from gram.faults import fault
from gram.pattern import WALK

from .json_values import Keywords, NotJson, dump_json, from_json_value, to_json_value
from .signature import NO_KEYWORDS, UNCONSTRAINED, Parameter, Shape, Type, TypeSignature
from .signature_source import Place, SignatureSource
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

RESERVED_KEYS = frozenset({"optional", "elementType", "of", "paramName", "fields", "keywords"})
"""Keys of a record that say something of their own here; all others are JSON Schema keywords."""

Role: TypeAlias = Literal["parameter", "field", "part", "return", "type"]

_JUST_ANY = frozenset({ANY})

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


class SignatureReader:
    """Reads one signature and collects what is wrong with it.

    Attributes:
        faults: all that was found.
        written: every type that was read, in order, with its owner.
    """

    def __init__(self, outer: Iterable[Pattern] = ()) -> None:
        """``outer`` are the shapes of the file around the tool, read when they are used."""
        self.faults: list[Fault] = []
        self.written: list[Written] = []
        self.whole = Place(Pattern())
        self._own: dict[str, Place] = {}
        self._outer = {
            pattern.value.identity: Place(pattern)
            for pattern in outer
            if pattern.value.identity and pattern.value.labels
        }
        self._used: dict[str, Place] = {}

    def read(self, source: SignatureSource) -> TypeSignature:
        """The signature of the parts of a tool or text."""
        self.faults.extend(source.faults)
        self.whole = source.chain or self.whole
        shapes, root = self._named_shapes(source.shapes)
        parameters, returns = self._chain(source.chain)
        read = [self._shape(name, place) for name, place in shapes]
        done: set[str] = set()
        while more := [name for name in self._used if name not in done]:
            done.update(more)
            read.extend(self._shape(name, self._used[name]) for name in more)
        return TypeSignature(parameters, returns, tuple(read), root)

    def tell(self, code: str, message: str, place: Place, part: str | None = None) -> None:
        """Note a fault of a place."""
        self.faults.append(fault(code, message, place.pattern, part).below(*place.path))

    def place_of(self, shape: str) -> Place:
        """Where a shape is defined."""
        return self._own.get(shape) or self._outer[shape]

    # --- the chain

    def _chain(self, chain: Place | None) -> tuple[tuple[Parameter, ...], Parameter]:
        nodes = self._nodes(chain) if chain else []
        if not nodes or not nodes[-1].pattern.value.labels:
            message = 'type signature has no return type: end it with "==>(::String)"'
            if nodes or chain is None:
                place = nodes[-1] if nodes else Place(Pattern())
                self.tell("no-return", message, place)
            nodes = [*nodes[:-1]]
            returns = UNCONSTRAINED
        else:
            place = nodes.pop()
            returns = self._member(place, Owner("return", "the return type", place))
        if len(nodes) == 1 and nodes[0].pattern == Pattern():
            nodes = []
        parameters = [
            self._member(place, _owner_of("parameter", place, f"parameter {index}"))
            for index, place in enumerate(nodes, 1)
        ]
        places = dict(zip(map(id, parameters), nodes, strict=True))
        self._unique("parameter", [(each, places[id(each)]) for each in parameters])
        return tuple(parameters), returns

    def _nodes(self, chain: Place) -> list[Place]:
        """The nodes along the path, the return type last."""
        if not chain.pattern.elements:
            return [chain]
        is_walk = WALK in chain.pattern.value.labels
        edges = chain.below() if is_walk else [chain]
        if chain.pattern.value.properties:
            self.tell("arrow", "the path of a signature has no record", chain)
        nodes: list[Place] = []
        for edge in edges:
            ends = edge.below()
            if len(ends) != 2 or (nodes and nodes[-1].pattern != ends[0].pattern):
                message = 'an arrow of the path does not point to a return type; use "==>"'
                if not any(each.code == "arrow" for each in self.faults):
                    self.tell("arrow", message, edge)
                return []
            subject = edge.pattern.value
            if subject.identity or subject.labels or (is_walk and subject.properties):
                self.tell("arrow", "an arrow of a signature has no name, type or record", edge)
            nodes = [*nodes, ends[1]] if nodes else ends
        return nodes

    def _unique(self, role: Role, members: list[tuple[Parameter, Place]]) -> None:
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

    # --- shapes

    def _named_shapes(self, places: Iterable[Place]) -> tuple[list[tuple[str, Place]], Type]:
        """The shapes by name, each once, and the keywords of the parameter object."""
        root: Type | None = None
        shapes: dict[str, Place] = {}
        for place in places:
            subject = place.pattern.value
            if PARAMETERS in subject.labels:
                if root is not None:
                    self.tell("duplicate-type", f'"{PARAMETERS}" is given twice', place)
                root = self._root(place)
            elif not subject.identity:
                message = "a type beside the signature has no name: write [Name:Object | …]"
                self.tell("no-name", message, place)
            elif subject.identity in RESERVED:
                message = f'type "{subject.identity}" has the name of a built-in type'
                self.tell("duplicate-type", message, place, "identity")
            elif subject.identity in shapes:
                message = f'type "{subject.identity}" is defined twice'
                self.tell("duplicate-type", message, place, "identity")
            else:
                shapes[subject.identity] = place
        self._own = shapes
        return list(shapes.items()), root or Type(frozenset({PARAMETERS}))

    def _root(self, place: Place) -> Type:
        owner = Owner("type", "the parameters", place)
        if place.pattern.value.labels != {PARAMETERS}:
            self._mixed(place.pattern.value.labels, owner)
        if place.pattern.elements:
            self.tell("members", f"{PARAMETERS} cannot have members", place)
        keywords, foreign, _ = self._keywords(place.pattern.value.properties, owner)
        type = Type(frozenset({PARAMETERS}), keywords=keywords, foreign=foreign)
        self.written.append(Written(owner, type))
        return type

    def _shape(self, name: str, place: Place) -> Shape:
        labels = place.pattern.value.labels
        owner = Owner("type", f'"{name}"', place)
        record = place.pattern.value.properties
        return Shape(
            name,
            self._type(labels - {NAMED}, record, place.below(), owner),
            named=NAMED in labels,
        )

    # --- nodes and members

    def _member(self, place: Place, owner: Owner) -> Parameter:
        subject = place.pattern.value
        name = self._name(place, owner)
        if name is None and owner.role in ("parameter", "field"):
            self._nameless(subject.labels, owner)
        elif name is not None and owner.role == "part":
            self.tell("members", f'{owner.words} cannot have a name, found "{name}"', place)
        type = self._type(subject.labels, subject.properties, place.below(), owner)
        return Parameter(name, type, self._optional(subject.properties, owner))

    def _name(self, place: Place, owner: Owner) -> str | None:
        subject = place.pattern.value
        written = subject.properties.get("paramName")
        if written is None:
            return subject.identity or None
        name = self._json(written, "paramName", owner)
        if not isinstance(name, str):
            self._ill_typed("paramName", "a string", name, owner)
            return subject.identity or None
        if subject.identity and subject.identity != name:
            message = f'{owner} has another paramName, "{name}"; keep one'
            self.tell("duplicate-name", message, place, "paramName")
        return name

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

    def _optional(self, record: Mapping[str, Value], owner: Owner) -> bool | None:
        written = record.get("optional")
        if written is None:
            return None
        if not isinstance(written, bool):
            found = self._json(written, "optional", owner)
            self._ill_typed("optional", "true or false", found, owner)
            return None
        if owner.role not in ("parameter", "field"):
            message = f'"optional" of {owner.words}: only parameters and fields can be optional'
            self.tell("optional", message, owner.place, "optional")
        return written

    # --- types

    def _type(
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
        keywords, foreign, constant = self._keywords(record, owner)
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
            self._mixed(labels, owner)
            return _JUST_ANY
        return labels

    def _mixed(self, labels: Iterable[str], owner: Owner) -> None:
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
        if name in self._own:
            return True
        if name in self._outer:
            self._used.setdefault(name, self._outer[name])
            return True
        if (haskell := haskell_type(name)) is not None:
            self.tell("haskell-type", haskell, owner.place, part)
        else:
            self._unknown(name, owner, part)
        return False

    def _unknown(self, name: str, owner: Owner, part: str) -> None:
        message = unknown_type(name, str(owner), (*self._own, *self._outer))
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
                below_owner = _owner_of("field", place, f"field {index} of {owner.words}")
            elif is_array:
                below_owner = Owner("part", f"the element type of {owner.words}", place)
            else:
                below_owner = Owner("part", f"alternative {index} of {owner.words}", place)
            members.append((self._member(place, below_owner), place))
        self._unique("field", members)
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
            name = self._type_name(entry.get("name"), "name", owner)
            words = f'"{name}"' if name is not None else f"field {index} of {owner.words}"
            field = Owner("field", words, owner.place)
            type = self._type_name(entry.get("type"), "type", field)
            if name is None:
                self._nameless([type] if type else (), field)
                continue
            if type is None:
                message = f'{field} has no type: write {{name: {words}, type: "Integer"}}'
                self.tell("no-type", message, owner.place, "fields")
                continue
            record = {key: item for key, item in entry.items() if key not in ("name", "type")}
            read = self._type(frozenset({type}), record, [], field)
            members.append((Parameter(name, read, self._optional(record, field)), owner.place))
        self._unique("field", members)
        return tuple(member for member, _ in members)

    def _element_type(
        self,
        labels: frozenset[str],
        record: Mapping[str, Value],
        members: tuple[Parameter, ...],
        owner: Owner,
    ) -> str | None:
        name = self._type_name(record.get("elementType"), "elementType", owner)
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
        names: Any = [] if written is None else self._json(written, "of", owner)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            self._ill_typed("of", "an array of type names", names, owner)
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

    def _type_name(self, written: Value | None, key: str, owner: Owner) -> str | None:
        if written is None:
            return None
        name = self._json(written, key, owner)
        if not isinstance(name, str):
            self._ill_typed(key, "a type name", name, owner)
            return None
        return name

    # --- records

    def _keywords(
        self, record: Mapping[str, Value], owner: Owner
    ) -> tuple[Keywords, Keywords, bool | None]:
        """The JSON Schema keywords of a record, the foreign ones, and a constant schema."""
        if not record:
            return NO_KEYWORDS, NO_KEYWORDS, None
        keys = sorted(key for key in record if key not in RESERVED_KEYS)
        values = {key: self._json(record[key], key, owner) for key in keys}
        keywords = Keywords.of({key: item for key, item in values.items() if item is not NOT_JSON})
        foreign = self._json(record["keywords"], "keywords", owner) if "keywords" in record else {}
        if isinstance(foreign, bool):
            return keywords, NO_KEYWORDS, foreign
        if not isinstance(foreign, dict):
            self._ill_typed("keywords", "a JSON object", foreign, owner)
            foreign = {}
        return keywords, Keywords.of(foreign), None

    def _json(self, value: Value, key: str, owner: Owner) -> Any:
        """What a value says as JSON, or `NOT_JSON` and a fault."""
        try:
            return to_json_value(value)
        except NotJson as error:
            message = str(error)
            if not message.startswith("json`"):
                message = f"{key} of {owner.words}: {message}"
            self.tell("not-json", message, owner.place, key)
            return NOT_JSON

    def _ill_typed(self, key: str, expected: str, found: object, owner: Owner) -> None:
        if found is not NOT_JSON:
            message = f'"{key}" of {owner.words} must be {expected}, got {dump_json(found)}'
            self.tell("ill-typed", message, owner.place, key)


def _owner_of(role: Role, place: Place, words: str) -> Owner:
    """The owner at a place: called by its name where it has one."""
    subject = place.pattern.value
    written = subject.properties.get("paramName")
    name = subject.identity or (written if isinstance(written, str) else "")
    return Owner(role, f'"{name}"' if name or written == "" else words, place)


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
