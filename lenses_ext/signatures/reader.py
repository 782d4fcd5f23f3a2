"""Reads the parts of a signature: nodes become parameters, shapes become types."""

from __future__ import annotations

from collections.abc import Iterable

from gram import Pattern
from gram.pattern import WALK

from .record_reader import Owner, Written, owner_of
from .source import Place, SignatureSource, is_chain
from .type_names import NAMED, PARAMETERS, RESERVED
from .type_reader import TypeReader
from .values import UNCONSTRAINED, Parameter, Shape, Type, TypeSignature


class SignatureReader(TypeReader):
    """Reads one signature.

    Args:
        outer: the shapes of the file around the tool, read when they are used.
    """

    def __init__(self, outer: Iterable[Pattern] = ()) -> None:
        super().__init__(outer)
        self.whole = Place(Pattern())

    def read(self, source: SignatureSource) -> TypeSignature:
        """The signature of the parts of a tool or text."""
        self.faults.extend(source.faults)
        self.whole = source.chain or self.whole
        shapes, root = self._named_shapes(source.shapes)
        parameters, returns = self._chain(source.chain)
        read = [self._shape(name, place) for name, place in shapes]
        done: set[str] = set()
        while more := [name for name in self.used if name not in done]:
            done.update(more)
            read.extend(self._shape(name, self.used[name]) for name in more)
        return TypeSignature(parameters, returns, tuple(read), root)

    # --- the chain

    def _chain(self, chain: Place | None) -> tuple[tuple[Parameter, ...], Parameter]:
        nodes = self._nodes(chain) if chain else []
        if not nodes or not nodes[-1].pattern.value.labels:
            message = 'type signature has no return type: end it with "==>(::String)"'
            if nodes or chain is None:
                place = nodes[-1] if nodes else Place(Pattern())
                self.tell("no-return", message, place)
            nodes = nodes[:-1]
            returns = UNCONSTRAINED
        else:
            place = nodes.pop()
            returns = self.member(place, Owner("return", "the return type", place))
        if len(nodes) == 1 and nodes[0].pattern == Pattern():
            nodes = []
        parameters = tuple(
            self.member(place, owner_of("parameter", place, f"parameter {index}"))
            for index, place in enumerate(nodes, 1)
        )
        self.unique("parameter", zip(parameters, nodes, strict=True))
        return parameters, returns

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
            nodes.extend(ends[1:] if nodes else ends)
        return nodes

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
            elif is_chain(place.pattern):
                message = "a tool has one type signature, and this is another"
                self.tell("second-signature", message, place)
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
        self.own = shapes
        return list(shapes.items()), root or Type(frozenset({PARAMETERS}))

    def _root(self, place: Place) -> Type:
        owner = Owner("type", "the parameters", place)
        if place.pattern.value.labels != {PARAMETERS}:
            self.mixed(place.pattern.value.labels, owner)
        if place.pattern.elements:
            self.tell("members", f"{PARAMETERS} cannot have members", place)
        keywords, foreign, _ = self.keywords(place.pattern.value.properties, owner)
        type = Type(frozenset({PARAMETERS}), keywords=keywords, foreign=foreign)
        self.written.append(Written(owner, type))
        return type

    def _shape(self, name: str, place: Place) -> Shape:
        labels = place.pattern.value.labels
        owner = Owner("type", f'"{name}"', place)
        record = place.pattern.value.properties
        return Shape(
            name,
            self.type(labels - {NAMED}, record, place.below(), owner),
            named=NAMED in labels,
        )
