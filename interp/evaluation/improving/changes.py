"""What a search may change in a program, and what a candidate may not hold of the cases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import unified_diff
from functools import partial
from typing import Any, Final, TypeAlias
from unicodedata import normalize

from attrs import asdict, frozen, has

from gram import GramError, Pattern, TaggedString, walk, write_value
from gram.errors import expect_all
from lenses_ext import (
    FocusError,
    PathError,
    Place,
    Project,
    ReadOnlyError,
    change_places,
    find_places,
    new_errors,
)
from lenses_ext.labels import is_tool
from lenses_ext.places import read_value

from ...errors import ConfigurationError, ValidationError
from ...json_text import write_json
from ...shown import short_repr
from ..cases import Case

Candidate: TypeAlias = Mapping[str, str]
"""Texts by path: strings as they are, other values in gram notation."""


@frozen
class Changeable:
    """The places of a program that may change.

    Attributes:
        program: the program as it was read.
        places: the places by their paths.
    """

    program: Project
    places: Mapping[str, Place]

    @classmethod
    def of(cls, program: Project, paths: str | Iterable[str]) -> Changeable:
        """The places that paths lead to, as `gram set` reads them; commas part several in a text.

        Raises:
            ConfigurationError: a path leads nowhere, or to something that is no text or value.
        """
        paths = expect_all(
            paths.split(",") if isinstance(paths, str) else paths, str, "change", by="improve"
        )
        if not paths:
            raise ConfigurationError("nothing may change: name a path, such as desk.instruction")
        found: dict[Any, Place] = {}
        for path in paths:
            try:
                places = find_places(program, path.strip())
                for each in places:
                    _expect_a_value(program, each)
                    found.setdefault((each.tree_path, each.inside), each)  # two paths may meet
            except PathError as error:
                raise ConfigurationError(f"{program.filename}: {error}") from None
            except GramError as error:
                said = error.in_words if isinstance(error, FocusError | ReadOnlyError) else error
                raise ConfigurationError(f"{path.strip()} cannot change: {said}") from None
        return cls(program, {each.path: each for each in found.values()})

    @property
    def texts(self) -> dict[str, str]:
        """What is at the places now."""
        return {path: _text(each.get(self.program.patterns)) for path, each in self.places.items()}

    @property
    def changes_tools(self) -> bool:
        """Whether texts of tools may change: their implementations have the old ones."""
        patterns = self.program.patterns
        return any(is_tool(each.pattern(patterns)) for each in self.places.values())

    def written(self, path: str, given: Any) -> str:
        """The text of what a proposer gave for a path; `with_texts` checks it.

        Raises:
            ValidationError: it is no text where one is, or no JSON value.
        """
        if isinstance(given, str):
            return given
        place = self.places.get(path)
        if place and isinstance(place.get(self.program.patterns), str | None):
            raise ValidationError(f"{path}: expected a text, got {short_repr(given)}")
        try:
            return write_json(given)
        except ValueError as error:
            raise ValidationError(f"{path}: {error}") from None

    def with_texts(self, candidate: Candidate) -> Project:
        """The program with other texts; every byte outside of them stays.

        Raises:
            ValidationError: a path may not change, a place cannot have its text, or the program
                would have new errors.
            GramEncodeError: no notation has the text.
        """
        now = self.texts
        changes: list[tuple[Place, Callable[[Any], Any]]] = []
        for path, text in candidate.items():
            if path not in self.places:
                raise ValidationError(f"{path} may not change; what may: {', '.join(self.places)}")
            if text != now[path]:
                changes.append((self.places[path], partial(_read, text)))
        try:
            changed = self.program.replace(change_places(self.program.patterns, changes))
        except (FocusError, ReadOnlyError) as error:
            raise ValidationError(error.in_words) from None
        if errors := new_errors(self.program, changed):
            raise ValidationError("; ".join(each.message for each in errors))
        return changed.as_read()


def _expect_a_value(program: Project, place: Place) -> None:
    value = place.get(program.patterns)
    if isinstance(value, Pattern | tuple):  # models are a tuple, too
        raise ConfigurationError(
            "it is no text, number or other plain value; name one in it, such as its description"
        )
    change_places(program.patterns, [(place, lambda old: old)])  # refuses what is computed


def _read(text: str, old: Any) -> Any:
    return text if old is None else read_value(text, old)


def _text(value: Any) -> str:
    return value or "" if isinstance(value, str | None) else write_value(value)


def diff_of(before: Project, after: Project) -> str:
    """The unified difference between the files of two programs; empty if there is none."""
    lines: list[str] = []
    for path in after.changed_since(before):
        old, new = before.documents[path], after.documents[path]
        name = str(old.filename)
        was, now = (each.text.splitlines(keepends=True) for each in (old, new))
        for line in unified_diff(was, now, name, f"{name} (new)"):
            lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)


MOST_WORDS: Final = 7
"""How many words in a row a candidate and a case may share."""

_SHORT_ANSWER: Final = 3
"""An expected answer of more words may not be in a candidate as a whole."""

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
)
"""Scripts that are written without spaces (Thai, Lao, Burmese, Khmer, Kana, Han): a character of
them counts as a word."""

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
            for text in _texts([case.input, case.after, case.expectations, case.columns, attached]):
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
    return re.findall(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+", normalize("NFKC", text).casefold())


def _joined(words: Iterable[str]) -> str:
    return f" {' '.join(words)} "


def _in_a_row(words: list[str]) -> Iterator[str]:
    for start in range(len(words) - MOST_WORDS):
        yield _joined(words[start : start + MOST_WORDS + 1])
