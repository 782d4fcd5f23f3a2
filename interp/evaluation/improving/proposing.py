"""Who proposes changes: a model, an agent or a function, from runs that failed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, Union

from attrs import frozen

from gram import Document, Pattern, Subject
from gram.errors import expect
from lenses_ext import Model, ProgramLike, Project, load_project
from lenses_ext.labels import AGENT

from ...errors import ConfigurationError, said_by
from ...execution import Spending
from ...history.records import event_lines, pattern_line, write_text
from ...history.stores import load_run
from ...json_text import Json, read_json
from ...machine import Usage
from ...models import OFFLINE, LanguageModel
from ...running import RunOptions, begin
from ...tools import is_from_outside
from ..cases import Case
from ..experiments import Trial
from ..experiments.arms import ReadyArm
from .changes import Candidate

_LONGEST_TRACE = 8_000  # characters of one run

_INSTRUCTION = """\
You make an agent better by changing some of its texts. You are told its program, the texts that may
change by their paths, and runs that failed: what was asked, what was wanted, what was wrong, and
what happened. Find out what the failures have in common, and change the texts so that runs of this
kind succeed, those that you do not see too. Say what to do in general. Never quote a case, and
never write its answer into a text. Answer with a JSON object alone, from paths to new texts,
without any path that stays as it is. A value that is no text is written as it is in the program."""


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
        told = {"input": self.case.message, "wrong": self.problem}
        for name, value in self.case.expectations.items():
            told[name] = value if isinstance(value, str) else str(value)
        properties = {key: write_text(value) for key, value in told.items()}
        return f"{pattern_line(Pattern(Subject('', {'Failing'}, properties)))}\n{self.trace}"


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
            pattern_line(Pattern(Subject("", {"Text"}, {"path": path, "text": write_text(text)})))
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


@frozen
class Proposed:
    """What a proposer said, and what that took.

    Attributes:
        answer: its answer: texts by path, if it did as it was asked.
        usage: the tokens.
        cost: what they cost in US dollars, or None if that is not known.
    """

    answer: Json
    usage: Usage = Usage(0, 0)
    cost: float | None = 0.0


Ask: TypeAlias = Callable[[Question, "os.PathLike[str] | str | None"], Proposed]
"""Asks a proposer; its run is recorded where the second argument says."""


def proposer_of(given: Proposer, arm: ReadyArm) -> Ask:
    """How a proposer is asked.

    Args:
        given: the proposer.
        arm: the program as it is run, whose model is asked where none is named.

    Raises:
        ConfigurationError: it is the offline model, which proposes nothing.
        ValidationError, OSError, GramDecodeError: its program cannot be used.
    """
    if callable(given) and not hasattr(given, "complete"):
        return lambda question, _: Proposed(_called(given, question))
    options: RunOptions = {}
    texts = {"instruction": _INSTRUCTION, "model": str(OFFLINE)}  # another model is asked
    program: ProgramLike = Pattern(Subject("proposer", {AGENT}, texts))
    if given is None:
        options["model"] = arm.fresh_model() or arm.model
        options["base_url"], options["dialect"] = arm.arm.base_url, arm.arm.dialect
    elif isinstance(given, Model) or hasattr(given, "complete"):
        options["model"] = given  # type: ignore[typeddict-item]  # it has complete
    elif isinstance(given, Pattern | Document | Project):
        program = given
    else:
        expect(given, (str, os.PathLike), "proposer", by="improve")
        named = os.fspath(given)  # type: ignore[arg-type]  # as was expected
        if Path(named).suffix == ".gram":
            program = load_project(named)
        else:
            options["model"] = Model.parse(named)
    if str(options.get("model")) == str(OFFLINE):
        raise ConfigurationError(
            f"{OFFLINE} is no language model and proposes nothing: name another proposer, a model, "
            "an agent or a function"
        )
    begin(program, "a first question", **options)  # its program is valid, its model is known

    def ask(question: Question, record: os.PathLike[str] | str | None) -> Proposed:
        spending = Spending()
        chosen: RunOptions = {**options, "watch": spending.count, "record": record}
        run = begin(program, question.text, **chosen)
        response = run.finish()
        cost = spending.cost(spending.replies[-1][0]) if spending.replies else 0.0
        return Proposed(_object_in(response.value, response.content), run.state.usage, cost)

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
    try:
        return read_json(content[content.index("{") : content.rindex("}") + 1])
    except ValueError:
        return content
