"""The folder of an experiment: its plan, its results, and the records of its runs.

.. code-block:: text

    plan.gram       what is compared, written before anything runs
    results.gram    a line for each trial, in the order in which they ended
    runs.db         a store with the run of each trial, as `gram run --record` writes it

A line of the results is whole when its line end is there; what a killed process left of one is cut
off. Each line has a digest of itself and the plan, so that results that were edited, or are
another experiment's, are found.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

from attrs import asdict, evolve, frozen

from gram import (
    Diagnostic,
    Pattern,
    Source,
    Subject,
    TaggedString,
    Value,
    dumps,
    parse,
    write_atomically,
)
from gram.documents import decode, holding, resolved
from gram.errors import expect

from ...errors import ValidationError
from ...history.records import PathLike, Reader, pattern_line, write_text
from ...history.stores import Address
from ...json_text import Json
from ...machine import Usage
from ..cases import Case
from ..testing import file_name
from .plan import Key, Plan, plan_from_patterns
from .trials import Score, Trial

_PLAN, _RESULTS, _RUNS = "plan.gram", "results.gram", "runs.db"
_TRIAL = "Trial"


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

    def run_of(self, plan: Plan, key: Key) -> Address:
        """Where the run of a trial is recorded."""
        name, repeat, arm = key
        known = (*plan.cases, *plan.pilot)
        case = next(index for index, each in enumerate(known) if each.name == name)
        number = plan.arms.index(arm)
        parts = [f"{case + 1:04}", f"{repeat + 1}", f"{number + 1}", file_name(arm)]
        return self._address("-".join(parts))

    def _address(self, run: str) -> Address:
        return Address(str(self.path / _RUNS), run)

    def write(self, plan: Plan, trial: Trial) -> None:
        """Add a trial to the results.

        Raises:
            OSError: it cannot be written.
        """
        entry = _pattern_of(trial)
        signed = _signed(entry, plan)
        rest = memoryview(pattern_line(signed).encode() + b"\n")
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
        cases = {each.name: each for each in (*plan.cases, *plan.pilot)}
        known, seen = {*plan.keys, *plan.pilot_keys}, set[Key]()
        found = []
        for entry in parse(source.text, source.filename).patterns:
            if _digest(entry, plan) != entry.value.properties.get("digest"):
                hint = "results stay as they were written; begin another experiment instead"
                _refuse(
                    "edited-result", "the result was edited, or is of another plan", entry, hint
                )
            trial = _trial_of(entry, cases, self._address)
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
    raise ValidationError.of([Diagnostic.of(code, message, entry, hint=hint)])


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


# --- trials as gram: what is whole, by its digest, was written here


def _pattern_of(trial: Trial) -> Pattern:
    """A trial as gram, with the id of its run."""
    told = asdict(trial, recurse=False, filter=lambda each, _: each.name not in _NOT_TOLD)
    told |= {
        "case": trial.case.name,
        "usage": asdict(trial.usage),
        "run": trial.run and trial.run.run,
        "scores": {name: asdict(score) for name, score in trial.scores.items()},
    }
    properties = {key: _property(value) for key, value in told.items() if value is not None}
    return Pattern(Subject("", {_TRIAL}, properties))


_NOT_TOLD = ("response", "state")


def _property(value: Json) -> Value:
    if isinstance(value, str):
        return write_text(value)
    is_number = isinstance(value, bool | int | float)
    return value if is_number else TaggedString("json", json.dumps(value))


def _trial_of(
    pattern: Pattern, cases: Mapping[str, Case], address: Callable[[str], Address]
) -> Trial:
    """The trial that `_pattern_of` wrote."""
    read = Reader(pattern, _TRIAL, pattern.value.properties)
    told: dict[str, Any] = {}
    for key, value in read.properties.items():
        match value:
            case TaggedString("json", text):
                told[key] = json.loads(text)
            case str() | TaggedString():
                told[key] = read.text(key)
            case _:
                told[key] = value
    del told["digest"]
    scores = {name: _score_of(**score) for name, score in told["scores"].items()}
    return Trial(
        **told
        | {
            "case": cases[told["case"]],
            "usage": Usage(**told["usage"]),
            "models": tuple(told["models"]),
            "scores": scores,
            "run": address(told["run"]) if "run" in told else None,
            "failure": told.get("failure"),
            "cost": told.get("cost"),
        }
    )


def _score_of(*, usage: dict[str, Any] | None, **told: Any) -> Score:
    return Score(**told, usage=None if usage is None else Usage(**usage))


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
