"""Reads the parts of a signature: nodes become parameters, shapes become types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gram import Pattern, Severity, Subject, Symbol, Value
from gram.words import nearest

from ..schemas import Keywords, NotJson, dump_json, from_json_value, to_json_value
from . import faults, values
from .faults import Element, Faults, Owner, Role, Written, check_keys, no_return_hint, owner_of
from .parts import Parts, is_chain, names_of, nodes_of
from .values import COMBINATORS, PARAMETERS, RESERVED, Parameter, Shape, Type, TypeSignature, basic

_NO_VALUE = frozenset(map(Symbol, ("null", "Null", "NULL", "None", "nil", "undefined")))
"""Words for null elsewhere: in gram a bare word is text."""


class Record:
    """A record whose keys are read as JSON.

    Args:
        values: the record.
        owner: the parameter, field, result or type that it belongs to.
    """

    def __init__(self, values: Mapping[str, Value], owner: Owner) -> None:
        self.values, self.owner = values, owner

    def get(self, key: str, wanted: str, fits: Callable[[Any], bool], absent: Any = None) -> Any:
        """What a key says as JSON; None after a fault: it is not JSON, or not what is wanted."""
        if key not in self.values:
            return absent
        try:
            found = to_json_value(self.values[key])
        except NotJson as error:
            message = str(error)
            if not message.startswith("json`"):
                message = f"{key} of {self.owner.words}: {message}"
            self.owner.tell("not-json", message, key)
            return None
        if fits(found):
            return found
        message = f'"{key}" of {self.owner.words} must be {wanted}, got {dump_json(found)}'
        self.owner.tell("ill-typed", message, key)
        return None

    def text(self, key: str, wanted: str = "a type name") -> str | None:
        """The text of a key, or None; another value is a fault."""
        found: str | None = self.get(key, wanted, _is(str))
        return found

    def optional(self) -> bool | None:
        """The mark ``optional``, or None when there is none."""
        written: bool | None = self.get("optional", "true or false", _is(bool))
        if written is not None and not self.owner.may_be_absent:
            words = self.owner.words
            message = f'"optional" of {words}: only parameters and fields can be optional'
            self.owner.tell("optional", message, "optional")
        return written

    def keywords(self, labels: frozenset[str]) -> tuple[Keywords, Keywords, bool | None]:
        """The JSON Schema keywords, the foreign ones under ``keywords``, and a constant schema."""
        for key in ("default", "const"):
            if (word := self.values.get(key)) in _NO_VALUE:
                message = f"{key} of {self.owner.words} is the word {word}; "
                message += "JSON's null is json`null`"
                self.owner.tell("null-word", message, key)
        keys = sorted(key for key in self.values if key not in values.RESERVED_KEYS)
        check_keys(keys, labels, self.owner)
        keywords = Keywords.of({key: self.get(key, "", lambda _: True) for key in keys})
        foreign = self.get("keywords", "a JSON object", _is(dict, bool), {})
        if isinstance(foreign, bool):
            return keywords, values.NO_KEYWORDS, foreign
        return keywords, Keywords.of(foreign or {}), None


def _is(*kinds: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kinds)


def _are(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(isinstance(it, kind) for it in value)


_JUST_ANY = frozenset({values.ANY})


class SignatureReader:
    """Reads one signature.

    Args:
        faults: collects what is wrong.
        known: further names of types, to suggest for a misspelt one.
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
        parameters, returns = self._path(parts)
        shapes = tuple(self._shape(name, element) for name, element in self.shapes.items())
        return TypeSignature(parameters, returns, shapes, root)

    # --- the path

    def _path(self, parts: Parts) -> tuple[tuple[Parameter, ...], Parameter]:
        """The parameters, and the result."""
        nodes = nodes_of(parts, self.faults)
        returns = values.UNCONSTRAINED
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
            owner = Owner("return", "the return type", element, self.faults)
            returns = self._member(element.pattern, owner)
        if len(nodes) == 1 and nodes[0].pattern == Pattern():
            nodes = []  # the empty node of ()==>(::String)
        names = names_of(each.pattern for each in nodes)
        members = [
            (each.pattern, owner_of("parameter", each, f"parameter {index}", self.faults, name))
            for index, (each, name) in enumerate(zip(nodes, names, strict=True), 1)
        ]
        return self._all_members("parameter", members), returns

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
                tell("second-signature", message, element, hint="keep one")
            elif not name:
                message = "a type beside the signature has no name: write [Name:Object | …]"
                near = (label for label in sorted(labels) if nearest(label, [PARAMETERS]))
                meant = (f"did you mean {PARAMETERS} instead of {label}?" for label in near)
                tell("no-name", message, element, hint=next(meant, None))
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
        owner = Owner("type", "the parameters", element, self.faults)
        if subject.labels != {PARAMETERS}:
            self._mixed(subject.labels, owner)
        if element.pattern.elements:
            self.faults.tell("members", f"{PARAMETERS} cannot have members", element)
        keywords, foreign, _ = Record(subject.properties, owner).keywords(frozenset())
        type = Type(frozenset({PARAMETERS}), keywords=keywords, foreign=foreign)
        self.written.append(Written(owner, type))
        return type

    def _shape(self, name: str, element: Element) -> Shape:
        subject = element.pattern.value
        record = Record(subject.properties, Owner("type", f'"{name}"', element, self.faults))
        type = self._type(subject.labels - {values.NAMED}, record, element.below())
        return Shape(name, type, named=values.NAMED in subject.labels)

    # --- members: parameters, fields, items, alternatives, the result

    def _all_members(
        self, role: Role, members: Iterable[tuple[Pattern, Owner]]
    ) -> tuple[Parameter, ...]:
        """Members with their owners, in order; a name that is given twice is a fault."""
        first: dict[str, Element] = {}
        found: list[Parameter] = []
        for pattern, owner in members:
            found.append(member := self._member(pattern, owner))
            if member.name in first:
                places = self._both_places(first[member.name], owner.element)
                owner.tell(f"duplicate-{role}", f'{role} "{member.name}" is given twice{places}')
            elif member.name is not None:
                first[member.name] = owner.element
        return tuple(found)

    def _both_places(self, first: Element, again: Element) -> str:
        """Where two definitions of a name are, as the end of a message."""
        places = self.faults.place(first.pattern), self.faults.place(again.pattern)
        return f" ({places[0]} and {places[1]})" if all(places) else ""

    def _member(self, pattern: Pattern, owner: Owner) -> Parameter:
        """What a node says: name, type and whether it may be left out."""
        record = Record(pattern.value.properties, owner)
        name, labels = self._name(pattern.value, record), pattern.value.labels
        if owner.may_be_absent and not labels and name and name in RESERVED:
            labels, name = frozenset({name}), None  # a type in the place of the name
        if name is None and owner.may_be_absent and "paramName" not in pattern.value.properties:
            self._nameless(labels, owner)
            name = owner.assumed or None
        elif name is not None and owner.role == "part":
            owner.tell("members", f'{owner.words} cannot have a name, found "{name}"')
        type = self._type(labels, record, Element(pattern, owner.element.path).below())
        return Parameter(name, type, record.optional())

    def _nameless(self, labels: Iterable[str], owner: Owner) -> None:
        label = _kind(labels)
        severity: Severity = "error"
        message = f"{owner.words} has a type ({label}) but no name: "
        message += f'write (name::{label}) or (::{label} {{paramName:"…"}})'
        if not label:
            message = f"{owner.words} has neither name nor type: write (name::Text)"
        elif owner.assumed:
            message = f"{owner.words} ({label}) has no name, models see it as {owner.assumed}: "
            message, severity = f"{message}write (name::{label})", "info"
        owner.tell("no-name", message, severity=severity)

    def _name(self, subject: Subject, record: Record) -> str | None:
        """The name of a node: its identity, or what ``paramName`` says."""
        name = record.text("paramName", "a string")
        if name is not None and subject.identity and subject.identity != name:
            message = f'{record.owner} has another paramName, "{name}"; keep one'
            record.owner.tell("duplicate-name", message, "paramName")
        return subject.identity or None if name is None else name

    # --- types

    def _type(self, labels: frozenset[str], record: Record, below: list[Element]) -> Type:
        """The type that labels, a record and members say."""
        owner = record.owner
        labels = self._labels(labels, owner)
        members = self._members(labels, record, below)
        element_type = self._element_type(labels, record, members)
        of = self._alternatives(labels, record, members)
        type = Type(labels, element_type, of, members, *record.keywords(labels))
        optional = owner.may_be_absent and record.values.get("optional") is not False
        self.written.append(Written(owner, type, optional))
        return type

    def _labels(self, labels: frozenset[str], owner: Owner) -> frozenset[str]:
        known = [label for label in sorted(labels) if self._is_type(label, owner, "labels")]
        if not labels and (owner.is_named or not owner.may_be_absent):
            name = owner.words.strip('"') if owner.is_named else "name"
            written = f"[{name}:Object | …]" if owner.role == "type" else f"({name}::Integer)"
            owner.tell("no-type", f"{owner} has no type: write {written}")
        elif len(labels) == len(known) > 1 and not all(map(basic, labels)):
            self._mixed(labels, owner)
        elif labels and len(labels) == len(known):
            return labels
        return _JUST_ANY

    def _mixed(self, labels: Iterable[str], owner: Owner) -> None:
        """Note that labels are together that form no union."""
        *first, last = (f'"{label}"' for label in sorted(labels))
        together = f"labels {', '.join(first)} and {last} of {owner.words}"
        message = f"{together} cannot be combined: only basic types form a union"
        owner.tell("mixed-labels", message, "labels")

    def _is_type(self, name: str, owner: Owner, part: str) -> bool:
        """Whether a name is a type; else a fault is noted."""
        if name in self.shapes or (name in RESERVED and name not in (values.NAMED, PARAMETERS)):
            return True
        if (haskell := faults.haskell_type(name)) is not None:
            owner.tell("haskell-type", haskell, part)
            return False
        if self._open and name not in RESERVED:
            self.undefined.add(name)
            return True
        message = faults.unknown_type(name, str(owner), (*self.shapes, *self._known_names))
        given = owner.element.pattern.value.identity
        hint = f"the name comes first: ({name}::{given})" if given in RESERVED else None
        owner.tell("unknown-type", message, part, hint=hint)
        return False

    def _members(
        self, labels: frozenset[str], record: Record, below: list[Element]
    ) -> tuple[Parameter, ...]:
        """The members that are written as elements, or under ``fields``."""
        owner, kinds = record.owner, {basic(label) for label in labels}
        if "fields" in record.values:
            return self._all_members("field", self._fields(labels, record, below))
        if below and labels is _JUST_ANY and owner.element.pattern.value.labels != _JUST_ANY:
            return ()  # its label is at fault already
        if below and not (kinds & {"Object", "Array"} or labels & COMBINATORS.keys()):
            owner.tell("members", f"{_kind(labels)} {owner.words} cannot have members")
            return ()
        members = []
        for index, element in enumerate(below, 1):
            subject = element.pattern.value
            named = bool(subject.identity) or "paramName" in subject.properties
            if is_chain(element.pattern):
                message = f"the members of {owner.words} are listed with commas, not arrows"
                self.faults.tell("members", message, element)
                continue
            if "Object" in kinds and (named or "Array" not in kinds):
                member = owner_of("field", element, f"field {index} of {owner.words}", self.faults)
            else:
                what = "the element type" if "Array" in kinds else f"alternative {index}"
                member = Owner("part", f"{what} of {owner.words}", element, self.faults)
            members.append((element.pattern, member))
        return self._all_members("field", members)

    def _fields(
        self, labels: frozenset[str], record: Record, below: list[Element]
    ) -> list[tuple[Pattern, Owner]]:
        """The members of an object that ``fields`` gives as an array of maps, as nodes."""
        owner, kind = record.owner, _kind(labels)
        if below:
            code, message = "both-forms", f"{kind} {owner.words} has both fields and members"
            message += "; keep one"
        elif "Object" not in map(basic, labels):
            code, message = "members", f'"fields" of {owner.words} belong to Object, not {kind}'
        else:
            entries = record.get("fields", "an array of maps", _are(dict)) or ()
            return [self._field(entry, index, owner) for index, entry in enumerate(entries, 1)]
        owner.tell(code, message, "fields")
        return []

    def _field(self, entry: Mapping[str, Any], index: int, whole: Owner) -> tuple[Pattern, Owner]:
        """The node that a map of ``fields`` says, and its owner, which is where the map is."""
        owner = Owner("field", f"field {index} of {whole.words}", whole.element, self.faults)
        said = {key: from_json_value(value) for key, value in entry.items()}
        record = Record(said, owner)
        name, type = record.text("name", "a string"), record.text("type")
        rest = {key: value for key, value in said.items() if key not in ("name", "type")}
        if name is not None:
            owner = owner._replace(words=f'"{name}"')
            rest["paramName"] = name
        return Pattern(Subject("", () if type is None else {type}, rest)), owner

    def _element_type(
        self, labels: frozenset[str], record: Record, members: tuple[Parameter, ...]
    ) -> str | None:
        owner, name = record.owner, record.text("elementType")
        found = sum(member.name is None for member in members) + (name is not None)
        is_array = "Array" in map(basic, labels)
        if is_array and found > 1:
            message = f"Array {owner.words} needs exactly one element type, found {found}"
            owner.tell("members", message)
        if name is not None and not is_array:
            message = f'"elementType" of {owner.words} belongs to Array, not {_kind(labels)}'
            owner.tell("members", message, "elementType")
        is_type = name is not None and is_array and self._is_type(name, owner, "elementType")
        return name if is_type else None

    def _alternatives(
        self, labels: frozenset[str], record: Record, members: tuple[Parameter, ...]
    ) -> tuple[str, ...]:
        owner = record.owner
        names = record.get("of", "an array of type names", _are(str), absent=[])
        combinator = next(iter(labels & COMBINATORS.keys()), None)
        if combinator is None and names:
            message = f'"of" of {owner.words} belongs to {", ".join(COMBINATORS)}, not '
            owner.tell("members", message + _kind(labels), "of")
        if combinator is None or names is None:
            return ()
        if bool(names) == bool(members):
            message = f'{combinator} {owner.words} needs "of" or members'
            message += ", not both" if names else ""
            owner.tell("members", message)
        return tuple(name for name in names if self._is_type(name, owner, "of"))


def _is_return(pattern: Pattern) -> bool:
    """Whether a node is a return type: it has a type and no name."""
    subject = pattern.value
    return bool(subject.labels) and not subject.identity and "paramName" not in subject.properties


def _kind(labels: Iterable[str]) -> str:
    return "::".join(sorted(labels))
