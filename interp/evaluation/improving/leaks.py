"""What a candidate may not hold: parts of the cases, which it would then know by heart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from unicodedata import normalize

from attrs import asdict, has

from gram import Pattern, TaggedString, walk

from ..cases import Case

MOST_WORDS: Final = 7
"""How many words in a row a candidate and a case may share."""

_SHORT_ANSWER: Final = 3
"""An expected answer of more words may not be in a candidate as a whole."""

_ANSWERS: Final = ("expected", "contains", "json", "calls")
"""The expectations that say an answer, or a part of one."""


class Leaks:
    """Finds parts of cases that the program did not have.

    Args:
        cases: all cases, of every set.
        program: the patterns of the program.
    """

    def __init__(self, cases: Iterable[Case], program: Iterable[Pattern]) -> None:
        self._runs: dict[str, str] = {}
        self._answers: dict[str, str] = {}
        for case in cases:
            attached = [
                each.content.decode(errors="replace")
                for each in case.attachments
                if each.content and each.media_type.startswith("text/")
            ]
            for text in _texts([case.input, case.expectations, case.columns, attached]):
                self._runs.update(dict.fromkeys(_in_a_row(_words(text)), case.name))
            for value in map(case.expectations.get, _ANSWERS):
                for text in (*_texts(value), " ".join(_texts(value))):
                    if len(words := _words(text)) > _SHORT_ANSWER:
                        self._answers[_joined(words)] = case.name
        had = [_words(text) for _, each in walk(program) for text in _texts(each.value.properties)]
        for words in had:
            for run in _in_a_row(words):
                self._runs.pop(run, None)
        known = "".join(map(_joined, had))
        self._answers = {text: name for text, name in self._answers.items() if text not in known}

    def of(self, value: Any) -> str | None:
        """What a text, or the texts in a value, have of the cases, in words; None for nothing."""
        words = _words(" ".join(_texts(value)))
        for run in _in_a_row(words):
            if name := self._runs.get(run):
                return f'it repeats "{run.strip()}" of case {name}'
        said = _joined(words)
        for answer, name in self._answers.items():
            if answer in said:
                return f"it has the whole answer that case {name} expects"
        return None


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value, those that are keys of maps too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, TaggedString):
        yield value.content
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from (key, *_texts(each))
    elif isinstance(value, Iterable):
        for each in value:
            yield from _texts(each)
    elif has(type(value)):
        yield from _texts(asdict(value, recurse=False))
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", normalize("NFKC", text).casefold())


def _joined(words: Iterable[str]) -> str:
    return f" {' '.join(words)} "


def _in_a_row(words: list[str]) -> Iterator[str]:
    for start in range(len(words) - MOST_WORDS):
        yield _joined(words[start : start + MOST_WORDS + 1])
