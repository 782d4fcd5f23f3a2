"""What a search may change, who proposes it, and what a candidate may not hold of the cases."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import unified_diff
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeAlias, Union
from unicodedata import normalize

from attrs import asdict, frozen, has

import lenses_ext
from gram import Document, GramError, Pattern, TaggedString, loads_one, walk, write_value
from gram.errors import expect_all
from lenses_ext import FocusError, Model, Place, ProgramLike, Project, ReadOnlyError
from lenses_ext.labels import is_tool
from lenses_ext.places import read_value

from ...errors import ConfigurationError, ValidationError, said_by
from ...execution import Spending
from ...history.records import event_lines, pattern_line
from ...history.stores import load_run
from ...json_text import Json, read_json, write_json
from ...models import OFFLINE, LanguageModel, without_thinking
from ...running import RunOptions, begin
from ...shown import short_repr
from ...tools import is_from_outside
from ..cases import Case
from ..experiments import Trial
from ..experiments.arms import ReadyArm
from ..experiments.carrying_out import Spent
from ..experiments.plan import entry

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
        found: dict[Any, Place] = {}
        listed = paths.split(",") if isinstance(paths, str) else paths
        for path in expect_all(listed, str, "change", by="improve"):
            try:
                places = lenses_ext.find_places(program, path.strip())
                same = [(each, lambda old: old) for each in places]
                lenses_ext.change_places(program.patterns, same)  # refuses what is computed
                for each in places:
                    if isinstance(each.get(program.patterns), Pattern | tuple):  # models are tuples
                        raise ConfigurationError(
                            "it is no text, number or other plain value; name one in it, such as "
                            "its description"
                        )
                    found.setdefault((each.tree_path, each.inside), each)  # two paths may meet
            except GramError as error:
                said = error.in_words if isinstance(error, FocusError | ReadOnlyError) else error
                raise ConfigurationError(f"{path.strip()} cannot change: {said}") from None
        if not found:
            raise ConfigurationError("nothing may change: name a path, such as desk.instruction")
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
            changed = self.program.replace(lenses_ext.change_places(self.program.patterns, changes))
        except (FocusError, ReadOnlyError) as error:
            raise ValidationError(error.in_words) from None
        if errors := lenses_ext.new_errors(self.program, changed):
            raise ValidationError("; ".join(each.message for each in errors))
        return changed.as_read()


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
    """Finds parts of cases, of every set, that the program did not have."""

    def __init__(self, cases: Iterable[Case], program: Iterable[Pattern]) -> None:
        self._runs: dict[str, str] = {}
        self._answers: dict[str, str] = {}
        for case in cases:
            files = (each for each in case.attachments if each.media_type.startswith("text/"))
            attached = [(each.content or b"").decode(errors="replace") for each in files]
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


_LONGEST_TRACE = 8_000  # characters of one run


@frozen
class FailingRun:
    """A run that did not do well.

    Attributes:
        case: its case.
        problem: what was wrong, in words.
        trace: what happened, as gram: an event a line.
    """

    case: Case
    problem: str
    trace: str

    @classmethod
    def of(cls, trial: Trial, metric: str) -> FailingRun:
        """The run of a trial, read where it was recorded."""
        assert trial.run
        trace = "\n".join(event_lines(load_run(str(trial.run)).state))
        if len(trace) > _LONGEST_TRACE:
            trace = f"{trace[:_LONGEST_TRACE]}\n// and more"
        score = trial.scores[metric]
        return cls(trial.case, trial.failure or score.problem or f"{metric}: {score.value}", trace)

    @property
    def text(self) -> str:
        """The run as gram."""
        told = {"input": self.case.message, "wrong": self.problem, **self.case.expectations}
        return f"{pattern_line(entry('Failing', told))}\n{self.trace}"


@frozen
class Question:
    """What a proposer is asked.

    Attributes:
        program: the program with the texts as they are now.
        texts: the texts that may change, by path.
        failing: runs that failed with them.
        refused: why earlier proposals were refused.
        most: how many characters the texts may have together.
    """

    program: str
    texts: Candidate
    failing: tuple[FailingRun, ...]
    refused: tuple[str, ...]
    most: int

    @property
    def text(self) -> str:
        """The question as a model is asked it."""
        texts = (
            pattern_line(entry("Text", {"path": path, "text": text}))
            for path, text in self.texts.items()
        )
        parts = [
            ("The program", self.program),
            ("The texts that may change", "\n".join(texts)),
            ("Runs that failed", "\n\n".join(each.text for each in self.failing)),
        ]
        if self.refused:
            parts.append(("Earlier proposals were refused", "\n".join(self.refused)))
        told = "\n\n".join(f"# {title}\n\n{text}" for title, text in parts)
        return f"{told}\n\nThe texts may have {self.most} characters together."


Proposer: TypeAlias = Union[
    str, "os.PathLike[str]", Model, LanguageModel, ProgramLike, Callable[[Question], Any], None
]
"""A model or its name, an agent or its file, or a function that is given a `Question` and gives
the new texts by path. None is the program's own model."""


Ask: TypeAlias = Callable[[Question, "os.PathLike[str] | str | None"], tuple[Json, Spent]]
"""Asks a proposer: its answer, and what it took. Its run is recorded where the second argument
says."""


def proposer_of(given: Proposer, arm: ReadyArm) -> Ask:
    """How a proposer is asked; where none is named, the model of the arm.

    Raises:
        ConfigurationError: it is the offline model, which proposes nothing.
        ValidationError, OSError, GramDecodeError: its program cannot be used.
    """
    if callable(given) and not hasattr(given, "complete"):
        return lambda question, _: (_called(given, question), Spent())
    options: RunOptions = {}
    written = files(__package__).joinpath("proposer.gram").read_text("utf-8")
    program: ProgramLike = loads_one(written)
    if given is None:
        options = {**arm.where, "model": arm.fresh_model() or arm.model}
    elif isinstance(given, Pattern | Document | Project):
        program = given
    elif isinstance(given, str | os.PathLike) and Path(given).suffix == ".gram":
        program = lenses_ext.load_project(given)
    else:
        options["model"] = given  # type: ignore[typeddict-item]  # another type is refused when it runs
    if str(options.get("model")) == str(OFFLINE):
        raise ConfigurationError(
            f"{OFFLINE} is no language model and proposes nothing: name another proposer, a model, "
            "an agent or a function"
        )
    begin(program, "a first question", **options)  # its program is valid, its model is known

    def ask(question: Question, record: os.PathLike[str] | str | None) -> tuple[Json, Spent]:
        spending = Spending()
        chosen: RunOptions = {**options, "watch": spending.count, "record": record}
        run = begin(program, question.text, **chosen)
        response = run.finish()
        took = Spent(run.state.usage.total_tokens, spending.cost())
        return _object_in(response.value, response.content), took

    return ask


def _called(function: Callable[[Question], Any], question: Question) -> Json:
    try:
        return function(question)
    except BaseException as error:  # user code may raise anything
        if is_from_outside(error):
            raise
        raise ConfigurationError(f"the proposer raised {said_by(error)}") from error


def _object_in(value: Json, content: str) -> Json:
    """The object that an answer is or has: models like to say more."""
    if isinstance(value, Mapping):
        return value
    said = without_thinking(content)
    try:
        return read_json(said[said.index("{") : said.rindex("}") + 1])
    except ValueError:
        return content
