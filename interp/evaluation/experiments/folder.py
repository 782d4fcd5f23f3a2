"""The folder of an experiment: its plan, its results, and the records of its runs.

.. code-block:: text

    plan.gram       what is compared, written before anything runs
    results.gram    a line for each trial, in the order in which they ended
    runs/           a run file for each trial, as `gram run --record` writes it

A line of the results is whole when its line end is there; what a killed process left of one is cut
off. Each line has a digest of itself and the plan, so that results that were edited, or are
another experiment's, are found.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NoReturn, TypeAlias, Union

from attrs import evolve, frozen
from pyrsistent import pvector

from gram import (
    ONE_LINE,
    Pattern,
    Source,
    Spelling,
    Subject,
    Value,
    decode,
    dumps,
    expect,
    fault,
    holding,
    parse,
    resolved,
    write_atomically,
    write_pattern,
)

from ...errors import ValidationError
from ...history.records import Reader, without_empty, write_text
from ...machine import Usage
from ..cases import Case
from .judging import slug
from .plan import Plan, plan_from_patterns
from .trials import Score, Trial

PathLike: TypeAlias = Union[str, "os.PathLike[str]"]

_PLAN, _RESULTS, _RUNS = "plan.gram", "results.gram", "runs"
_TRIAL, _SCORE = "Trial", "Score"


@frozen
class Folder:
    """The folder of an experiment.

    Attributes:
        path: the folder.
    """

    path: Path

    @property
    def has_plan(self) -> bool:
        """Whether an experiment has been begun in it."""
        return (self.path / _PLAN).exists()

    def read_plan(self) -> Plan:
        """The plan.

        Raises:
            OSError: there is none, or it cannot be read.
            GramDecodeError: it is not gram.
            ValidationError: it is not a plan, or it was edited.
        """
        file = self.path / _PLAN
        if not file.exists() and self.path.is_dir():
            raise ValidationError(f"{self.path}: no experiment is in this folder")
        text = decode(file.read_bytes(), str(file))
        patterns = parse(text, str(file)).patterns
        if not patterns:
            raise ValidationError(f"{file}: no plan is written in it")
        return plan_from_patterns(patterns, has_hash=True)

    def begin(self, plan: Plan) -> None:
        """Make the folder and write the plan, before anything runs.

        Raises:
            OSError: it cannot be written.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / _RUNS).mkdir(exist_ok=True)
        write_atomically(self.path / _PLAN, plan.text, private=True)
        (self.path / _RESULTS).touch(0o600)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from running the same experiment meanwhile.

        Raises:
            OSError: another process runs it.
        """
        with holding(self.path / _PLAN, wait=False, private=True):
            yield

    def run_file(self, plan: Plan, key: tuple[str, int, str]) -> Path:
        """Where the run of a trial is recorded."""
        name, repeat, arm = key
        case = next(index for index, each in enumerate(plan.cases) if each.name == name)
        number = plan.arms.index(arm)
        parts = [f"{case + 1:04}", f"{repeat + 1}", f"{number + 1}", slug(arm)]
        return self.path / _RUNS / f"{'-'.join(parts)}.run.gram"

    def write(self, plan: Plan, trial: Trial) -> None:
        """Add a trial to the results.

        Raises:
            OSError: it cannot be written.
        """
        entry = trial_to_pattern(trial, self.path)
        signed = _signed(entry, plan)
        rest = memoryview(_line(signed).encode() + b"\n")
        file = os.open(self.path / _RESULTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            before = os.fstat(file).st_size
            try:
                while rest:
                    rest = rest[os.write(file, rest) :]
            except OSError as error:
                os.ftruncate(file, before)
                error.filename = error.filename or str(self.path / _RESULTS)
                raise
        finally:
            os.close(file)

    def read(self, plan: Plan) -> tuple[Trial, ...]:
        """The trials that are done.

        Raises:
            OSError: the results cannot be read.
            GramDecodeError: they are not gram.
            ValidationError: they were edited, or are not this plan's; the fault has its place.
        """
        file = self.path / _RESULTS
        if not file.exists():
            return ()
        content = file.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        source = Source(decode(whole, str(file)), str(file))
        cases = {each.name: each for each in plan.cases}
        known, seen = set(plan.keys), set[tuple[str, int, str]]()
        found = []
        for entry in parse(source.text, source.filename).patterns:
            trial = trial_from_pattern(entry, cases, self.path)
            if _digest(entry, plan) != entry.value.properties.get("digest"):
                hint = "results stay as they were written; begin another experiment instead"
                _refuse(
                    "edited-result", "the result was edited, or is of another plan", entry, hint
                )
            if trial.key not in known or trial.key in seen:
                _refuse("misfit", "the plan has no such trial, or it is there twice", entry)
            seen.add(trial.key)
            found.append(trial)
        return tuple(found)

    def cut_off(self) -> None:
        """Cut off what a killed process left of a result.

        Raises:
            OSError: the results cannot be written.
        """
        file = self.path / _RESULTS
        if file.exists():
            content = file.read_bytes()
            if (whole := content.rfind(b"\n") + 1) < len(content):
                os.truncate(file, whole)


def _refuse(code: str, message: str, entry: Pattern, hint: str | None = None) -> NoReturn:
    raise ValidationError.of([fault(code, message, entry, hint=hint)])


def _line(pattern: Pattern) -> str:
    return write_pattern(pattern, style=_one_line)


def _one_line(_: tuple[Pattern, ...]) -> Spelling:
    return ONE_LINE


def _digest(entry: Pattern, plan: Plan) -> str:
    subject = entry.value
    bare = evolve(subject, properties=subject.properties.discard("digest"))
    text = plan.hash + dumps(Pattern(bare, entry.elements))
    return sha256(text.encode()).hexdigest()[:16]


def _signed(entry: Pattern, plan: Plan) -> Pattern:
    subject = entry.value
    digest = _digest(entry, plan)
    marked = evolve(subject, properties=subject.properties.set("digest", digest))
    return Pattern(marked, entry.elements)


# --- trials as gram

_KEYS = (
    "arm",
    "case",
    "repeat",
    "failure",
    "content",
    "calls",
    "rounds",
    "input",
    "output",
    "cost",
    "seconds",
    "models",
    "fingerprint",
    "file",
    "digest",
)


def trial_to_pattern(trial: Trial, folder: Path) -> Pattern:
    """A trial as gram; its file is named from the folder."""
    properties: dict[str, Value | None] = {
        **without_empty(
            {
                "failure": None if trial.failure is None else write_text(trial.failure),
                "content": write_text(trial.content),
                "fingerprint": trial.fingerprint,
                "models": pvector(map(write_text, trial.models)),
                "file": None if trial.file is None else _relative(trial.file, folder),
            }
        ),
        "arm": write_text(trial.arm),
        "case": write_text(trial.case.name),
        "repeat": trial.repeat,
        "calls": trial.calls,
        "rounds": trial.rounds,
        "input": trial.usage.input_tokens,
        "output": trial.usage.output_tokens,
        "cost": trial.cost,
        "seconds": float(trial.seconds),
    }
    known = {key: value for key, value in properties.items() if value is not None}
    scores = [_score_to_pattern(name, score) for name, score in trial.scores.items()]
    return Pattern(Subject("", {_TRIAL}, known), scores)


def _relative(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.as_posix()


def _score_to_pattern(name: str, score: Score) -> Pattern:
    properties: dict[str, Value] = {"metric": write_text(name)}
    if score.value is not None:
        properties["value"] = score.value
    if score.problem:
        properties["problem"] = write_text(score.problem)
    if score.usage:
        told = {"input": score.usage.input_tokens, "output": score.usage.output_tokens}
        properties |= {key: count for key, count in told.items() if count is not None}
        properties["judged"] = True
    if score.cost is not None:
        properties["cost"] = score.cost
    return Pattern(Subject("", {_SCORE}, properties))


def trial_from_pattern(pattern: Pattern, cases: Mapping[str, Case], folder: Path) -> Trial:
    """Read a trial.

    Args:
        pattern: the trial as gram.
        cases: the cases of the plan by name.
        folder: the folder that its file is named from.

    Raises:
        ValidationError: it is not a trial, or its case is unknown; the fault has its place.
    """
    read = Reader(pattern, _TRIAL, _KEYS)
    name = read.text("case")
    if name not in cases:
        read.refuse("misfit", f'the plan has no case "{name}"', "case")
    return Trial(
        arm=read.text("arm"),
        case=cases[name],
        repeat=read.number("repeat"),
        failure=read.text("failure") if read.has("failure") else None,
        content=read.text("content", ""),
        calls=read.number("calls"),
        rounds=read.number("rounds"),
        usage=_usage(read),
        cost=_number(pattern, "cost"),
        seconds=_number(pattern, "seconds") or 0.0,
        models=tuple(map(str, _values(pattern, "models"))),
        fingerprint=read.text("fingerprint", ""),
        file=folder / read.text("file") if read.has("file") else None,
        scores=dict(map(_score_from_pattern, pattern.elements)),
    )


def _score_from_pattern(pattern: Pattern) -> tuple[str, Score]:
    read = Reader(pattern, _SCORE, _SCORE_KEYS)
    value = pattern.value.properties.get("value")
    if value is not None and not isinstance(value, bool | int | float):
        read.refuse("ill-typed", "the value of a score is a number or a boolean", "value")
    problem = read.text("problem") if read.has("problem") else None
    usage = _usage(read) if read.has("judged") else None
    return read.text("metric"), Score(value, problem, usage, _number(pattern, "cost"))


_SCORE_KEYS = ("metric", "value", "problem", "judged", "input", "output", "cost")


def _usage(read: Reader) -> Usage:
    return Usage(
        read.number("input") if read.has("input") else None,
        read.number("output") if read.has("output") else None,
    )


def _number(pattern: Pattern, key: str) -> float | None:
    value = pattern.value.properties.get(key)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise ValidationError.of([fault("ill-typed", f"{key} must be a number", pattern, key)])


def _values(pattern: Pattern, key: str) -> Iterable[object]:
    value = pattern.value.properties.get(key, ())
    return value if isinstance(value, Iterable) and not isinstance(value, str) else ()


def folder_of(out: PathLike) -> Folder:
    """The folder of an experiment, which need not be there yet.

    Raises:
        OSError: a file that is no folder has its name.
    """
    expect(out, (str, os.PathLike), "out", by="ab")
    path = Path(out)
    if resolved(path).exists() and not path.is_dir():
        raise NotADirectoryError(20, "an experiment needs a folder, this is a file", str(path))
    return Folder(path)
