"""What a signature is read from: the text, tool or pattern it stands in, cut into its parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache

from attrs import evolve, field, frozen

from gram import Document, Fault, GramDecodeError, Pattern, Source, Span, origin, parse
from gram.document import document_of
from gram.pattern import WALK_SUBJECT
from gram.serializer import is_edge
from gram.spans import Construct, Hop, elements_of
from gram.syntax import Annotated, Arrow, Bracket, Node, Path, Record

from ..labels import is_tool
from .errors import SignatureError
from .type_names import PARAMETERS


@frozen
class Place:
    """A pattern of a signature with the way to it from what was read."""

    pattern: Pattern
    path: tuple[int, ...] = ()

    def below(self) -> list[Place]:
        """The places of its elements."""
        return [
            Place(element, (*self.path, index))
            for index, element in enumerate(self.pattern.elements)
        ]


@frozen
class SignatureSource:
    """The parts of a signature before they are read.

    Attributes:
        chain: the path, or the atom that stands for a path of its own; None when there is none.
        shapes: what stands beside it.
        elements: all of it, in the order in which it was written.
        outer: what stands beside the tool it was read from.
        faults: what is wrong with the spelling.
        document: the text, kept so that places can be told.
    """

    chain: Place | None
    shapes: tuple[Place, ...]
    elements: tuple[Pattern, ...]
    outer: tuple[Pattern, ...] = ()
    faults: tuple[Fault, ...] = ()
    document: Document | None = field(default=None, eq=False, repr=False)


def is_chain(pattern: Pattern) -> bool:
    """Whether a pattern is a signature's path: an anonymous edge, or a walk."""
    if pattern.value == WALK_SUBJECT:
        return True
    subject = pattern.value
    return not subject.identity and not subject.labels and is_edge(pattern)


def signature_of(elements: Iterable[Pattern]) -> Pattern | None:
    """The element that is the signature: the path, else the first atom but ``Parameters``.

    What is left are shapes.
    """
    first_atom = None
    for element in elements:
        if is_chain(element):
            return element
        if first_atom is None and not element.elements and PARAMETERS not in element.value.labels:
            first_atom = element
    return first_atom


def source_of_pattern(pattern: Pattern) -> SignatureSource:
    """The parts of a tool's signature, or of a signature given by itself."""
    faults: tuple[Fault, ...] = ()
    document = None
    if (place := origin(pattern)) is not None:
        document = _document(place.source)
        construct = _construct_at(document, document.path_at(place.span))
        parts = elements_of(construct) if is_tool(pattern) else (construct,)
        faults = tuple(fault for part in parts for fault in spelling_faults(part, place.source))
    if is_tool(pattern):
        return _source(Place(pattern).below(), faults, document)
    return _source([Place(pattern)], faults, document)


@lru_cache(maxsize=2)
def _document(source: Source) -> Document:
    """The document read from a source: kept a while, as its other tools will be asked for too."""
    return document_of(source)


def source_of_text(text: str) -> SignatureSource:
    """The parts of a signature in gram notation, or of the one tool that the text holds.

    Raises:
        SignatureError: the text is not gram.
    """
    try:
        document = parse(text)
    except GramDecodeError as error:
        raise SignatureError([_not_gram(error)]) from None
    faults = [fault for item in document.items for fault in spelling_faults(item, document.source)]
    places = [Place(pattern, (index,)) for index, pattern in enumerate(document.patterns)]
    tools = [place for place in places if is_tool(place.pattern)]
    if len(tools) != 1:
        return _source(places, tuple(faults), document)
    outer = tuple(pattern for pattern in document.patterns if pattern is not tools[0].pattern)
    return evolve(_source(tools[0].below(), tuple(faults), document), outer=outer)


def _source(
    places: list[Place], faults: tuple[Fault, ...], document: Document | None
) -> SignatureSource:
    elements = tuple(place.pattern for place in places)
    chain = signature_of(elements)
    at = next((i for i, element in enumerate(elements) if element is chain), len(elements))
    shapes = (*places[:at], *places[at + 1 :])
    return SignatureSource(
        places[at] if chain is not None else None,
        shapes,
        elements,
        faults=faults,
        document=document,
    )


# --- what only the text can tell


def spelling_faults(construct: Construct, source: Source) -> Iterator[Fault]:
    """Arrows that do not point to the right, and keys that are given twice."""
    pending: deque[Construct] = deque([construct])
    while pending:
        part = pending.popleft()
        arrows: tuple[Arrow, ...] = ()
        match part:
            case Annotated():
                pending.append(part.body)
            case Bracket():
                yield from _repeated_keys(part, source)
                pending.extend(part.elements)
            case Node():
                yield from _repeated_keys(part, source)
            case Path():
                arrows = part.arrows
                pending.extend(part.nodes)
            case Hop():
                arrows = (part.arrow,)
                pending.extend((part.left, part.right))
        for arrow in arrows:
            if arrow.kind != "right":
                yield _wrong_arrow(arrow, source)


def _wrong_arrow(arrow: Arrow, source: Source) -> Fault:
    spelling = source.text[arrow.start : arrow.end]
    place = source.line_and_column(arrow.start)
    message = f'arrow "{spelling}" at {place} does not point to a return type; use "==>"'
    return Fault("arrow", "error", message, (), Span(arrow.start, arrow.end), None, source)


def _repeated_keys(part: Bracket | Node, source: Source) -> Iterator[Fault]:
    record: Record | None = part.subject.record
    seen: set[str] = set()
    for entry in record.entries if record else ():
        key = entry.key.text
        if key in seen:
            name = part.subject.identity
            owner = f' on "{name.text}"' if name else ""
            span = Span(entry.start, entry.end)
            message = f'key "{key}" is given twice{owner}'
            yield Fault("duplicate-key", "error", message, (), span, None, source)
        seen.add(key)


def _not_gram(error: GramDecodeError) -> Fault:
    source = Source(error.doc, error.filename)
    found = error.msg.partition(", expected")[0].replace("`", '"')
    message = f"type signature is not valid gram: {found} at {error.lineno}:{error.colno}"
    hint = error.hint
    if hint is None and error.expected:
        hint = f"expected {', '.join(error.expected)}"
    return Fault("not-gram", "error", message, (), Span(error.pos, error.pos), hint, source)


def _construct_at(document: Document, path: tuple[int, ...]) -> Construct:
    construct: Construct = document.items[path[0]]
    for index in path[1:]:
        construct = elements_of(construct)[index]
    return construct
