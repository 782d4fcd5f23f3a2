"""What came of a search: a change of the source, the evidence, the cost, and one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from attrs import asdict, field, frozen

from gram.words import counted
from lenses_ext import Project

from ...errors import ConfigurationError
from ...json_text import Json
from ..experiments import Comparison, Experiment, Trial
from ..experiments.forecast import Spent
from .changes import Candidate, diff_of
from .deciding import LEVEL, LOOKS, Verdict, gain_still_possible


@frozen
class Improvement:
    """What came of a search.

    Attributes:
        verdict: ``better``, ``not shown to be better`` or ``worse``.
        reason: why the last set was not asked; empty if it was.
        before: the program.
        after: the program with the texts that were chosen; the same where none was.
        texts: the texts that were chosen, by path; None where none was.
        experiment: the program and the candidate on the last set; None where it was not asked.
        look: which look at the last set it is, or would have been.
        spent: what the search took.
        proposed: how many changes were proposed.
        refused: why some of them were refused, in words.
        folder: where everything is kept, or None.
    """

    verdict: Verdict
    reason: str
    before: Project = field(repr=False)
    after: Project = field(repr=False)
    texts: Candidate | None
    experiment: Experiment | None
    look: int
    spent: Spent
    proposed: int
    refused: tuple[str, ...]
    folder: Path | None

    @property
    def comparison(self) -> Comparison | None:
        """The candidate compared with the program on the last set."""
        return self.experiment.comparison() if self.experiment else None

    @property
    def diff(self) -> str:
        """What the candidate changes in the source, as a unified difference."""
        return diff_of(self.before, self.after)

    @cached_property
    def sentence(self) -> str:
        """What can be said of the candidate, with the evidence."""
        found = self.comparison
        if found is None:
            return f"{self.verdict}: {self.reason}"
        would = ""
        if self.verdict == "not shown to be better":
            gain = gain_still_possible(found)
            shown = "no difference" if gain is None else f"a difference of {_size(found, gain, '')}"
            would = f"these cases would show {shown}; "
        interval = ""
        if within := found.interval:
            low = _size(found, within.low).removesuffix(" points")
            interval = f" (95 %: {low} to {_size(found, within.high)})"
        return (
            f"{self.verdict}: {would}{_size(found, found.difference)}{interval} "
            f"on {counted(found.cases, 'case')}, {found.better} won and {found.worse} lost, "
            f"p = {found.p_value:.2g} (look {self.look} of {LOOKS}, each at {LEVEL:g})"
        )

    @property
    def differing(self) -> Iterator[tuple[str, Trial, Trial]]:
        """The cases of the last set that were won or lost: which, the program, the candidate."""
        if self.experiment is None:
            return
        found = self.experiment.comparison()
        for group in self.experiment.differing():
            by_arm = {each.arm: each for each in group}
            before, after = by_arm[found.baseline], by_arm[found.arm]
            values = [each.scores[found.metric].value for each in (before, after)]
            numbers = [float("-inf") if each is None else float(each) for each in values]
            if numbers[0] != numbers[1]:
                is_won = (numbers[1] > numbers[0]) == (found.direction == "higher")
                yield ("won" if is_won else "lost"), before, after

    def _run(self, trial: Trial) -> str | None:
        """The address of the run of a trial, where it is kept."""
        return None if trial.run is None or self.folder is None else str(trial.run)

    def apply(self) -> tuple[Path, ...]:
        """Write the change into the files of the program, if it is better; all of them or none.

        Raises:
            ConfigurationError: it was not shown to be better.
            OSError: a file cannot be written, or was changed since it was read.
        """
        if self.verdict != "better":
            raise ConfigurationError(f"only what is better is written: {self.sentence}")
        return self.after.save(self.before)

    def text(self) -> str:
        """Everything as text, for a terminal."""
        lines = [self.sentence, ""]
        if self.texts is not None:
            lines += [self.diff]
        for how, before, after in self.differing:
            runs = " → ".join(filter(None, map(self._run, (before, after))))
            lines.append(f"{how:4} {after.case.name}  {runs}".rstrip())
        refused = f", {len(self.refused)} of them refused" if self.refused else ""
        lines += [f"refused: {each}" for each in dict.fromkeys(self.refused)]
        lines.append(f"{self.spent}; {counted(self.proposed, 'proposal')}{refused}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Json]:
        """Everything as JSON."""
        found = self.comparison
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "texts": None if self.texts is None else dict(self.texts),
            "diff": self.diff,
            "look": None if found is None else self.look,
            "comparison": None if found is None else asdict(found),
            "differing": [
                {
                    "case": after.case.name,
                    "was": how,
                    "program": self._run(before),
                    "candidate": self._run(after),
                }
                for how, before, after in self.differing
            ],
            "spent": asdict(self.spent),
            "proposed": self.proposed,
            "refused": list(self.refused),
            "folder": None if self.folder is None else str(self.folder),
        }


def _size(found: Comparison, size: float, sign: str = "+") -> str:
    return f"{100 * size:{sign}.1f} points" if found.is_rate else f"{size:{sign}.3g}"
