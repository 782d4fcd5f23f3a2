"""The parts of a signature, as they are found in a tool or a text, before they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from operator import is_
from typing import NamedTuple

import attrs
from pyrsistent import PMap, PVector

import gram
from gram import Diagnostic, GramDecodeError, Pattern, Source, Span, TreePath, is_edge, walk
from gram.checks import CHECKS
from gram.reading import construct_of, syntax
from gram.trees import WALK, WALK_SUBJECT, carry_origin

from ..labels import AGENT, ANSWER, DEFINITIONS, TOOLS, WORKFLOWS, is_tool
from .faults import Element, Faults, SignatureError
from .values import PARAMETERS, RESERVED

_NO_SHAPES = frozenset({AGENT, ANSWER, DEFINITIONS, *TOOLS, *WORKFLOWS})


def shared_shapes(patterns: Iterable[Pattern]) -> dict[str, Pattern]:
    """The shapes among a file's top-level patterns, by name: those labelled with a type."""
    with_names = (each for each in patterns if each.value.identity)
    named = {it.value.identity: it for it in with_names if not it.value.labels & _NO_SHAPES}
    types = RESERVED | named.keys()  # a shape may be another name for one
    return {name: pattern for name, pattern in named.items() if pattern.value.labels & types}


def with_other_elements(pattern: Pattern, elements: Iterable[Pattern]) -> Pattern:
    """A pattern with other elements, from where it was read; itself if they are the same."""
    elements = tuple(elements)
    if len(elements) == len(pattern.elements) and all(map(is_, elements, pattern.elements)):
        return pattern
    return carry_origin(attrs.evolve(pattern, elements=elements), pattern)


def used_shapes(elements: Iterable[Pattern], shapes: Mapping[str, Pattern]) -> tuple[Pattern, ...]:
    """The shared shapes that the elements of a tool use, directly or through each other."""
    pending = list(elements) if shapes else []
    own = {element.value.identity for element in pending}
    used: dict[str, Pattern] = {}
    while pending:
        for _, _, name in type_names(pending.pop()):
            if name in shapes and name not in own and name not in used:
                used[name] = shapes[name]
                pending.append(shapes[name])
    return tuple(used.values())


def type_names(pattern: Pattern) -> Iterator[tuple[TreePath, str, str]]:
    """The names in a pattern that may be those of types.

    Yields:
        The path of the pattern it is in, the part (``labels`` or a key), and the name.
    """
    for path, part in walk(pattern):
        yield from ((path, "labels", label) for label in sorted(part.value.labels - RESERVED))
        for key in ("elementType", "of", "fields"):
            if key in part.value.properties:
                yield from ((path, key, word) for word in _words(part.value.properties[key]))


def _words(value: object) -> Iterator[str]:
    """The strings and symbols in a value."""
    if isinstance(value, PVector):
        for item in value:
            yield from _words(item)
    elif isinstance(value, PMap):
        for item in value.values():
            yield from _words(item)
    elif not isinstance(value, int | float):
        yield str(value)


_REPEATED_KEYS = [row for row in CHECKS if row.code == "duplicate-key"]
"""What the notation says of any text, which a signature by itself is too."""

_ARROW_LABEL = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", re.ASCII)
_UNNAMED_ARROW_LABEL = re.compile(rf"{_ARROW_LABEL.pattern}|[a-z]\w*", re.ASCII)


class Parts(NamedTuple):
    """The parts of a signature.

    Attributes:
        elements: the path and the types beside it, in the order in which they were written.
        chain: the path, or the atom that is a path of one node; None when there is none.
        shapes: the types beside it.
        faults: what is wrong with the spelling.
        known: names of types that are in sight but not used.
        nodes: the nodes of the path, the return type last, when they are known already.
    """

    elements: tuple[Pattern, ...]
    chain: Element | None
    shapes: tuple[Element, ...] = ()
    faults: tuple[Diagnostic, ...] = ()
    known: tuple[str, ...] = ()
    nodes: tuple[Element, ...] | None = None


