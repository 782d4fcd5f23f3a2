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

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

from attrs import evolve, frozen

from gram import Diagnostic, Pattern, Source, dumps, parse, write_atomically
from gram.documents import decode, holding, resolved
from gram.errors import expect

from ...errors import ValidationError
from ...history.records import PathLike, add_to_file, pattern_line
from ...history.stores import Address
from ..testing import file_name
from .metrics import Score, Trial
from .plan import Key, Plan, entry, plan_from_patterns, read_entry

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
        told = entry(_TRIAL, trial.to_json())
        properties = told.value.properties.set("digest", _digest(told, plan))
        signed = evolve(told, value=evolve(told.value, properties=properties))
        add_to_file(self.path / _RESULTS, pattern_line(signed))

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
        known, seen = {*plan.keys, *plan.pilot_keys}, dict[Key, Trial]()

        def made(
            case: str, scores: Any, run: str | None = None, digest: str = "", **told: Any
        ) -> Trial:
            scores = {name: Score(**score) for name, score in scores.items()}
            address = None if run is None else self._address(run)
            return Trial(case=cases[case], scores=scores, run=address, **told)

        for each in parse(source.text, source.filename).patterns:
            if _digest(each, plan) != each.value.properties.get("digest"):
                hint = "results stay as they were written; begin another experiment instead"
                _refuse("edited-result", "the result was edited, or is of another plan", each, hint)
            trial = read_entry(each, _TRIAL, made)
            if trial.key not in known or trial.key in seen:
                _refuse("misfit", "the plan has no such trial, or it is there twice", each)
            seen[trial.key] = trial
        return tuple(seen.values())


def _refuse(code: str, message: str, entry: Pattern, hint: str | None = None) -> NoReturn:
    raise ValidationError.of([Diagnostic.of(code, message, entry, hint=hint)])


def _digest(entry: Pattern, plan: Plan) -> str:
    subject = entry.value
    bare = evolve(subject, properties=subject.properties.discard("digest"))
    text = plan.hash + dumps(Pattern(bare, entry.elements))
    return sha256(text.encode()).hexdigest()[:16]


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
