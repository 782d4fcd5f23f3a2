"""Reads a text: drives the grammar's table over its tokens. Says where the parts of a pattern are.

After a broken pattern, reading can go on with the next one, to find every syntax error of a text.
That is at the next bracket or annotation that begins a line: patterns at the top level are
independent of each other. The rest of a broken pattern can be there too; a comma, bar or closing
bracket that belongs to it is not reported as another error.

A long text can be read in pieces: trees that are let go of one after another cost less than half
of trees that are all kept, mostly because Python looks through everything that is kept again and
again for what could be freed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ..errors import MAX_LEVELS, GramEncodeError, TooDeepError, expect
from ..grammar import Grammar, grammar, load_grammar
from ..source import GramDecodeError, Source, Span
from ..trees import Pattern, read_from
from .builders import Builder
from .lexer import ERROR, tokens
from .syntax import Array, Construct, Item, Map, Name, Reference, SubjectPart, Token, Value

# A level of nesting takes at most five places of the parser's stack (`[ subject | elements ,`
# or `{ entries , key :`), so a stack this high is past the limit whatever follows.
_MAX_STACK = 10 * MAX_LEVELS

_NO_ACTION = -(10**9)  # less than any reduction


def parse_items(source: Source, start: int = 0, end: int | None = None) -> tuple[Item, ...]:
    """The top-level constructs of ``text[start:end]``, a header record first.

    Args:
        source: the text.
        start, end: the part of it to read.

    Raises:
        GramDecodeError: the text is not gram; the error has the place of the first token that
            cannot continue.
    """

    def refused(stop: Stop) -> Exception:
        from .diagnosis import depth_error, syntax_error  # only an error needs it

        if stop.problem is None:
            return syntax_error(source, stop.last, start)
        at: int = stop.first.start
        if isinstance(stop.problem, TooDeepError):
            return depth_error(source, at, stop.last.end, start)
        return GramDecodeError(str(stop.problem), source.text, at, filename=source.filename)

    read = tokens(source.text, start, end)
    items: tuple[Item, ...] = _parse(_tables(Builder), read, Builder(source), refused)
    return items


def parse_trees(source: Source, start: int = 0, end: int | None = None) -> tuple[Pattern, ...]:
    """The top-level patterns of ``text[start:end]``, as `parse_items`."""
    return tuple([item.pattern for item in parse_items(source, start, end)])


def trees_if_gram(text: str) -> tuple[Pattern, ...] | None:
    """The top-level patterns of a text; None when it is not gram."""
    try:
        return parse_trees(Source(text))
    except GramDecodeError:
        return None


class Stop(NamedTuple):
    """Why a text cannot be read further.

    Attributes:
        first: the first part of what is wrong: a token, or what the builder made.
        last: the last token of it; the token that does not fit, when ``problem`` is None.
        expected: the terminals and rules of the grammar that could come instead.
        problem: why what was read cannot be built, or None.
    """

    first: Any
    last: Any
    expected: Collection[str]
    problem: GramEncodeError | None = None


def parse_tokens(
    definition: Path, text: str, builder: object, refuse: Callable[[Stop], Exception]
) -> Any:
    """Read a text in another language that is made of gram's tokens.

    Args:
        definition: the grammar, a ``.lark`` file with its table beside it. Its terminals are
            gram's (``%declare SYMBOL``) or words and marks of its own (``"Maybe"``).
        text: the text.
        builder: has a method for each rule of the grammar, called with the parts of the rule.
        refuse: makes the error to raise when the text is not of the language.
    """
    tables = _tables(type(builder), definition)  # type: ignore[arg-type]  # a class is hashable
    names = {literal: name for name, literal in tables[0].literals.items()}
    named = (
        Token(token.start, token.end, names.get(text[token.start : token.end], token.type))
        for token in tokens(text)
    )
    return _parse(tables, named, builder, refuse)


def _parse(
    tables: tuple[Grammar, list[_Reduction]],
    read: Iterable[Token],
    builder: object,
    refuse: Callable[[Stop], Exception],
) -> Any:
    """What the builder makes of tokens, as the grammar's table leads it."""
    grammar, reductions = tables
    states = grammar.states
    stack: list[int] = [grammar.start]
    parts: list[Any] = []
    taken: list[Any] = []
    problem: GramEncodeError | None
    try:
        for token in read:
            while (action := states[stack[-1]].get(token.type, _NO_ACTION)) < 0:
                if action == _NO_ACTION:
                    if stack[-1] == grammar.end:
                        return parts[-1]
                    expected = states[stack[-1]]
                    action, *others = {*expected.values()}
                    if others or action >= 0:  # else every token ends a rule here
                        raise refuse(Stop(token, token, expected))
                symbol, size, build = reductions[~action]
                taken = parts[len(parts) - size :]
                del parts[len(parts) - size :], stack[len(stack) - size :]
                parts.append(build(builder, _flat(taken)) if build else _spliced(taken))
                stack.append(states[stack[-1]][symbol])
            stack.append(action)
            parts.append(token)
            if len(stack) > _MAX_STACK:
                raise TooDeepError
    except GramEncodeError as error:
        problem = error
    else:
        raise AssertionError("the lexer ends every text with END")
    raise refuse(Stop((_flat(taken) or [token])[0], token, (), problem))


