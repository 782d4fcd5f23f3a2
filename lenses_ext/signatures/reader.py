"""Reads the parts of a signature: nodes become parameters, shapes become types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gram import Pattern, Severity, Subject, origin
from gram.trees import carry_origin
from gram.words import nearest

from ..schemas import from_json_value
from . import faults, values
from .faults import Element, Faults, Owner, Role, no_return_hint
from .parts import Parts, is_chain, names_of, nodes_of
from .values import COMBINATORS, NAMED, PARAMETERS, RESERVED, Parameter, Type, basic

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
        self.written: list[tuple[Owner, Type]] = []
        self.undefined: set[str] = set()
        self._known_names = tuple(known)
        self._open = open

    def read(self, parts: Parts) -> values.TypeSignature:
        """The signature of the parts of a tool or text."""
        self.chain = parts.chain or self.chain
        root = self._named_shapes(parts.shapes)
        parameters, returns = self._path(parts)
        shapes = tuple(self._shape(name, element) for name, element in self.shapes.items())
        return values.TypeSignature(parameters, returns, shapes, root)

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
            returns = self._member(owner)
        if len(nodes) == 1 and nodes[0].pattern == Pattern():
            nodes = []  # the empty node of ()==>(::String)
        names = names_of(each.pattern for each in nodes)
        members = [
            Owner.named("parameter", f"parameter {index}", each, self.faults, name)
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
                places = _both_places(self.shapes[name], element)
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
        keywords, foreign, _ = owner.keywords(frozenset())
        type = Type(frozenset({PARAMETERS}), keywords=keywords, foreign=foreign)
        self.written.append((owner, type))
        return type

    def _shape(self, name: str, element: Element) -> values.Shape:
        labels = element.pattern.value.labels
        owner = Owner("type", f'"{name}"', element, self.faults)
        return values.Shape(name, self._type(labels - {NAMED}, owner), named=NAMED in labels)

    # --- members: parameters, fields, items, alternatives, the result

    def _all_members(self, role: Role, members: Iterable[Owner]) -> tuple[Parameter, ...]:
        """The members, in order; a name that is given twice is a fault."""
        first: dict[str, Element] = {}
        found: list[Parameter] = []
        for owner in members:
            found.append(member := self._member(owner))
            if member.name in first:
                places = _both_places(first[member.name], owner.element)
                owner.tell(f"duplicate-{role}", f'{role} "{member.name}" is given twice{places}')
            elif member.name is not None:
                first[member.name] = owner.element
        return tuple(found)

    def _member(self, owner: Owner) -> Parameter:
        """What a node says: name, type and whether it may be left out."""
        name, labels = self._name(owner), owner.element.pattern.value.labels
        if owner.may_be_absent and not labels and name and name in RESERVED:
            labels, name = frozenset({name}), None  # a type in the place of the name
        if name is None and owner.may_be_absent and "paramName" not in owner.record:
            self._nameless(labels, owner)
            name = owner.assumed or None
        elif name is not None and owner.role == "part":
            owner.tell("members", f'{owner.words} cannot have a name, found "{name}"')
        return Parameter(name, self._type(labels, owner), owner.optional())

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

    def _name(self, owner: Owner) -> str | None:
        """The name of a node: its identity, or what ``paramName`` says."""
        identity, name = owner.element.pattern.value.identity, owner.text("paramName", "a string")
        if name is not None and identity and identity != name:
            message = f'{owner} has another paramName, "{name}"; keep one'
            owner.tell("duplicate-name", message, "paramName")
        return identity or None if name is None else name

    # --- types

    def _type(self, labels: frozenset[str], owner: Owner) -> Type:
        """The type that labels, a record and members say."""
        labels = self._labels(labels, owner)
        members = self._members(labels, owner)
        element_type = self._element_type(labels, owner, members)
        of = self._alternatives(labels, owner, members)
        type = Type(labels, element_type, of, members, *owner.keywords(labels))
        self.written.append((owner, type))
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
        if name in self.shapes or (name in RESERVED and name not in (NAMED, PARAMETERS)):
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

    def _members(self, labels: frozenset[str], owner: Owner) -> tuple[Parameter, ...]:
        """The members that are written as elements, or under ``fields``."""
        kinds, below = {basic(label) for label in labels}, owner.element.below()
        if "fields" in owner.record:
            return self._all_members("field", self._fields(labels, owner))
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
            elif "Object" in kinds and (named or "Array" not in kinds):
                words = f"field {index} of {owner.words}"
                members.append(Owner.named("field", words, element, self.faults))
            else:
                what = "the element type" if "Array" in kinds else f"alternative {index}"
                members.append(Owner("part", f"{what} of {owner.words}", element, self.faults))
        return self._all_members("field", members)

    def _fields(self, labels: frozenset[str], owner: Owner) -> list[Owner]:
        """The members of an object that ``fields`` gives as an array of maps."""
        kind = _kind(labels)
        if owner.element.pattern.elements:
            code, message = "both-forms", f"{kind} {owner.words} has both fields and members"
            message += "; keep one"
        elif "Object" not in map(basic, labels):
            code, message = "members", f'"fields" of {owner.words} belong to Object, not {kind}'
        else:
            entries = owner.get("fields", "an array of maps", _are(dict)) or ()
            return [self._field(entry, index, owner) for index, entry in enumerate(entries, 1)]
        owner.tell(code, message, "fields")
        return []

    def _field(self, entry: Mapping[str, Any], index: int, whole: Owner) -> Owner:
        """The member that a map of ``fields`` says, as a node that is where the map is."""
        pattern, path = whole.element
        said = {key: from_json_value(value) for key, value in entry.items()}
        read = carry_origin(Pattern(Subject("", (), said)), pattern)
        owner = Owner("field", f"field {index} of {whole.words}", Element(read, path), whole.faults)
        name, type = owner.text("name", "a string"), owner.text("type")
        rest = {key: value for key, value in said.items() if key not in ("name", "type")}
        if name is not None:
            owner = owner._replace(words=f'"{name}"')
            rest["paramName"] = name
        node = Pattern(Subject("", () if type is None else {type}, rest))
        return owner._replace(element=Element(carry_origin(node, pattern), path))

    def _element_type(
        self, labels: frozenset[str], owner: Owner, members: tuple[Parameter, ...]
    ) -> str | None:
        name = owner.text("elementType")
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
        self, labels: frozenset[str], owner: Owner, members: tuple[Parameter, ...]
    ) -> tuple[str, ...]:
        names = owner.get("of", "an array of type names", _are(str), absent=[])
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


def _are(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(isinstance(it, kind) for it in value)


def _both_places(first: Element, again: Element) -> str:
    """Where two definitions of a name are, as the end of a message."""
    places = [origin(each.pattern) for each in (first, again)]
    written = [f"{place.lineno}:{place.colno}" for place in places if place]
    return f" ({' and '.join(written)})" if len(written) == 2 else ""


def _is_return(pattern: Pattern) -> bool:
    """Whether a node is a return type: it has a type and no name."""
    subject = pattern.value
    return bool(subject.labels) and not subject.identity and "paramName" not in subject.properties


def _kind(labels: Iterable[str]) -> str:
    return "::".join(sorted(labels))
