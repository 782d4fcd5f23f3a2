"""Reads the text form of a signature, ``(name: Text, age: Maybe Int) --> IO Text``.

``text_form.lark`` is its grammar. What it says is lowered to the nodes of a path, as if it had
been written ``(name::Text)==>(age::Int {optional: true})==>(::Text)``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from gram import Diagnostic, Pattern, Source, Span, Subject
from gram.reading import Spans, Stop, Token, parse_tokens, placed, tokens, unescape

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
        spans = Spans(whole, whole, None, labels, {}, values, {})
        return placed(Pattern(subject, map(self._node, part.members)), self.source, spans)

    def _text(self, token: Token) -> str:
        spelled = self.source.text[token.start : token.end]
        return unescape(spelled[1:-1]) if spelled[0] in '`"' else spelled

    # --- faults

    def refuse(self, stop: Stop) -> SignatureError:
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