def is_chain(pattern: Pattern) -> bool:
    """Whether a pattern is a signature's path: an anonymous edge, or a walk."""
    subject = pattern.value
    if subject.identity:
        return False
    return subject == WALK_SUBJECT if subject.labels else is_edge(pattern)


def is_typed_path(pattern: Pattern) -> bool:
    """Whether a pattern is a path whose last node is unnamed and typed: a signature's.

    >>> from gram import loads
    >>> [is_typed_path(each) for each in loads("(a::Text)==>(::String) (a)-->(b) (b)-->()")]
    [True, False, False]
    """
    if not is_chain(pattern):
        return False
    last = pattern.elements[-1] if pattern.value == WALK_SUBJECT and pattern.elements else pattern
    if len(last.elements) != 2:
        return False
    subject = last.elements[1].value
    return bool(subject.labels) and not subject.identity


def is_path(element: Pattern) -> bool:
    """Whether an element is made of arrows: an edge or a walk that is not a definition.

    A label in lower case is that of an arrow, too, which is a fault; no definition has one.

    >>> from gram import loads
    >>> [is_path(each) for each in loads("(a)-[:WHEN]->(b) [l:Loop | a, b] (a)-->(b)-->(c)")]
    [True, False, True]
    """
    if element.value == WALK_SUBJECT:
        return True
    labels = _ARROW_LABEL if element.value.identity else _UNNAMED_ARROW_LABEL
    return is_edge(element) and all(map(labels.fullmatch, element.value.labels))


def signature_of(elements: Iterable[Pattern]) -> Pattern | None:
    """The element that is the signature: the path, else the first atom but ``Parameters``.

    A path of one arrow that has a name or a label, which is a fault, is taken when there is no
    other. The other elements are shapes.
    """
    elements = tuple(elements)
    atoms = (each for each in elements if not each.elements and PARAMETERS not in each.value.labels)
    paths, arrows = filter(is_chain, elements), filter(_is_labelled_arrow, elements)
    return next(chain(paths, atoms, arrows), None)


def _is_labelled_arrow(element: Pattern) -> bool:
    """Whether it is an arrow to a return type; the fields of a shape all have names."""
    is_shape = bool(element.value.labels & RESERVED)
    return is_edge(element) and not is_shape and not element.elements[1].value.identity


def parts_of_pattern(pattern: Pattern, shapes: Iterable[Pattern] = ()) -> Parts:
    """The parts of a tool's signature, or of a signature given by itself.

    Args:
        pattern: the tool, the path or the atom.
        shapes: the patterns around it, whose shapes it may use.
    """
    elements = Element(pattern).below() if is_tool(pattern) else [Element(pattern)]
    return _parts(elements, shapes, tuple(_spelling_faults(each.pattern for each in elements)))


def parts_of_text(text: str) -> Parts:
    """The parts of a signature in gram notation, or of the one tool in the text.

    Raises:
        SignatureError: the text is not gram.
    """
    try:
        patterns = gram.parse(text).patterns
    except GramDecodeError as error:
        raise SignatureError([_not_gram(error)]) from None
    # without name and elements it is the type of a result, called `Tool`
    tools = [each for each in patterns if is_tool(each) and (each.value.identity or each.elements)]
    if len(tools) == 1:
        parts = parts_of_pattern(tools[0], (each for each in patterns if each is not tools[0]))
        return parts._replace(faults=(*gram.check(patterns, checks=_REPEATED_KEYS), *parts.faults))
    elements = [Element(pattern, (index,)) for index, pattern in enumerate(patterns)]
    faults = (*gram.check(patterns, checks=_REPEATED_KEYS), *_spelling_faults(patterns))
    return _parts(elements, (), faults)


def _parts(
    elements: Sequence[Element], around: Iterable[Pattern], faults: tuple[Diagnostic, ...]
) -> Parts:
    own = tuple(each.pattern for each in elements)
    shared = shared_shapes(around)
    signature = signature_of(own)
    path = next((each for each in elements if each.pattern is signature), None)
    shapes = (each for each in elements if each is not path)
    used = (Element(each, (at,)) for at, each in enumerate(used_shapes(own, shared), len(own)))
    return Parts(own, path, (*shapes, *used), faults, tuple(shared))


