"""Reads the text form of a signature, ``(name: Text, age: Maybe Int) --> IO Text``.

``text_form.lark`` is its grammar. What it says is lowered to the nodes of a path, as if it had
been written ``(name::Text)==>(age::Int {optional: true})==>(::Text)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from gram import Diagnostic, Pattern, Source, Span, Subject
from gram.reading import Stop, Token, parse_tokens, tokens, unescape

from .faults import Element, SignatureError
from .parts import Parts

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
    words = (text[token.start : token.end] for token in tokens(text))
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
    nodes: tuple[Pattern, ...] = parse_tokens(_GRAMMAR, text, builder, builder.refuse)
    elements = tuple(Element(node, (index,)) for index, node in enumerate(nodes))
    faults, spans, source = tuple(builder.faults), builder.spans, builder.source
    return Parts(nodes, None, faults=faults, nodes=elements, spans=spans, source=source)


class _Type(NamedTuple):
    """A type: its label, and what else the node for it says."""

    start: int
    end: int
    label: str
    record: Mapping[str, Any] = MappingProxyType({})
    members: tuple[_Member, ...] = ()
    maybe: bool = False

    @property
    def is_name(self) -> bool:
        """Whether its label says all of it."""
        return not self.record and not self.members


class _Name(NamedTuple):
    start: int
    end: int
    text: str


class _Member(NamedTuple):
    start: int
    end: int
    name: str | None
    type: _Type


class _Group(NamedTuple):
    start: int
    end: int
    members: tuple[_Member, ...]


class _Builder:
    """One method for each rule of the grammar, called with the tokens and parts of the rule."""

    def __init__(self, text: str) -> None:
        self.source = Source(text)
        self.faults: list[Diagnostic] = []
        self.spans: dict[int, dict[str | None, Span]] = {}

    def start(self, parts: list[Any]) -> tuple[Pattern, ...]:
        *groups, last = (part for part in parts if isinstance(part, _Group | _Type))
        if isinstance(last, _Group) and len(last.members) == 1 and last.members[0].name is None:
            last = last.members[0].type
        if len(groups) > 1:
            self._tell_several_groups(groups, last)
        members = [member for group in groups for member in _members_of(group)]
        if isinstance(last, _Group):
            return tuple(map(self._node, (*members, *last.members)))
        returned = _Member(last.start, last.end, None, _or_null(last) if last.maybe else last)
        return tuple(map(self._node, (*members, returned)))

    def group(self, parts: list[Any]) -> _Group:
        return _Group(parts[0].start, parts[-1].end, _only(_Member, parts))

    def result(self, parts: list[Any]) -> _Type:
        return _the_type(parts)

    def member(self, parts: list[Any]) -> _Member:
        name, type = parts[0], _the_type(parts)
        return _Member(name.start, parts[-1].end, name.text, type)

    def nameless(self, parts: list[Any]) -> _Member:
        type = _the_type(parts)
        name, _, rest = type.label.partition(" ")
        if not (rest and name[0].islower()):
            return _Member(parts[0].start, parts[-1].end, None, type)
        message = f'":" is missing between the name "{name}" and its type'
        self._tell("not-gram", message, type.start, type.end, f"write {name}: {rest.strip()}")
        return _Member(type.start, type.end, name, type._replace(label="Any"))

    def name(self, parts: list[Token]) -> _Name:
        (token,) = parts
        return _Name(token.start, token.end, self._text(token))

    def maybe(self, parts: list[Any]) -> _Type:
        return _the_type(parts)._replace(start=parts[0].start, end=parts[-1].end, maybe=True)

    def named(self, parts: list[Token]) -> _Type:
        (token,) = parts
        return _Type(token.start, token.end, self._text(token))

    def applied(self, parts: list[Any]) -> _Type:
        """A type with arguments, as only Haskell has: its whole text is the unknown name."""
        start, end = parts[0].start, parts[-1].end
        return _Type(start, end, self.source.text[start:end])

    io = applied

    def array(self, parts: list[Any]) -> _Type:
        start, end, item = parts[0].start, parts[-1].end, _the_type(parts)
        if item.maybe:
            item = _or_null(item)
        if item.is_name:
            return _Type(start, end, "Array", {"elementType": item.label})
        return _Type(start, end, "Array", members=(_Member(item.start, item.end, None, item),))

    def object(self, parts: list[Any]) -> _Type:
        return _Type(parts[0].start, parts[-1].end, "Object", members=_only(_Member, parts))

    def short_arrow(self, parts: list[Token]) -> Token:
        (token,) = parts
        spelled = self.source.text[token.start : token.end]
        place = self.source.line_and_column(token.start)
        long = spelled[0] + spelled
        message = f'arrow "{spelled}" at {place} is too short; use "{long}"'
        self._tell("arrow", message, token.start, token.end)
        return token

    # --- nodes

    def _node(self, member: _Member) -> Pattern:
        type, record = member.type, dict(member.type.record)
        if member.name == "":
            record["paramName"] = ""
        if type.maybe:
            record["optional"] = True
        elements = tuple(map(self._node, type.members))
        node = Pattern(Subject(member.name or "", {type.label}, record), elements)
        of_type = Span(type.start, type.end)
        self.spans[id(node)] = {
            None: Span(member.start, member.end),
            "labels": of_type,
            "elementType": of_type,
        }
        return node

    def _text(self, token: Token) -> str:
        spelled = self.source.text[token.start : token.end]
        return unescape(spelled[1:-1]) if spelled[0] in '`"' else spelled

    # --- faults

    def _tell_several_groups(self, groups: list[_Group | _Type], last: _Group | _Type) -> None:
        text = self.source.text
        inside = (text[group.start + 1 : group.end - 1].strip() for group in groups)
        together = ", ".join(each for each in inside if each)
        hint = (
            f"write ({together}) --> IO {text[last.start : last.end]}, "
            'or drop "IO" and write a path: (a::Text)==>(b::Int)==>(::Text)'
        )
        message = "the text form has one pair of parentheses for all parameters"
        self._tell("not-gram", message, groups[1].start, groups[1].end, hint)

    def refuse(self, stop: Stop) -> SignatureError:
        """The error for a text that stops to be of this form."""
        at, end = stop.first.start, stop.last.end
        message = f"type signature is not valid: expected {_expected(stop.expected)}, "
        found = self.source.text[at:end]
        message += f'found "{found}"' if found else "found end of the text"
        if stop.problem is not None:
            message = f"type signature is not valid: {stop.problem.msg}"
        message += f" at {self.source.line_and_column(at)}"
        hint = "write (name: Text, age: Maybe Int) --> IO Text, or a path: (name::Text)==>(::Text)"
        if "::" in self.source.text:
            hint = "in a path the return type is in parentheses too: ==>(::Text)"
        self._tell("not-gram", message, at, end, hint)
        return SignatureError(self.faults)

    def _tell(self, code: str, message: str, start: int, end: int, hint: str | None = None) -> None:
        self.faults.append(
            Diagnostic(code, "error", message, (), Span(start, end), hint, self.source)
        )


def _only(kind: type[Any], parts: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(part for part in parts if isinstance(part, kind))


def _the_type(parts: Iterable[Any]) -> _Type:
    found: _Type = _only(_Type, parts)[0]
    return found


def _members_of(group: _Group | _Type) -> tuple[_Member, ...]:
    if isinstance(group, _Group):
        return group.members
    return (_Member(group.start, group.end, None, group),)


def _or_null(type: _Type) -> _Type:
    """Either a type or null."""
    if type.is_name:
        return _Type(type.start, type.end, "AnyOf", {"of": [type.label, "Null"]})
    null = _Type(type.start, type.end, "Null")
    either = (type._replace(maybe=False), null)
    members = tuple(_Member(type.start, type.end, None, each) for each in either)
    return _Type(type.start, type.end, "AnyOf", members=members)


_MARKS = {"COMMA": '","', "RPAR": '")"', "RSQB": '"]"', "RBRACE": '"}"', "COLON": '":"'}


def _expected(symbols: Iterable[str]) -> str:
    """What could come, in the words of the language."""
    expected = set(symbols)
    if {"_type", "_atom"} & expected:
        return "a type"
    if "_part" in expected or "group" in expected:
        return '"("'
    if "_arrow" in expected:
        return '"-->"'
    marks = [mark for name, mark in _MARKS.items() if name in expected]
    return " or ".join(marks) if marks else "the end of the text"
