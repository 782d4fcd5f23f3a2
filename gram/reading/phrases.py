"""Cuts a long text into phrases; what is not part of a phrase is cut into tokens.

A phrase is a subject between two marks (see `gram.phrases`). What is spelled alike is read once:
it is one object in all trees of the text, which are immutable.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from functools import cache
from typing import Any

from pyrsistent import PMap, pmap

from ..errors import GramEncodeError
from ..grammar import Grammar, grammar
from ..phrases import Phrases
from ..trees import Subject, Value
from .lexer import (
    ELEMENT,
    END,
    KEPT,
    NOTHING,
    Known,
    between_and,
    first_offset,
    length_of,
    next_token,
    terminal_of,
)
from .scalars import SCALARS, read_name

LONG = 16_384
"""The length from which on reading phrases pays for compiling their expressions."""


@cache
def _phrases() -> Phrases:
    known = grammar().phrases
    assert known is not None, "gram has subjects"
    return known


@cache
def _next_phrase() -> re.Pattern[str]:
    """As `next_token`, a phrase before a token; its groups come after the whole."""
    return between_and(_phrases().phrase)


def phrases(
    text: str, start: int, end: int | None, elements: Known = NOTHING
) -> Generator[tuple[str, Any], bool, None]:
    """What `gram.reading.lexer.matches` gives, but phrases for the tokens that they consist of.

    A phrase is named by its marks, and is the parts of its rule: a match that spans all of it in
    place of the first mark, the subject, and the match in place of the last. Send True to take
    back a phrase that no rule is waiting for: its first token comes in its stead.
    """
    at, stop = first_offset(text, start), len(text) if end is None else end
    literals = grammar().literals
    pairs = {tuple(literals[mark] for mark in marks.split()): marks for marks in _phrases().rules}
    known: dict[str, tuple[str | None, Subject | None]] = {
        literal: (name, None) for name, literal in literals.items()
    }
    subjects = _Subjects()
    while True:
        for match in _next_phrase().finditer(text, at, stop):
            spelling = match[1]
            if elements and (element := elements.get(match.start(1))) is not None:
                yield ELEMENT, element
                at = match.start(1) + length_of(element)
                break
            if (found := known.get(spelling)) is None:
                first, identity, labels, record, last = match.group(2, 3, 4, 5, 6)
                if first:
                    subject = subjects.read(identity, labels, record)
                    found = (pairs.get((first, last)) if subject else None), subject
                elif spelling:
                    found = terminal_of(text, match, stop), None
                else:
                    yield END, match
                    return
                if len(spelling) <= KEPT:
                    known[spelling] = found
            name, subject = found
            if name is not None:
                takes_back = yield name, (match if subject is None else [match, subject, match])
                if not takes_back:
                    continue
            token = next_token().match(text, match.start(1), stop)
            assert token is not None
            yield terminal_of(text, token, stop), token
            at = token.end()
            break


def phrase_states(own: Grammar, states: Sequence[Mapping[str, int]]) -> Sequence[dict[str, int]]:
    """The states of the grammar with an action for each phrase, under the names of its marks.

    It is the action for the first mark, where that is a reduction; else the rule that the phrase
    is of and the state waits for, as a number beyond those of the states.
    """
    wider = [dict(actions) for actions in states]
    for marks, numbers in _phrases().rules.items():
        for actions in wider:
            action = actions.get(marks.split()[0])
            if action is not None and action >= 0:
                fits = (number for number in numbers if own.rules[number].symbol in actions)
                action = next((len(states) + number for number in fits), None)
            if action is not None:
                actions[marks] = action
    return wider


class _Subjects:
    """Reads subjects by how their parts are spelled, each short spelling once."""

    def __init__(self) -> None:
        self.label = re.compile(_phrases().label, re.ASCII)
        self.entry = re.compile(_phrases().entry, re.ASCII)
        self.scalars = {name: SCALARS[rule] for name, rule in _phrases().values.items()}
        self.labels: dict[str | None, frozenset[str]] = {None: frozenset()}
        self.records: dict[str | None, PMap[str, Value]] = {None: pmap()}
        self.values: dict[str, Value] = {}

    def read(self, identity: str | None, labels: str | None, record: str | None) -> Subject | None:
        """The subject whose parts are spelled so; None when there is more to say of one of them."""
        try:
            name = "" if identity is None else read_name(identity)
            known, properties = self._labels(labels), self._record(record)
        except GramEncodeError:
            return None
        return None if properties is None else Subject._of_checked(name, known, properties, 0)

    def _labels(self, spelling: str | None) -> frozenset[str]:
        found = self.labels.get(spelling)
        if found is None:
            assert spelling is not None
            names = (match[1] for match in self.label.finditer(spelling))
            found = self.labels[spelling] = frozenset([read_name(name) for name in names if name])
        return found

    def _record(self, spelling: str | None) -> PMap[str, Value] | None:
        """The properties in a record; None when a key is given again."""
        found = self.records.get(spelling)
        if found is None:
            assert spelling is not None
            entries = [match for match in self.entry.finditer(spelling) if match[1]]
            values = {read_name(match[1]): self._value(match) for match in entries}
            if len(values) < len(entries):
                return None
            found = pmap(values)
            if len(spelling) <= KEPT:
                self.records[spelling] = found
        return found

    def _value(self, entry: re.Match[str]) -> Value:
        assert entry.lastgroup is not None
        spelling = entry[entry.lastgroup]
        found = self.values.get(spelling)
        if found is None:
            found = self.scalars[entry.lastgroup](spelling)
            if len(spelling) <= KEPT:
                self.values[spelling] = found
        return found
