"""Reads the parts of a signature: nodes become parameters, shapes become types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from pyrsistent import PMap, PVector

from gram import WALK, Pattern, Symbol, TaggedString, Value

from ..schemas import Keywords, NotJson, dump_json, from_json_value, to_json_value
from .faults import Faults, Owner, Role, Written, owner_of
from .parts import Element, Parts, is_chain
from .slips import (
    check_keys,
    haskell_type,
    nameless_shape_hint,
    no_return_hint,
    unknown_type,
)
from .values import NO_KEYWORDS, UNCONSTRAINED, Parameter, Shape, Type, TypeSignature
from .vocabulary import ANY, COMBINATORS, NAMED, PARAMETERS, RESERVED, RESERVED_KEYS, basic

_JUST_ANY = frozenset({ANY})

_NO_VALUE = frozenset(map(Symbol, ("null", "Null", "NULL", "None", "nil", "undefined")))
"""Words for null elsewhere: in gram a bare word is text."""

_NOT_JSON = object()
"""A value without JSON, once its fault is noted."""


class SignatureReader:
    """Reads one signature.

    Args:
        faults: collects what is wrong.
        known: names of types that a misspelt name may stand for.
        open: whether a name that is not defined may be a type that is defined elsewhere.

    Attributes:
        chain: the path.
        shapes: the types beside the signature, by name.
        written: every type that was read, in order, with its owner.
        undefined: the names that are not defined, when it is open.
    """

    def __init__(self, faults: Faults, known: Iterable[str] = (), *, open: bool = False) -> None:
        self.faults = faults
        self.chain = Element(Pattern())
        self.shapes: dict[str, Element] = {}
        self.written: list[Written] = []
        self.undefined: set[str] = set()
        self._known_names = tuple(known)
        self._open = open

    def read(self, parts: Parts) -> TypeSignature:
        """The signature of the parts of a tool or text."""
        self.chain = parts.chain or self.chain
        root = self._named_shapes(parts.shapes)
        parameters, returns = self._chain(parts)
        shapes = tuple(self._shape(name, element) for name, element in self.shapes.items())
        return TypeSignature(parameters, returns, shapes, root)

    # --- the chain

    def _chain(self, parts: Parts) -> tuple[tuple[Parameter, ...], Parameter]:
        nodes = self._nodes(parts)
        returns = UNCONSTRAINED
        if nodes is None:
            nodes = []
        elif not nodes or not _is_return(nodes[-1].pattern):
            message = 'type signature has no return type: end it with "==>(::String)"'
            hint = no_return_hint([each.pattern for each in nodes])
            last = nodes[-1] if nodes else Element(Pattern())
            self.faults.tell("no-return", message, last, hint=hint)
            if nodes and not nodes[-1].pattern.value.labels:
                nodes.pop()
        else:
            element = nodes.pop()
            returns = self._member(element, Owner("return", "the return type", element))
        if len(nodes) == 1 and nodes[0].pattern == Pattern():
            nodes = []  # the empty node of ()==>(::String)
        parameters = tuple(
            self._member(element, owner_of("parameter", element, f"parameter {index}"))
            for index, element in enumerate(nodes, 1)
        )
        self._unique("parameter", zip(parameters, nodes, strict=True))
        return parameters, returns

    def _nodes(self, parts: Parts) -> list[Element] | None:
        """The nodes along the path, the return type last; None when it is not a path."""
        chain = parts.chain
        if parts.nodes is not None:
            return list(parts.nodes)
        if chain is None:
            return []
        if any(each.code == "arrow" for each in self.faults.found):
            return (
                None  # the text has an arrow that points elsewhere, so nothing is known to be last
            )
        if not chain.pattern.elements:
            return [chain]
        is_walk = WALK in chain.pattern.value.labels
        edges = chain.below() if is_walk else [chain]
        if chain.pattern.value.properties:
            self.faults.tell("arrow", "the path of a signature has no record", chain)
        nodes: list[Element] = []
        for edge in edges:
            ends = edge.below()
            if len(ends) != 2 or (nodes and nodes[-1].pattern != ends[0].pattern):
                message = 'an arrow of the path does not point to a return type; use "==>"'
                self.faults.tell("arrow", message, edge)
                return None
            subject = edge.pattern.value
            if subject.identity or subject.labels or (is_walk and subject.properties):
                message = "an arrow of a signature has no name, type or record"
                self.faults.tell("arrow", message, edge)
            nodes.extend(ends[1:] if nodes else ends)
        return nodes

    # --- shapes

    def _named_shapes(self, elements: Iterable[Element]) -> Type:
        """Note the shapes by name; gives the keywords of the parameter object."""
        root: Type | None = None
        tell = self.faults.tell
        for element in elements:
            name, labels = element.pattern.value.identity, element.pattern.value.labels
            if PARAMETERS in labels:
                if root is not None:
                    tell("duplicate-type", f'"{PARAMETERS}" is given twice', element)
                root = self._root(element)
            elif is_chain(element.pattern):
                message = "a tool has one type signature, and this is another"
                tell("second-signature", message, element)
            elif not name:
                message = "a type beside the signature has no name: write [Name:Object | …]"
                tell("no-name", message, element, hint=nameless_shape_hint(labels))
            elif name in RESERVED:
                message = f'type "{name}" has the name of a built-in type'
                tell("duplicate-type", message, element, "identity")
            elif name in self.shapes:
                places = self._both_places(self.shapes[name], element)
                message = f'type "{name}" is defined twice{places}'
                tell("duplicate-type", message, element, "identity")
            else:
                self.shapes[name] = element
        return root or Type(frozenset({PARAMETERS}))

    def _root(self, element: Element) -> Type:
        subject = element.pattern.value
        owner = Owner("type", "the parameters", element)
        if subject.labels != {PARAMETERS}:
            self._mixed(subject.labels, owner)
        if element.pattern.elements:
            self.faults.tell("members", f"{PARAMETERS} cannot have members", element)
        keywords, foreign, _ = self._keywords(subject.properties, owner, frozenset())
        type = Type(frozenset({PARAMETERS}), keywords=keywords, foreign=foreign)
        self.written.append(Written(owner, type))
        return type

    def _shape(self, name: str, element: Element) -> Shape:
        subject = element.pattern.value
        owner = Owner("type", f'"{name}"', element)
        labels = subject.labels - {NAMED}
        type = self._type(labels, subject.properties, element.below(), owner)
        return Shape(name, type, named=NAMED in subject.labels)

    # --- members: parameters, fields, items, alternatives, the result

    def _member(self, element: Element, owner: Owner) -> Parameter:
        """What a node says: name, type and whether it may be left out."""
        subject = element.pattern.value
        name = self._name(element, owner)
        labels = subject.labels
        if owner.may_be_absent and not labels and name and name in RESERVED:
            labels, name = frozenset({name}), None  # a type in the place of the name
        if name is None and owner.may_be_absent:
            self._nameless(labels, owner)
        elif name is not None and owner.role == "part":
            self.faults.tell(
                "members", f'{owner.words} cannot have a name, found "{name}"', element
            )
        type = self._type(labels, subject.properties, element.below(), owner)
        return Parameter(name, type, self._optional(subject.properties, owner))

    def _nameless(self, labels: Iterable[str], owner: Owner) -> None:
        label = "::".join(sorted(labels))
        if not label:
            message = f"{owner.words} has neither name nor type: write (name::Text)"
        else:
            message = (
                f"{owner.words} has a type ({label}) but no name: "
                f'write (name::{label}) or (::{label} {{paramName:"…"}})'
            )
        self.faults.tell("no-name", message, owner.element)

    def _name(self, element: Element, owner: Owner) -> str | None:
        """The name of a node or shape: its identity, or what ``paramName`` says."""
        subject = element.pattern.value
        written = subject.properties.get("paramName")
        if written is None:
            return subject.identity or None
        name = self._json(written, "paramName", owner)
        if not isinstance(name, str):
            self._ill_typed("paramName", "a string", name, owner)
            return subject.identity or None
        if subject.identity and subject.identity != name:
            message = f'{owner} has another paramName, "{name}"; keep one'
            self.faults.tell("duplicate-name", message, element, "paramName")
        return name

    def _unique(self, role: Role, members: Iterable[tuple[Parameter, Element]]) -> None:
        """Note which names are given twice."""
        first: dict[str, Element] = {}
        for member, element in members:
            if member.name is None:
                continue
            if member.name in first:
                places = self._both_places(first[member.name], element)
                message = f'{role} "{member.name}" is given twice{places}'
                self.faults.tell(f"duplicate-{role}", message, element)
            first.setdefault(member.name, element)

    def _both_places(self, first: Element, again: Element) -> str:
        """Where two definitions of a name are, as the end of a message."""
        places = self.faults.place(first.pattern), self.faults.place(again.pattern)
        return f" ({places[0]} and {places[1]})" if all(places) else ""

    def _optional(self, record: Mapping[str, Value], owner: Owner) -> bool | None:
        """The mark ``optional``, or None when there is none."""
        written = record.get("optional")
        if written is None:
            return None
        if not isinstance(written, bool):
            found = self._json(written, "optional", owner)
            self._ill_typed("optional", "true or false", found, owner)
            return None
        if not owner.may_be_absent:
            message = f'"optional" of {owner.words}: only parameters and fields can be optional'
            self.faults.tell("optional", message, owner.element, "optional")
        return written

    # --- types

    def _type(
        self,
        labels: frozenset[str],
        record: Mapping[str, Value],
        below: list[Element],
        owner: Owner,
    ) -> Type:
        """The type that labels, a record and members say."""
        labels = self._labels(labels, owner)
        members = self._members(labels, record, below, owner)
        element_type = self._element_type(labels, record, members, owner)
        of = self._alternatives(labels, record, members, owner)
        keywords, foreign, constant = self._keywords(record, owner, labels)
        type = Type(labels, element_type, of, members, keywords, foreign, constant)
        optional = owner.may_be_absent and record.get("optional") is not False
        self.written.append(Written(owner, type, optional))
        return type

    def _labels(self, labels: frozenset[str], owner: Owner) -> frozenset[str]:
        if not labels:
            name = owner.words.strip('"') if owner.is_named else "name"
            written = f"[{name}:Object | …]" if owner.role == "type" else f"({name}::Integer)"
            if owner.is_named or not owner.may_be_absent:
                message = f"{owner} has no type: write {written}"
                self.faults.tell("no-type", message, owner.element)
            return _JUST_ANY
        known = [label for label in sorted(labels) if self._is_type(label, owner, "labels")]
        if len(known) < len(labels):
            return _JUST_ANY
        if len(labels) > 1 and not all(map(basic, labels)):
            self._mixed(labels, owner)
            return _JUST_ANY
        return labels

    def _mixed(self, labels: Iterable[str], owner: Owner) -> None:
        """Note that labels are together that form no union."""
        *first, last = (f'"{label}"' for label in sorted(labels))
        message = (
            f"labels {', '.join(first)} and {last} of {owner.words} cannot be combined: "
            "only basic types form a union"
        )
        self.faults.tell("mixed-labels", message, owner.element, "labels")

    def _is_type(self, name: str, owner: Owner, part: str) -> bool:
        """Whether a name is a type; else a fault is noted."""
        if name in self.shapes or (name in RESERVED and name not in (NAMED, PARAMETERS)):
            return True
        haskell = haskell_type(name)
        if self._open and haskell is None and name not in RESERVED:
            self.undefined.add(name)
            return True
        if haskell is not None:
            self.faults.tell("haskell-type", haskell, owner.element, part)
        else:
            message = unknown_type(name, str(owner), (*self.shapes, *self._known_names))
            hint = None
            if owner.element.pattern.value.identity in RESERVED:
                hint = f"the name comes first: ({name}::{owner.element.pattern.value.identity})"
            self.faults.tell("unknown-type", message, owner.element, part, hint=hint)
        return False

    def _members(
        self,
        labels: frozenset[str],
        record: Mapping[str, Value],
        below: list[Element],
        owner: Owner,
    ) -> tuple[Parameter, ...]:
        names = {basic(label) for label in labels}
        is_object, is_array = "Object" in names, "Array" in names
        if "fields" in record:
            return self._fields(record["fields"], labels, below, owner)
        if not below:
            return ()
        if not (is_object or is_array or labels & COMBINATORS.keys()):
            message = f"{_kind(labels)} {owner.words} cannot have members"
            self.faults.tell("members", message, owner.element)
            return ()
        members = []
        for index, element in enumerate(below, 1):
            subject = element.pattern.value
            named = bool(subject.identity) or "paramName" in subject.properties
            if is_chain(element.pattern):
                message = f"the members of {owner.words} are listed with commas, not arrows"
                self.faults.tell("members", message, element)
                continue
            if is_object and (named or not is_array):
                member = owner_of("field", element, f"field {index} of {owner.words}")
            elif is_array:
                member = Owner("part", f"the element type of {owner.words}", element)
            else:
                member = Owner("part", f"alternative {index} of {owner.words}", element)
            members.append((self._member(element, member), element))
        self._unique("field", members)
        return tuple(member for member, _ in members)

    def _fields(
        self, fields: Value, labels: frozenset[str], below: list[Element], owner: Owner
    ) -> tuple[Parameter, ...]:
        """The members of an object given as an array of maps."""
        entries = _entries(fields)
        if below:
            message = f"{_kind(labels)} {owner.words} has both fields and members; keep one"
            self.faults.tell("both-forms", message, owner.element, "fields")
            return ()
        if "Object" not in map(basic, labels):
            message = f'"fields" of {owner.words} belong to Object, not {_kind(labels)}'
            self.faults.tell("members", message, owner.element, "fields")
            return ()
        if entries is None:
            message = f'"fields" of {owner.words} must be an array of maps'
            self.faults.tell("ill-typed", message, owner.element, "fields")
            return ()
        members = []
        for index, entry in enumerate(entries, 1):
            name = self._type_name(entry.get("name"), "name", owner)
            words = f'"{name}"' if name is not None else f"field {index} of {owner.words}"
            field = Owner("field", words, owner.element)
            type = self._type_name(entry.get("type"), "type", field)
            if name is None:
                self._nameless([type] if type else (), field)
                continue
            if type is None:
                message = f'{field} has no type: write {{name: {words}, type: "Integer"}}'
                self.faults.tell("no-type", message, owner.element, "fields")
                continue
            record = {key: item for key, item in entry.items() if key not in ("name", "type")}
            read = self._type(frozenset({type}), record, [], field)
            members.append((Parameter(name, read, self._optional(record, field)), owner.element))
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
        found = sum(member.name is None for member in members) + (name is not None)
        is_array = "Array" in map(basic, labels)
        if is_array and found > 1:
            message = f"Array {owner.words} needs exactly one element type, found {found}"
            self.faults.tell("members", message, owner.element)
        if name is None:
            return None
        if not is_array:
            message = f'"elementType" of {owner.words} belongs to Array, not {_kind(labels)}'
            self.faults.tell("members", message, owner.element, "elementType")
            return None
        return name if self._is_type(name, owner, "elementType") else None

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
                kinds = ", ".join(COMBINATORS)
                message = f'"of" of {owner.words} belongs to {kinds}, not {_kind(labels)}'
                self.faults.tell("members", message, owner.element, "of")
            return ()
        if bool(names) == bool(members):
            message = f'{combinator} {owner.words} needs "of" or members'
            message += ", not both" if names else ""
            self.faults.tell("members", message, owner.element)
        return tuple(name for name in names if self._is_type(name, owner, "of"))

    # --- records

    def _keywords(
        self, record: Mapping[str, Value], owner: Owner, labels: frozenset[str]
    ) -> tuple[Keywords, Keywords, bool | None]:
        """The JSON Schema keywords of a record, the foreign ones, and a constant schema."""
        if not record:
            return NO_KEYWORDS, NO_KEYWORDS, None
        keys = sorted(key for key in record if key not in RESERVED_KEYS)
        for key in ("default", "const"):
            if (word := record.get(key)) in _NO_VALUE:
                message = f"{key} of {owner.words} is the word {word}; JSON's null is json`null`"
                self.faults.tell("null-word", message, owner.element, key)
        check_keys(keys, labels, owner, self.faults)
        values = {key: self._json(record[key], key, owner) for key in keys}
        keywords = Keywords.of({key: item for key, item in values.items() if item is not _NOT_JSON})
        foreign = self._json(record["keywords"], "keywords", owner) if "keywords" in record else {}
        if isinstance(foreign, bool):
            return keywords, NO_KEYWORDS, foreign
        if not isinstance(foreign, dict):
            self._ill_typed("keywords", "a JSON object", foreign, owner)
            foreign = {}
        return keywords, Keywords.of(foreign), None

    def _type_name(self, written: Value | None, key: str, owner: Owner) -> str | None:
        """The text of a value that names a type, or None when it is absent."""
        if written is None:
            return None
        name = self._json(written, key, owner)
        if not isinstance(name, str):
            self._ill_typed(key, "a type name", name, owner)
            return None
        return name

    def _json(self, value: Value, key: str, owner: Owner) -> Any:
        """What a value says as JSON; else `_NOT_JSON`, and a fault is noted."""
        try:
            return to_json_value(value)
        except NotJson as error:
            message = str(error)
            if not message.startswith("json`"):
                message = f"{key} of {owner.words}: {message}"
            self.faults.tell("not-json", message, owner.element, key)
            return _NOT_JSON

    def _ill_typed(self, key: str, expected: str, found: object, owner: Owner) -> None:
        """Note that a key holds the wrong kind of value."""
        if found is not _NOT_JSON:
            message = f'"{key}" of {owner.words} must be {expected}, got {dump_json(found)}'
            self.faults.tell("ill-typed", message, owner.element, key)


def _is_return(pattern: Pattern) -> bool:
    """Whether a node is a return type: it has a type and no name."""
    subject = pattern.value
    return bool(subject.labels) and not subject.identity and "paramName" not in subject.properties


def _kind(labels: Iterable[str]) -> str:
    return "::".join(sorted(labels))


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
