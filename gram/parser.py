"""Reads a text: drives the table of `gram.grammar` over the tokens and hands the parts on."""

from __future__ import annotations

from functools import cache
from typing import Any

from .builder import Builder
from .errors import MAX_LEVELS, GramDecodeError, GramEncodeError, TooDeepError
from .grammar import grammar
from .lexer import tokens
from .source import Source
from .syntax import Item

# A level of nesting takes at most five places of the parser's stack (`[ subject | elements ,`
# or `{ entries , key :`), so a stack this high is past the limit whatever follows.
_MAX_STACK = 10 * MAX_LEVELS

_NO_ACTION = -(10**9)  # less than any reduction


def parse_items(source: Source, start: int = 0) -> tuple[Item, ...]:
    """The top-level constructs of a text, read from ``start``.

    Raises:
        GramDecodeError: the text is not gram; the error has the place of the first token that
            cannot continue.
    """
    states, end_of_document = _states(), grammar().end
    builder = Builder(source)
    reductions = [
        (rule.symbol, rule.size, getattr(builder, rule.builder) if rule.builder else None)
        for rule in grammar().rules
    ]
    stack: list[int] = [grammar().start]
    parts: list[Any] = []
    taken: list[Any] = []
    try:
        for token in tokens(source.text, start):
            kind = token.type
            while (action := states[stack[-1]].get(kind, _NO_ACTION)) < 0:
                if action == _NO_ACTION:
                    if stack[-1] == end_of_document:
                        items: tuple[Item, ...] = parts[-1]
                        return items
                    from .diagnosis import syntax_error  # only an error needs it

                    raise syntax_error(source, token, start)
                symbol, size, build = reductions[~action]
                if size == 1:
                    if build:
                        taken = parts[-1:]
                        parts[-1] = build(_flat(taken))
                    stack[-1] = states[stack[-2]][symbol]
                    continue
                taken = parts[-size:] if size else []
                if size:
                    del parts[-size:], stack[-size:]
                parts.append(build(_flat(taken)) if build else _spliced(taken))
                stack.append(states[stack[-1]][symbol])
            stack.append(action)
            parts.append(token)
            if len(stack) > _MAX_STACK:
                raise TooDeepError
    except GramEncodeError as error:
        at = (_flat(taken) or [token])[0]
        if isinstance(error, TooDeepError):
            from .diagnosis import depth_error

            raise depth_error(source, at.start, token.end, start) from None
        raise GramDecodeError(str(error), source.text, at.start, filename=source.filename) from None
    raise AssertionError("the lexer ends every text with END")


@cache
def _states() -> tuple[dict[str, int], ...]:
    """The grammar's states with shortcuts past those that only give one part another name.

    Where such a state would be entered, the one after the renaming is entered at once. It would
    rename whatever token follows, so a wrong token is still found in the same place.
    """
    states, rules = grammar().states, grammar().rules

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
    """The parts of a rule that has no construct of its own, handed on to the rule around it.

    Repetitions are left-recursive, so the list so far is the first part: it grows in place.
    """
    parts: list[Any] = taken[0] if isinstance(taken[0], list) else taken[:1]
    for part in taken[1:]:
        parts.extend(part) if isinstance(part, list) else parts.append(part)
    return parts


def _flat(taken: list[Any]) -> list[Any]:
    """The parts of a construct, those handed on from rules below among them."""
    return _spliced([[], *taken]) if list in map(type, taken) else taken