# --- what only the text shows


def _spelling_faults(patterns: Iterable[Pattern]) -> Iterator[Diagnostic]:
    """Arrows that do not point to the right."""
    for edge in (each for pattern in patterns for _, each in walk(pattern)):
        arrow, read = written_arrow(edge), gram.origin(edge)
        if arrow and read and arrow.kind != "right":
            place = read.source.line_and_column(arrow.start)
            spelling = read.source.text[slice(*arrow.span)]
            message = f'arrow "{spelling}" at {place} does not point to a return type; use "==>"'
            yield Diagnostic("arrow", "error", message, (), arrow.span, None, read.source)


def written_arrow(edge: Pattern) -> syntax.Arrow | None:
    """How the arrow of an edge is written; None for a bracket and for what was not read."""
    path = construct_of(edge) if is_edge(edge) else None
    return path.arrows[0] if isinstance(path, syntax.Path) else None


def _not_gram(error: GramDecodeError) -> Diagnostic:
    source = Source(error.doc, error.filename)
    found = error.msg.partition(", expected")[0].replace("`", '"')
    message = f"type signature is not valid gram: {found} at {error.lineno}:{error.colno}"
    hint = error.hint
    if re.match(r"\s*[\w-]+\s*:[^:]", error.doc):
        hint = "put the parameters in parentheses: (name: Text) --> Text"
    if hint is None and error.expected:
        hint = f"expected {', '.join(error.expected)}"
    return Diagnostic("not-gram", "error", message, (), Span(error.pos, error.pos), hint, source)


INPUT = "input"
"""What the only parameter is called that has no name of its own."""


def names_of(parameters: Iterable[Pattern]) -> tuple[str, ...]:
    """The names under which models see parameters, those of a path's nodes but the last.

    The only parameter is called ``input`` when it is written without a name; of several, one
    without a name is called ``arg1``, ``arg2``, … by its place.

    >>> from gram import loads
    >>> names_of(loads("(::Text)")), names_of(loads("(::Text) (age::Int) (::Text)"))
    (('input',), ('arg1', 'age', 'arg3'))
    """
    written = [_written_name(each) for each in parameters]
    if written == [None]:
        return (INPUT,)
    names: list[str] = []
    for place, name in enumerate(written, 1):
        free = (f"arg{number}" for number in count(place))
        taken = {*written, *names} if name is None else ()
        names.append(name if name is not None else next(it for it in free if it not in taken))
    return tuple(names)


def _written_name(parameter: Pattern) -> str | None:
    subject = parameter.value
    written = subject.properties.get("paramName")
    if isinstance(written, str):
        return written
    is_type = subject.identity in RESERVED and not subject.labels  # in the place of the name
    return None if is_type else subject.identity or None


def nodes_of(parts: Parts, faults: Faults) -> list[Element] | None:
    """The nodes of a signature's path, the return type last; None when it is not a path."""
    path = parts.chain
    if parts.nodes is not None or path is None:
        return list(parts.nodes or ())
    if any(each.code == "arrow" for each in faults):
        return None  # an arrow of the text points elsewhere, so it is not known which node is last
    if not path.pattern.elements:
        return [path]
    if path.pattern.value.properties:
        faults.tell("arrow", "the path of a signature has no record", path)
    is_walk = WALK in path.pattern.value.labels
    nodes: list[Element] = []
    for edge in path.below() if is_walk else [path]:
        ends = edge.below()
        if len(ends) != 2 or (nodes and nodes[-1].pattern != ends[0].pattern):
            message = 'an arrow of the path does not point to a return type; use "==>"'
            faults.tell("arrow", message, edge)
            return None
        subject = edge.pattern.value
        if subject.identity or subject.labels or (is_walk and subject.properties):
            faults.tell("arrow", "an arrow of a signature has no name, type or record", edge)
        nodes.extend(ends[1:] if nodes else ends)
    return nodes