_Reduction: TypeAlias = tuple[str, int, Callable[..., Any] | None]
"""What a rule makes: its symbol, of how many parts, and the builder's method."""


@cache
def _tables(builder: type, definition: Path | None = None) -> tuple[Grammar, list[_Reduction]]:
    """A grammar, by default that of gram, and what a kind of builder makes of each of its rules."""
    own = load_grammar(definition) if definition else grammar()
    return own, [
        (each.symbol, len(each.parts), getattr(builder, each.builder) if each.builder else None)
        for each in own.rules
    ]


def construct_of(pattern: Pattern) -> Construct | None:
    """The syntax of a pattern that was read, with offsets of its text; None when it was made.

    Only the pattern's own part of the text is read.
    """
    place = read_from(pattern)
    if place is None:
        return None
    source, start, end = place
    if source.text[start] in "[({@":
        return parse_items(source, start, end)[0]
    name, subject = Name(start, end, pattern.value.identity), pattern.value
    return Reference(start, end, pattern, SubjectPart(start, end, name, subject=subject))


def _spliced(taken: list[Any]) -> Any:
    """The parts of a rule without a builder, for the rule around it; its only part as it is.

    Repetitions are left-recursive, so the list so far is the first part: it grows in place.
    """
    if len(taken) == 1:
        return taken[0]
    parts: list[Any] = taken[0] if isinstance(taken[0], list) else taken[:1]
    for part in taken[1:]:
        parts.extend(part) if isinstance(part, list) else parts.append(part)
    return parts


def _flat(taken: list[Any]) -> list[Any]:
    """The parts of a construct, those handed on from rules below among them."""
    return _spliced([[], *taken]) if list in map(type, taken) else taken


_PIECE = 100_000
"""About how many characters are read at a time."""

_NEXT = re.compile(r"\n(?=[(\[])")
"""A line break before what may be another pattern: no pattern goes on so after its end."""


def read_in_pieces(source: Source, size: int = _PIECE) -> Iterator[Pattern]:
    """The top-level patterns of a text one after another, a header record first.

    Args:
        source: the text.
        size: about how many characters are read at a time.

    Raises:
        GramDecodeError: the text is not gram; the patterns before may have been given.

    >>> [pattern.value.identity for pattern in read_in_pieces(Source("(a)\\n(b)"))]
    ['a', 'b']
    """
    expect(source, Source, "source", by="read_in_pieces")
    expect(size, int, "size", by="read_in_pieces")
    start, length = 0, len(source.text)
    while start < length:
        found = _NEXT.search(source.text, start + max(size, 1))
        end = found.end() if found else length
        try:
            patterns = parse_trees(source, start, end)
        except GramDecodeError:  # the piece ends inside a pattern, or there is an error
            if end == length:
                raise
            patterns, end = parse_trees(source, start), length
        yield from patterns
        start = end


class Spans(NamedTuple):
    """The places of one pattern's parts, as offsets into the text.

    Attributes:
        pattern: all of it.
        subject: its identity, labels and record; without a width when it has none of these.
        identity: its name, or None when it is anonymous.
        labels: each label's name.
        keys: each property's key; of a key given twice, the last.
        values: each property's value.
        syntax: the construct of each property's value.
    """

    pattern: Span
    subject: Span
    identity: Span | None
    labels: Mapping[str, Span]
    keys: Mapping[str, Span]
    values: Mapping[str, Span]
    syntax: Mapping[str, Value]

    @classmethod
    def of(cls, construct: Construct) -> Spans:
        """The places of the parts of one construct."""
        part, entries = construct.subject, construct.entries
        identity = part.identity.span if part.identity else None
        labels = {label.name.text: label.name.span for label in part.labels}
        keys = {entry.key.text: entry.key.span for entry in entries}
        syntax = {entry.key.text: entry.value for entry in entries}
        values = {key: value.span for key, value in syntax.items()}
        return cls(construct.span, part.span, identity, labels, keys, values, syntax)

    def part(self, name: str) -> Span | None:
        """The place of a part: ``identity``, ``labels`` (of the first) or a property's value.

        These two names never mean a property that is called so. None when there is no such
        part.
        """
        if name == "identity":
            return self.identity
        if name == "labels":
            return min(self.labels.values(), default=None)
        return self.values.get(name)

    def part_or_subject(self, name: str | None) -> Span:
        """The place of a part; where it is missing, of the subject, or of all when that is empty.

        Without a name, the place of all.
        """
        if name is None:
            return self.pattern
        subject = self.subject if self.subject.start < self.subject.end else self.pattern
        return self.part(name) or subject

    def value(self, key: str, *path: str | int) -> Span:
        """The place of a property's value or, along ``path``, of a value inside it.

        Raises:
            KeyError: no such property, key or index.
        """
        value = self.syntax[key]
        for step in path:
            if isinstance(value, Array) and isinstance(step, int):
                if not 0 <= step < len(value.items):
                    raise KeyError(step)
                value = value.items[step]
            elif isinstance(value, Map):
                value = value.by_key[str(step)].value
            else:
                raise KeyError(step)
        return value.span


