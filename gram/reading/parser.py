"""Reads a text: drives the grammar's parse table over its tokens, with one of two builders.

`TreeBuilder` makes the trees, which is all that `gram.loads` asks for. `ConstructBuilder` makes
the constructs: how the text spells these trees.

A long text can be read in pieces: trees that are let go of one after another cost less than half
of trees that are all kept, mostly because Python looks through everything that is kept again and
again for what could be freed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import MAX_LEVELS, GramDecodeError, GramEncodeError, TooDeepError, expect
from ..grammar import Grammar, grammar, load_grammar, table_of
from ..source import Source
from ..trees import Pattern, read_from
from .builders import ConstructBuilder, TreeBuilder, start_of
from .lexer import matches, tokens
from .syntax import Construct, Item, Name, Reference, Token

# A level of nesting takes at most five places of the parser's stack (`[ subject | elements ,`
# or `{ entries , key :`), so a stack this high is past the limit whatever follows.
_MAX_STACK = 10 * MAX_LEVELS

_NO_ACTION = -(10**9)  # less than any reduction


def parse_trees(source: Source, start: int = 0, end: int | None = None) -> tuple[Pattern, ...]:
    """The top-level patterns of ``text[start:end]``, a header record first.

    Args:
        source: the text.
        start, end: the part of it to read.

    Raises:
        GramDecodeError: the text is not gram; the error has the place of the first token that
            cannot continue.
    """

    def refused(stop: Stop) -> Exception:
        from .diagnosis import depth_error, syntax_error  # only an error needs it

        last = next(tokens(source.text, stop.last.start(1), end))
        if stop.problem is None:
            return syntax_error(source, last, start)
        at = start_of(stop.first)
        if isinstance(stop.problem, TooDeepError):
            return depth_error(source, at, last.end, start)
        return GramDecodeError(str(stop.problem), source.text, at, filename=source.filename)

    found = matches(source.text, start, end)
    trees: tuple[Pattern, ...] = _parse(_tables(TreeBuilder), found, TreeBuilder(source), refused)
    return trees


def parse_constructs(
    source: Source, patterns: Sequence[Pattern], start: int = 0, end: int | None = None
) -> tuple[Item, ...]:
    """The top-level constructs of ``text[start:end]``, which says these patterns.

    They are read apart from the trees, because most texts are never asked for them.

    Args:
        source: the text.
        patterns: what it says.
        start, end: the part of it to read.
    """
    items = constructs_of(source.text, tokens(source.text, start, end))
    for item, pattern in zip(items, patterns, strict=True):
        item.stand_for(pattern)
    return items


def constructs_of(text: str, read: Iterable[Token]) -> tuple[Item, ...]:
    """The top-level constructs of tokens, `END` last, which are known to have no error.

    They hold no patterns yet.
    """

    def refused(stop: Stop) -> Exception:
        return AssertionError(f"only texts without errors are read again: {stop.problem}")

    named = ((token.type, token) for token in read)
    items: tuple[Item, ...] = _parse(
        _tables(ConstructBuilder), named, ConstructBuilder(text), refused
    )
    return items


class Stop(NamedTuple):
    """Why a text cannot be read further.

    Attributes:
        first: the first part of what is wrong: a token, or what the builder made.
        last: the last token of it; the token that does not fit, when ``problem`` is None.
            (For gram itself a match of the lexer, which costs less than a token.)
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
    names = {literal: name for name, literal in tables.grammar.literals.items()}
    named = (
        Token(token.start, token.end, names.get(text[token.start : token.end], token.type))
        for token in tokens(text)
    )
    read = ((token.type, token) for token in named)
    return _parse(tables, read, builder, refuse)


def _parse(
    tables: _Tables,
    read: Iterable[tuple[str, Any]],
    builder: object,
    refuse: Callable[[Stop], Exception],
) -> Any:
    """What the builder makes of tokens, each with its terminal, as the grammar's table leads it.

    A builder may have None for a rule of one part that it leaves as it is.
    """
    grammar, states, reductions = tables
    stack: list[int] = [grammar.start]
    parts: list[Any] = []
    taken: list[Any] = []
    problem: GramEncodeError | None
    try:
        for kind, token in read:
            while (action := states[stack[-1]].get(kind, _NO_ACTION)) < 0:
                if action == _NO_ACTION:
                    if stack[-1] == grammar.end:
                        return parts[-1]
                    raise refuse(Stop(token, token, states[stack[-1]]))
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


class _Tables(NamedTuple):
    """What drives the parser: a grammar, and what a builder makes of each of its rules.

    Attributes:
        grammar: the grammar.
        states: its states, see `_with_shortcuts`.
        reductions: for each rule its symbol, how many parts it has, and the builder's method.
    """

    grammar: Grammar
    states: Sequence[dict[str, int]]
    reductions: Sequence[tuple[str, int, Callable[..., Any] | None]]


@cache
def _tables(builder: type, definition: Path | None = None) -> _Tables:
    """The tables for a kind of builder and a grammar, by default that of gram."""
    own = load_grammar(definition, table_of(definition)) if definition else grammar()
    reductions = [
        (each.symbol, len(each.parts), getattr(builder, each.builder) if each.builder else None)
        for each in own.rules
    ]
    return _Tables(own, _with_shortcuts(own), reductions)


def construct_of(pattern: Pattern) -> Construct | None:
    """The syntax of a pattern that was read, with offsets of its text; None when it was made.

    Only the pattern's own part of the text is read.
    """
    place = read_from(pattern)
    if place is None:
        return None
    source, start, end = place
    if source.text[start] in "[({@":
        return parse_constructs(source, [pattern], start, end)[0]
    reference = Reference(start, end, Name(start, end, pattern.value.identity))
    reference.stand_for(pattern)
    return reference


def _with_shortcuts(grammar: Grammar) -> Sequence[dict[str, int]]:
    """A grammar's states with shortcuts past those that only give one part another name.

    Where such a state would be entered, the one after the renaming is entered at once. It would
    rename whatever token follows, so a wrong token is still found in the same place.
    """
    states, rules = grammar.states, grammar.rules

    def past_renaming(state: int, target: int) -> int:
        while len(actions := set(states[target].values())) == 1 and (action := min(actions)) < 0:
            rule = rules[~action]
            if len(rule.parts) != 1 or rule.builder:
                break
            target = states[state][rule.symbol]
        return target

    return tuple(
        {
            symbol: past_renaming(number, action) if action >= 0 else action
            for symbol, action in actions.items()
        }
        for number, actions in enumerate(states)
    )


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
