"""Reads a text: drives the grammar's parse table over its tokens, with one of two builders.

`TreeBuilder` makes the trees, which is all that `gram.loads` asks for. `ConstructBuilder` makes
the constructs: how the text spells these trees.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..errors import MAX_LEVELS, GramDecodeError, GramEncodeError, TooDeepError, expect
from ..grammar import Grammar, grammar, load_grammar, table_of
from ..source import Source
from ..trees import Pattern, read_from
from . import phrases
from .construct_builder import ConstructBuilder
from .lexer import ELEMENT, NOTHING, Known, matches, tokens
from .syntax import Bracket, Construct, Item, Name, Reference, Token
from .tree_builder import TreeBuilder, start_of

# A level of nesting takes at most five places of the parser's stack (`[ subject | elements ,`
# or `{ entries , key :`), so a stack this high is past the limit whatever follows.
_MAX_STACK = 10 * MAX_LEVELS

_NO_ACTION = -(10**9)  # less than any reduction


def parse_trees(
    source: Source, start: int = 0, end: int | None = None, *, known: Known = NOTHING
) -> tuple[Pattern, ...]:
    """The top-level patterns of ``text[start:end]``, a header record first.

    Args:
        source: the text.
        start, end: the part of it to read.
        known: elements that are taken as they are, because their text was copied: each has a
            place in another text. Where they do not fit, everything is read.

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

    trees: tuple[Pattern, ...]
    found: Iterable[tuple[str, Any]]
    if len(source.text) - start >= phrases.LONG:
        with suppress(_TokenByTokenError):
            found = phrases.phrases(source.text, start, end, known)
            trees = _parse(
                grammar(), _phrase_states(), found, TreeBuilder(source), _TokenByTokenError
            )
            return trees
    elif known:
        with suppress(_NotKnownError):
            found = matches(source.text, start, end, known)
            trees = _parse(grammar(), _element_states(), found, TreeBuilder(source), _NotKnownError)
            return trees
    found = matches(source.text, start, end)
    trees = _parse(grammar(), _states(), found, TreeBuilder(source), refused)
    return trees


class _TokenByTokenError(Exception):
    """A text with an error, which is read once more without phrases to say what it is."""


class _NotKnownError(Exception):
    """What should be known does not fit into the text."""


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
    read = ((token.type, token) for token in tokens(source.text, start, end))
    items: tuple[Item, ...] = parse_again(read, ConstructBuilder(source.text))
    for item, pattern in zip(items, patterns, strict=True):
        item.stand_for(pattern)
    return items


def parse_again(read: Iterable[tuple[str, Any]], builder: object) -> Any:
    """What another builder makes of a text that was read before, so that it has no error.

    Args:
        read: its tokens, `END` last: the terminal of each, and what the builder is given for it.
        builder: has a method for each rule of the grammar, or None for a rule of one part that it
            leaves as it is.
    """

    def refused(stop: Stop) -> Exception:
        return AssertionError(f"only texts without errors are read again: {stop.problem}")

    return _parse(grammar(), _states(), read, builder, refused)


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
    expect(definition, Path, "definition", by="parse_tokens")
    expect(text, str, "text", by="parse_tokens")
    expect(refuse, Callable, "refuse", by="parse_tokens")
    own, states = _tables(definition)
    names = {literal: name for name, literal in own.literals.items()}
    named = (
        Token(token.start, token.end, names.get(text[token.start : token.end], token.type))
        for token in tokens(text)
    )
    read = ((token.type, token) for token in named)
    return _parse(own, states, read, builder, refuse)


def _parse(
    grammar: Grammar,
    states: Sequence[dict[str, int]],
    read: Iterable[tuple[str, Any]],
    builder: object,
    refuse: Callable[[Stop], Exception],
) -> Any:
    """What the builder makes of tokens, each with its terminal, as the grammar's table leads it.

    A builder may have None for a rule of one part that it leaves as it is.
    """
    reductions = _reductions(grammar, type(builder))
    stack: list[int] = [grammar.start]
    parts: list[Any] = []
    taken: list[Any] = []
    problem: GramEncodeError | None
    try:
        for kind, token in read:
            while (action := states[stack[-1]].get(kind, _NO_ACTION)) < 0:
                if action == _NO_ACTION:
                    if type(token) is list and isinstance(read, Generator):
                        kind, token = read.send(True)  # the phrase does not fit here, its token may
                        continue
                    if stack[-1] == grammar.end:
                        return parts[-1]
                    raise refuse(Stop(token, token, states[stack[-1]]))
                symbol, size, build, takes_parts = reductions[~action]
                if size == 1:
                    if build:
                        taken = parts[-1:]
                        parts[-1] = build(builder, _flat(taken) if takes_parts else taken)
                    stack[-1] = states[stack[-2]][symbol]
                    continue
                taken = parts[-size:] if size else []
                if size:
                    del parts[-size:], stack[-size:]
                if build:
                    parts.append(build(builder, _flat(taken) if takes_parts else taken))
                else:
                    parts.append(_spliced(taken))
                stack.append(states[stack[-1]][symbol])
            if action >= len(states):
                symbol, _, build, _ = reductions[action - len(states)]
                parts.append(build(builder, token) if build else token)
                stack.append(states[stack[-1]][symbol])
                continue
            stack.append(action)
            parts.append(token)
            if len(stack) > _MAX_STACK:
                raise TooDeepError
    except GramEncodeError as error:
        problem = error
    else:
        raise AssertionError("the lexer ends every text with END")
    raise refuse(Stop((_flat(taken) or [token])[0], token, (), problem))


