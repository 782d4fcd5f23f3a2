"""The world of a search: its folder, its budget, runs of candidates, and the proposer.

.. code-block:: text

    search.gram     which search it is, then a line for each proposal
    proposals.db    a store with the runs of the proposer
    program-1/      the program on the cases for search: the folder of an experiment, as of `ab`
    candidate-1-1/  the first candidate on some cases; …-2/ on the others
    last-2/         the program and the second candidate on the last set

A search that is called again reads here what was done, and goes on behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Final

from attrs import asdict, define, evolve, field, frozen

from gram import GramDecodeError, GramEncodeError, parse, write_atomically
from gram.documents import decode
from lenses_ext import Project

from ...errors import ConfigurationError, ToolBindingError, ValidationError
from ...history.records import Reader, add_to_file, pattern_line
from ..cases import Case, Checks, RubricJudge
from ..experiments import Budget, Experiment, Metric, Trial, ab
from ..experiments.arms import Arm, ready
from ..experiments.forecast import Spent, taken
from ..experiments.metrics import score_of
from ..experiments.plan import entry, read_entry
from .changes import Ask, Candidate, Changeable, FailingRun, Leaks, Question
from .searching import FINALISTS, Scores, Sets, Tried


class BudgetEndedError(Exception):
    """The budget has ended amid the search; it is caught where the search is carried out."""


@frozen
class Allowance:
    """What a search may take: a budget, of whose runs some are kept for the end.

    Attributes:
        budget: the budget.
        runs: how many runs it has.
        reserved: how many of them are kept for choosing and for the last set.
        began: when the search began or went on.
    """

    budget: Budget
    runs: float
    reserved: int
    began: float = field(factory=monotonic)

    @classmethod
    def of(cls, sets: Sets, tries: int, budget: Budget) -> Allowance:
        """The allowance of a search; where the budget says no runs, as many as ``tries`` need.

        Raises:
            ValidationError: the runs do not suffice for one candidate.
        """
        one, reserved = len(sets.search), (FINALISTS + 1) * len(sets.choosing) + 2 * len(sets.last)
        most = budget.runs or one * (1 + tries) + reserved
        if most < 2 * one + reserved:
            raise ValidationError(
                f"{most:g} runs are too few: with these cases, one candidate and the last "
                f"test need {2 * one + reserved}"
            )
        return cls(budget, most, reserved)

    def left(self, spent: Spent) -> Budget:
        """What is left of tokens, cost and minutes.

        Raises:
            BudgetEndedError: it does not suffice for one more run.
            ConfigurationError: it is not known what runs take.
        """
        if not self.affords(spent, 1):
            raise BudgetEndedError
        took = asdict(spent) | {"minutes": (monotonic() - self.began) / 60}
        limits = asdict(self.budget, filter=lambda part, most: most and part.name != "runs")
        return Budget(**{name: max(most - took[name], 1e-9) for name, most in limits.items()})

    def affords(self, spent: Spent, runs: int) -> bool:
        """Whether more runs fit, each as dear as those before.

        Raises:
            ConfigurationError: it is not known what runs take.
        """
        for name in ("tokens", "cost"):
            most, used = getattr(self.budget, name), getattr(spent, name)
            if most is None:
                continue
            if used is None:
                raise ConfigurationError(
                    f"a budget of {name} cannot be kept: it is not known how much runs take"
                )
            if used + used / max(spent.runs, 1) * runs > most:
                return False
        if self.budget.minutes and monotonic() - self.began > 60 * self.budget.minutes:
            return False
        return spent.runs + runs <= self.runs


FILE: Final = "search.gram"


class OtherSearchError(ValidationError):
    """A folder holds a search of another program, or of other paths, cases or settings."""


def _an_object(_: object, __: object, given: Any) -> None:
    if not isinstance(given, Mapping | None):
        raise TypeError("texts must be a JSON object")


@frozen
class Proposal:
    """One answer of a proposer.

    Attributes:
        parent: the number of the candidate that it changes, 0 for the program.
        texts: all texts that may change, by path; None where it was refused.
        refused: why it was refused; empty if it was not.
        tokens: the tokens it took, or None if that is not known.
        cost: what it cost in US dollars, or None if that is not known.
    """

    parent: int
    texts: Candidate | None = field(default=None, validator=_an_object)
    refused: str = ""
    tokens: int | None = None
    cost: float | None = None


class Journal:
    """The folder of a search.

    Args:
        path: the folder, which need not be there yet.
        subject: a hash of what is searched: the program, the paths, the cases and the settings.
        drawn: an id and a seed for a search that begins.

    Attributes:
        id: the id of the search.
        seed: draws what the search draws.
        proposals: what was proposed before.

    Raises:
        OSError, GramDecodeError: the folder cannot be read or written.
        OtherSearchError: another search is in it.
    """

    def __init__(self, path: Path, subject: str, drawn: tuple[str, int]) -> None:
        self.path = path
        self.id, self.seed = drawn
        self.proposals: list[Proposal] = []
        self._subject = subject
        file = path / FILE
        if not file.exists():
            return
        text = decode(file.read_bytes(), str(file))
        patterns = parse(text[: text.rfind("\n") + 1], str(file)).patterns
        if not patterns:
            raise ValidationError(f"{file}: no search is in it; name another folder")
        head, *entries = patterns
        read = Reader(head, "Search", ("id", "seed", "subject"))
        if read.text("subject") != subject:
            raise OtherSearchError(
                f"{path}: another search is in this folder, of another program, other paths, "
                "cases or settings; name another folder"
            )
        self.id, self.seed = read.text("id"), read.number("seed")
        self.proposals = [read_entry(each, "Proposal", Proposal) for each in entries]

    def begin(self) -> None:
        """Make the folder, where that was not done; raises OSError where it cannot be made."""
        if not (self.path / FILE).exists():
            self.path.mkdir(parents=True, exist_ok=True)
            told = {"id": self.id, "seed": self.seed, "subject": self._subject}
            line = pattern_line(entry("Search", told))
            write_atomically(self.path / FILE, f"{line}\n", private=True)

    def add(self, proposal: Proposal) -> None:
        """Keep a proposal; raises OSError where it cannot be written."""
        told = asdict(proposal, recurse=False) | {"refused": proposal.refused or None}
        add_to_file(self.path / FILE, pattern_line(entry("Proposal", told)))
        self.proposals.append(proposal)


_MOST_REASONS = 5  # why proposals were refused, told with the next question


@define
class Runs:
    """Runs candidates and asks the proposer; what was done before is read from the journal.

    Attributes:
        changeable: what may change.
        arm: the program as it is run.
        metric: what is measured.
        cases: all cases by name.
        checks: the functions that cases name.
        judge: what judges their rubrics, or None.
        leaks: finds parts of cases in texts.
        most: how many characters the texts may have together.
        ask: asks the proposer.
        journal: the folder of the search.
        allowance: what it may take.
        jobs: how many runs go on at once.
        progress: whether a bar is shown, see `ab`.
        tell: is called with what is done.
        is_closed: whether the last set was asked: nothing new is proposed then.
        spent: what was taken so far.
        candidates: the program's texts, then those of candidates, in the order of their first runs.
    """

    changeable: Changeable
    arm: Arm
    metric: Metric
    cases: Mapping[str, Case]
    checks: Checks
    judge: RubricJudge | None
    leaks: Leaks
    most: int
    ask: Ask
    journal: Journal
    allowance: Allowance
    jobs: int
    progress: bool | None
    tell: Callable[[str], None]
    is_closed: bool
    spent: Spent = field(factory=Spent)
    candidates: list[Candidate] = field(factory=list)
    trials: dict[tuple[int, str], Trial] = field(factory=dict)
    experiments: dict[int, int] = field(factory=dict)
    asked: int = 0

    def affords(self, runs: int) -> bool:
        """Whether the budget has so many runs left, beside those of choosing and deciding."""
        if self.is_closed:  # it is gone through again, whatever the budget is now
            return self.asked < len(self.journal.proposals)
        return self.allowance.affords(self.spent, runs + self.allowance.reserved)

    def affords_last(self, runs: int) -> bool:
        """Whether the budget has so many runs left for the last set."""
        return self.is_closed or self.allowance.affords(self.spent, runs)

    def measure(self, candidate: Candidate, cases: Sequence[str]) -> Scores:
        """Run a candidate on those of the cases on which it has not been run."""
        number = self._number(candidate)
        if missing := [each for each in cases if (number, each) not in self.trials]:
            self.experiments[number] = self.experiments.get(number, 0) + 1
            name = f"candidate-{number}" if number else "program"
            left = None if self.is_closed else self.allowance.left(self.spent)
            found = self.experiment(
                {name: candidate}, missing, f"{name}-{self.experiments[number]}", left
            )
            for each in found.trials:
                self.trials[number, each.case.name] = each
            if found.stopped:
                self.allowance.affords(self.spent, 1)  # where that is unknown, it says so
                raise BudgetEndedError
        return {each: self._score(self.trials[number, each]) for each in cases}

    def experiment(
        self,
        arms: Mapping[str, Candidate],
        cases: Sequence[str],
        folder: str,
        budget: Budget | None = None,
    ) -> Experiment:
        """Run candidates on cases, in a folder of their own."""
        found = ab(
            [self.cases[each] for each in cases],
            {name: self._arm(self.changeable.with_texts(each)) for name, each in arms.items()},
            [self.metric],
            checks=self.checks,
            judge=self.judge,
            seed=self.journal.seed,
            out=self.journal.path / folder,
            budget=budget,
            jobs=self.jobs,
            progress=self.progress,
        )
        for each in found.trials:
            self.spent += taken(each)
        return found

    def propose(self, parent: Tried[Candidate], failing: Sequence[str]) -> Candidate | None:
        """Ask for a change of a candidate; None where what came cannot be a candidate."""
        number = self._number(parent.candidate)
        if self.asked < len(self.journal.proposals):
            proposal = self.journal.proposals[self.asked]
        else:
            metric, program = self.metric.name, self.changeable.with_texts(parent.candidate)
            refusals = [each.refused for each in self.journal.proposals if each.refused]
            question = Question(
                "\n".join(each.text for each in program.documents.values()),
                dict(parent.candidate),  # a function may change what it is given
                tuple(FailingRun.of(self.trials[number, each], metric) for each in failing),
                tuple(refusals[-_MOST_REASONS:]),
                self.most,
            )
            took = f"{self.spent.runs:g} of at most {self.allowance.runs:g} runs are done"
            self.tell(f"change {self.asked + 1} is proposed; {took}")
            said = self.ask(question, self.journal.path / "proposals.db")
            texts, refused = self._judged(parent.candidate, said.answer)
            proposal = Proposal(number, texts, refused, said.usage.total_tokens, said.cost)
            self.journal.add(proposal)
        self.asked += 1
        self.spent += Spent(proposal.tokens, proposal.cost)
        return proposal.texts

    def _judged(self, parent: Candidate, answer: object) -> tuple[Candidate | None, str]:
        """The texts of an answer, or why it is refused."""
        if not isinstance(answer, Mapping):
            return None, "the answer is no JSON object from paths to texts"
        texts = dict(parent)
        try:
            for path, text in answer.items():
                texts[str(path)] = self.changeable.written(str(path), text)
            changed = self.changeable.with_texts(texts)
            ready("candidate", self._arm(changed), ())
        except (ToolBindingError, ValidationError, GramEncodeError, GramDecodeError) as error:
            return None, str(error)
        if texts in self.candidates:
            return None, "nothing is changed, or these texts were tried before"
        if (length := sum(map(len, texts.values()))) > self.most:
            return None, f"the texts have {length} characters together, {self.most} are the most"
        for path, place in self.changeable.places.items():
            if leaked := self.leaks.of(place.get(changed.patterns)):
                return None, f"{path}: {leaked}"
        return texts, ""

    @property
    def why_no_score(self) -> str:
        """Why no run has a score or a reply of a model; empty if one has."""
        if all(each.failure and not each.rounds for each in self.trials.values()):
            return next(each.failure or "" for each in self.trials.values())
        scores = [score_of(each, self.metric.name) for each in self.trials.values()]
        is_scored = any(each.value is not None for each in scores)
        return "" if is_scored else scores[0].problem or "no run has one"

    def _arm(self, program: Project) -> Arm:
        return evolve(self.arm, program=program)

    def _number(self, candidate: Candidate) -> int:
        if candidate not in self.candidates:
            self.candidates.append(candidate)
        return self.candidates.index(candidate)

    def _score(self, trial: Trial) -> float:
        """The score of a trial, where higher is better; the worst known where it has none."""
        value = score_of(trial, self.metric.name).value
        sign = 1 if self.metric.better == "higher" else -1
        if isinstance(value, bool):
            return value if sign == 1 else not value
        if value is not None:
            return sign * value
        known = (score_of(each, self.metric.name).value for each in self.trials.values())
        return min((sign * each for each in known if each is not None), default=False)
