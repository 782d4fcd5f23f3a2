"""The parts of a signature, as they are found in a tool or a text, before they are read.

``text_form.lark`` is the grammar of the text form. What that says is lowered to the nodes of a
path, as if it had been written ``(name::Text)==>(age::Int {optional: true})==>(::Text)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from operator import is_
from pathlib import Path
from typing import Any, NamedTuple

import attrs
from pyrsistent import PMap, PVector

import gram
from gram import (
    Diagnostic,
    GramDecodeError,
    Pattern,
    Source,
    Span,
    Subject,
    TreePath,
    is_edge,
    reading,
    walk,
)
from gram.checks import CHECKS
from gram.reading import Token
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


def written_arrow(edge: Pattern) -> reading.syntax.Arrow | None:
    """How the arrow of an edge is written; None for a bracket and for what was not read."""
    path = reading.construct_of(edge) if is_edge(edge) else None
    return path.arrows[0] if isinstance(path, reading.syntax.Path) else None


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


# --- the text form

_GRAMMAR = Path(__file__).with_name("text_form.lark")
_TAILS, _HEADS = ("-", "=", "~"), ("->", "=>", "~>")


def is_text_form(text: str) -> bool:
    """Whether a signature is in the text form.

    It is when one of its arrows does not lead to ``(``, or when there is a comma between the
    parentheses of a node.

    >>> is_text_form("(name: Text) --> IO Text")
    True
    >>> is_text_form("(name: Text)==>(::String)")
    False
    """
    words = (text[token.start : token.end] for token in reading.tokens(text))
    target = next(words)
    while target == "(":
        level = 1
        while level:
            word = next(words, "")
            level += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
            if not word or (word == "," and level == 1):
                return bool(word)
        head = next(words, "")
        if head in _TAILS:
            head = next(words, "")
        if head not in _HEADS:
            return False
        target = next(words, "")
        if target and target != "(":
            return True
    return False


def parts_of_text_form(text: str) -> Parts:
    """The parts of a signature in the text form.

    Raises:
        SignatureError: it is not of this form; the error has the place.
    """
    builder = _Builder(text)
    nodes: tuple[Pattern, ...] = reading.parse_tokens(_GRAMMAR, text, builder, builder.refuse)
    elements = tuple(Element(node, (index,)) for index, node in enumerate(nodes))
    return Parts(nodes, None, faults=tuple(builder.faults), nodes=elements)


class _Part(NamedTuple):
    """A part of the text: a type, or a member with its type.

    Attributes:
        start, end: where it is.
        label, record, members: what its type is.
        name: the name of a member.
        type: the span of the type alone, where there is a name, too.
        maybe: whether it may be left out.
        group: the members, when it is a pair of parentheses with these.
    """

    start: int
    end: int
    label: str = "Any"
    record: tuple[tuple[str, Any], ...] = ()
    members: tuple[_Part, ...] = ()
    name: str | None = None
    type: Span | None = None
    maybe: bool = False
    group: tuple[_Part, ...] | None = None

    @property
    def is_name(self) -> bool:
        """Whether the label says all of the type."""
        return not self.record and not self.members


class _Builder:
    """One method for each rule of the grammar, called with the tokens and parts of the rule."""

    def __init__(self, text: str) -> None:
        self.source = Source(text)
        self.faults: list[Diagnostic] = []

    def start(self, parts: list[Any]) -> tuple[Pattern, ...]:
        *groups, last = _only(parts)
        if last.group and len(last.group) == 1 and last.group[0].type is None:
            last = last.group[0]
        if len(groups) > 1:
            message = "the text form has one pair of parentheses for all parameters"
            hint = "write (a: Text, b: Int) --> IO Text, or a path: (a::Text)==>(b::Int)==>(::Text)"
            self._tell("not-gram", message, groups[1].start, groups[1].end, hint)
        given = ((each,) if each.group is None else each.group for each in groups)
        members = [each for some in given for each in some]
        if last.group is not None:
            members += last.group
        else:
            members.append((_or_null(last) if last.maybe else last)._replace(maybe=False))
        return tuple(map(self._node, members))

    def group(self, parts: list[Any]) -> _Part:
        return _Part(parts[0].start, parts[-1].end, group=_only(parts))

    def result(self, parts: list[Any]) -> _Part:
        return _only(parts)[0]

    def member(self, parts: list[Any]) -> _Part:
        start, name = parts[0]
        return _named(start, name, _only(parts)[0], parts[-1].end)

    def nameless(self, parts: list[Any]) -> _Part:
        (part,) = _only(parts)
        name, _, rest = part.label.partition(" ")
        if not (rest and name[0].islower()):
            return part
        message = f'":" is missing between the name "{name}" and its type'
        self._tell("not-gram", message, part.start, part.end, f"write {name}: {rest.strip()}")
        return _named(part.start, name, _Part(part.start, part.end), part.end)

    def name(self, parts: list[Token]) -> tuple[int, str]:
        (token,) = parts
        return token.start, self._text(token)

    def maybe(self, parts: list[Any]) -> _Part:
        (part,) = _only(parts)
        return part._replace(start=parts[0].start, end=parts[-1].end, maybe=True)

    def named(self, parts: list[Token]) -> _Part:
        (token,) = parts
        return _Part(token.start, token.end, self._text(token))

    def applied(self, parts: list[Any]) -> _Part:
        """A type with arguments, as only Haskell has: its whole text is the unknown name."""
        start, end = parts[0].start, parts[-1].end
        return _Part(start, end, self.source.text[start:end])

    io = applied

    def array(self, parts: list[Any]) -> _Part:
        start, end, item = parts[0].start, parts[-1].end, _only(parts)[0]
        item = _or_null(item) if item.maybe else item
        if item.is_name:
            return _Part(start, end, "Array", (("elementType", item.label),))
        return _Part(start, end, "Array", members=(item,))

    def object(self, parts: list[Any]) -> _Part:
        return _Part(parts[0].start, parts[-1].end, "Object", members=_only(parts))

    def short_arrow(self, parts: list[Token]) -> Token:
        (token,) = parts
        spelled = self.source.text[token.start : token.end]
        place = self.source.line_and_column(token.start)
        message = f'arrow "{spelled}" at {place} is too short; use "{spelled[0] + spelled}"'
        self._tell("arrow", message, token.start, token.end)
        return token

    def _node(self, part: _Part) -> Pattern:
        """The node that says a part, where the part is."""
        record = dict(part.record)
        if part.name == "":
            record["paramName"] = ""
        if part.maybe:
            record["optional"] = True
        subject = Subject(part.name or "", {part.label}, record)
        whole = Span(part.start, part.end)
        of_type = part.type or whole
        labels, values = {part.label: of_type}, {"elementType": of_type}
        spans = reading.Spans(whole, whole, None, labels, {}, values, {})
        return reading.placed(Pattern(subject, map(self._node, part.members)), self.source, spans)

    def _text(self, token: Token) -> str:
        spelled = self.source.text[token.start : token.end]
        return reading.unescape(spelled[1:-1]) if spelled[0] in '`"' else spelled

    # --- faults

    def refuse(self, stop: reading.Stop) -> SignatureError:
        """The error for a text that stops to be of this form."""
        at, end = stop.first.start, stop.last.end
        found = f'"{self.source.text[at:end]}"' if end > at else "end of the text"
        message = f"expected {_expected({*stop.expected})}, found {found}"
        message = message if stop.problem is None else stop.problem.msg
        message = f"type signature is not valid: {message} at {self.source.line_and_column(at)}"
        hint = "write (name: Text, age: Maybe Int) --> IO Text, or a path: (name::Text)==>(::Text)"
        if "::" in self.source.text:
            hint = "in a path the return type is in parentheses too: ==>(::Text)"
        self._tell("not-gram", message, at, end, hint)
        return SignatureError(self.faults)

    def _tell(self, code: str, message: str, start: int, end: int, hint: str | None = None) -> None:
        span = Span(start, end)
        self.faults.append(Diagnostic(code, "error", message, (), span, hint, self.source))


def _named(start: int, name: str, part: _Part, end: int) -> _Part:
    """A type as that of a member with a name."""
    return part._replace(start=start, end=end, name=name, type=Span(part.start, part.end))


def _or_null(part: _Part) -> _Part:
    """Either a type or null."""
    start, end, *_ = part
    if part.is_name:
        return _Part(start, end, "AnyOf", (("of", [part.label, "Null"]),))
    null = _Part(start, end, "Null")
    return _Part(start, end, "AnyOf", members=(part._replace(maybe=False), null))


def _only(parts: Iterable[Any]) -> tuple[_Part, ...]:
    return tuple(part for part in parts if isinstance(part, _Part))


_MARKS = {"COMMA": '","', "RPAR": '")"', "RSQB": '"]"', "RBRACE": '"}"', "COLON": '":"'}


def _expected(symbols: set[str]) -> str:
    """What could come, in the words of the language."""
    if {"_type", "_atom"} & symbols:
        return "a type"
    if {"_part", "group"} & symbols:
        return '"("'
    if "_arrow" in symbols:
        return '"-->"'
    marks = (mark for name, mark in _MARKS.items() if name in symbols)
    return " or ".join(marks) or "the end of the text"