def spans_in_text(pattern: Pattern) -> Spans | None:
    """The places of the parts of a pattern where it was read; None when it was made.

    Its text is read once, however many diagnostics ask for its parts.
    """
    place = read_from(pattern)
    if place is None:
        return None
    source, span = place[0], Span(*place[1:])
    known: Spans | None = source.spans.get(span)
    if known is None:
        construct = construct_of(pattern)
        assert construct is not None, "it was read"
        known = source.spans[span] = Spans.of(construct)
    return known


def placed(pattern: Pattern, source: Source, spans: Spans) -> Pattern:
    """An equal pattern that counts as read from a text, which says it in another notation."""
    source.spans[spans.pattern] = spans
    return Pattern._of_checked(pattern.value, pattern.elements, (source, *spans.pattern))


# --- every syntax error

_OPENERS = ("(", "[", "@", "@@")
_REMAINS = (",", "|", ")", "]", "}")


def syntax_errors(text: str, filename: str | None = None) -> tuple[GramDecodeError, ...]:
    """Every syntax error that can be told apart from its neighbours, in the order of the text.

    The first is the one that `gram.loads` raises. A text that is gram has no errors.

    Args:
        text: gram notation, or what should be.
        filename: the name that the errors cite.

    >>> [error.lineno for error in syntax_errors("(a\\n(b)\\n(c {k = 1})\\n(d)")]
    [2, 3]
    """
    expect(text, str, "text", by="syntax_errors")
    expect(filename, (str, type(None)), "filename", by="syntax_errors")
    errors: list[GramDecodeError] = []
    unclosed = 0  # brackets of broken patterns whose ends may still come
    for broken in _broken_parts(Source(text, filename)):
        at = broken.error.pos
        if unclosed and not broken.opened and text.startswith(_REMAINS, at):
            unclosed -= text[at] in ")]}"
        else:
            errors.append(broken.error)
            unclosed += broken.opened
    return tuple(errors)


def readable(text: str) -> str:
    """A text with blanks where it cannot be read, so that it is gram; places stay the same.

    A top-level pattern with an error is left out whole, up to the next bracket that begins a line.
    So whoever looks at a text that is being written sees what is above and below the error.

    >>> readable("(a)\\n[b {k: }\\n(c)")
    '(a)\\n        \\n(c)'
    """
    expect(text, str, "text", by="readable")
    pieces: list[str] = []
    at = 0
    for broken in _broken_parts(Source(text)):
        pieces += text[at : broken.start], re.sub(r"\S", " ", text[broken.start : broken.end])
        at = broken.end
    return "".join([*pieces, text[at:]])


class _Broken(NamedTuple):
    """A part of a text that cannot be read.

    Attributes:
        start, end: where it is.
        error: the first error in it.
        opened: how many brackets are open at the error.
    """

    start: int
    end: int
    error: GramDecodeError
    opened: int


def _broken_parts(source: Source) -> Iterator[_Broken]:
    text, start = source.text, 0
    while error := _error_in(source, start):
        pattern, opened, at = start, 0, start  # where the pattern with the error begins
        for token in takewhile(lambda each: each.type != ERROR, tokens(text, start)):
            if token.start >= error.pos:
                break
            if not opened and _begins_pattern(text, token):
                pattern = token.start
            opened += text[token.start] in "([{"
            opened -= text[token.start] in ")]}" and opened > 0
            at = token.end
        if pattern > start and _error_in(source, start, pattern):
            pattern = start  # annotations are above it
        ahead = _whole_tokens(text, at)
        after = (each.start for each in ahead if each.start > start and _begins_pattern(text, each))
        end = next(after, len(text))
        yield _Broken(pattern, end, error, opened)
        start = end


def _error_in(source: Source, start: int, end: int | None = None) -> GramDecodeError | None:
    """The first error in a part of a text."""
    try:
        parse_trees(source, start, end)
    except GramDecodeError as error:
        return error
    return None


def _begins_pattern(text: str, token: Token) -> bool:
    """Whether a token opens a pattern at the beginning of a line."""
    begins_line = token.start == 0 or text[token.start - 1] == "\n"
    return begins_line and text.startswith(_OPENERS, token.start)


def _whole_tokens(text: str, at: int) -> Iterator[Token]:
    """The tokens from ``at`` on, the rest of a line left out where a string is not closed.

    They end at a fence that is not closed: what follows may be its text.
    """
    while at < len(text):
        for token in tokens(text, at):
            if token.type != ERROR:
                yield token
            elif text.startswith("```", token.start):
                return
            elif text[token.start] in "\"'`":
                line_end = text.find("\n", token.start)
                at = len(text) if line_end < 0 else line_end
                break
        else:
            return