def _reductions(
    grammar: Grammar, kind: type
) -> Sequence[tuple[str, int, Callable[..., Any] | None, bool]]:
    """What each rule makes, of how many parts, and the method of a kind of builder that does."""
    known = _BUILDERS.get(kind)
    if known is None or known[0] is not grammar:
        known = _BUILDERS[kind] = (
            grammar,
            [
                (
                    rule.symbol,
                    rule.size,
                    getattr(kind, rule.builder) if rule.builder else None,
                    rule.takes_parts,
                )
                for rule in grammar.rules
            ],
        )
    return known[1]


_BUILDERS: WeakKeyDictionary[type, tuple[Grammar, Sequence[Any]]] = WeakKeyDictionary()


def construct_of(pattern: Pattern) -> Construct | None:
    """The syntax of a pattern that was read, with offsets of its text; None when it was made.

    Only the pattern's own part of the text is read. The constructs of a bracket's elements are
    read when they are asked for.
    """
    expect(pattern, Pattern, "pattern", by="construct_of")
    place = read_from(pattern)
    if place is None:
        return None
    source, start, end = place
    if source.text[start] == "[":
        return _bracket_of(pattern, source, start, end)
    if source.text[start] in "({@":
        return parse_constructs(source, [pattern], start, end)[0]
    reference = Reference(start, end, Name(start, end, pattern.value.identity))
    reference.stand_for(pattern)
    return reference


def _bracket_of(pattern: Pattern, source: Source, start: int, end: int) -> Construct:
    """The syntax of a bracket, that of its elements still to be read."""
    places = [read_from(element) for element in pattern.elements]
    known = {
        place[1]: element
        for place, element in zip(places, pattern.elements, strict=True)
        if place is not None and place[0] is source
    }
    read = (
        (kind, token if kind == ELEMENT else Token(token.start(1), token.end(1), kind))
        for kind, token in matches(source.text, start, end, known)
    )
    builder = ConstructBuilder(source.text)
    with suppress(_NotKnownError):
        (bracket,) = _parse(grammar(), _element_states(), read, builder, _NotKnownError)
        if isinstance(bracket, Bracket) and bracket.leave(pattern, construct_of):
            return bracket
    return parse_constructs(source, [pattern], start, end)[0]  # of a pattern changed since


@cache
def _tables(definition: Path) -> tuple[Grammar, Sequence[dict[str, int]]]:
    own = load_grammar(definition, table_of(definition))
    return own, _with_shortcuts(own)


@cache
def _states() -> Sequence[dict[str, int]]:
    return _with_shortcuts(grammar())


@cache
def _element_states() -> Sequence[dict[str, int]]:
    """The states with an action for an element that is known, where one can come.

    It is the reduction that whatever an element begins with would lead to.
    """
    begins = grammar().first[ELEMENT]
    wider = [dict(actions) for actions in _states()]
    for actions in wider:
        (action, *others) = {actions.get(terminal, 0) for terminal in begins}
        if action < 0 and not others:
            actions[ELEMENT] = action
    return wider


@cache
def _phrase_states() -> Sequence[dict[str, int]]:
    return phrases.phrase_states(grammar(), _element_states())


def _with_shortcuts(grammar: Grammar) -> Sequence[dict[str, int]]:
    """A grammar's states with shortcuts past those that only give one part another name.

    Where such a state would be entered, the one after the renaming is entered at once. It would
    rename whatever token follows, so a wrong token is still found in the same place.
    """
    states, rules = grammar.states, grammar.rules

    def past_renaming(state: int, target: int) -> int:
        while len(actions := set(states[target].values())) == 1 and (action := min(actions)) < 0:
            rule = rules[~action]
            if rule.size != 1 or rule.builder:
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


def _spliced(taken: list[Any]) -> list[Any]:
    """The parts of a rule without a builder, for the rule around it.

    Repetitions are left-recursive, so the list so far is the first part: it grows in place.
    """
    parts: list[Any] = taken[0] if isinstance(taken[0], list) else taken[:1]
    for part in taken[1:]:
        parts.extend(part) if isinstance(part, list) else parts.append(part)
    return parts


def _flat(taken: list[Any]) -> list[Any]:
    """The parts of a construct, those handed on from rules below among them."""
    return _spliced([[], *taken]) if list in map(type, taken) else taken
