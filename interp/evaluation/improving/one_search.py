"""One search: its folder, its budget, runs of candidates, the proposer, and the test at the end.

.. code-block:: text

    search.gram     which search it is, then a line for each proposal
    proposals.db    a store with the runs of the proposer
    program-1/      the program on the cases for search: the folder of an experiment, as of `ab`
    candidate-1-1/  the first candidate on some cases; …-2/ on the others
    last-2/         the program and the second candidate on the last set

A search that is called again reads here what was done, and goes on behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, Final

from attrs import asdict, define, evolve, field, frozen

from gram import GramDecodeError, GramEncodeError, write_atomically
from gram.words import counted

from ...errors import ToolBindingError, ValidationError
from ...history.records import Reader, add_to_file, pattern_line
from ..cases import Case
from ..experiments import Budget, Experiment, Metric, Trial, ab
from ..experiments.arms import Arm, ready
from ..experiments.forecast import Spent, taken, too_little
from ..experiments.metrics import score_of
from ..experiments.plan import entries_of, entry, read_entry
from .changes import Ask, Candidate, Changeable, FailingRun, Leaks, Question
from .deciding import Improvement, Look, Looks, leaves_room, verdict_of
from .searching import Scores, Search, Sets, Tried, choose, digest_of


class BudgetEndedError(Exception):
    """The budget has ended amid the search; it is caught where the search is carried out."""


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
    tokens: float | None = None
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
        if not (file := path / FILE).exists():
            return
        patterns = entries_of(file)
        if not patterns:
            raise ValidationError(f"{file}: no search is in it; name another folder")
        read = Reader(patterns[0], "Search", ("id", "seed", "subject"))
        if read.text("subject") != subject:
            raise OtherSearchError(
                f"{path}: another search is in this folder, of another program, other paths, "
                "cases or settings; name another folder"
            )
        self.id, self.seed = read.text("id"), read.number("seed")
        self.proposals = [read_entry(each, "Proposal", Proposal) for each in patterns[1:]]

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


@define
class OneSearch:
    """Runs candidates, asks the proposer, chooses, and tests the best one.

    What was done before is read from the journal.

    Attributes:
        changeable: what may change.
        arm: the program as it is run.
        metric: what is measured.
        cases: all cases by name.
        sets: the cases in their sets; of the last set, those that may decide.
        leaks: finds parts of cases in texts.
        most: how many characters the texts may have together.
        ask: asks the proposer.
        journal: the folder of the search.
        looks: the file of looks.
        look: which look at the last set it is.
        is_closed: whether the last set was asked: nothing new is proposed then.
        budget: what it may take.
        reserved: how many runs are kept for choosing and for the last set.
        options: other arguments of `ab`.
        tell: is called with what is done.
        spent: what was taken so far.
        candidates: the program's texts, then those of candidates, in the order of their first runs.
    """

    changeable: Changeable
    arm: Arm
    metric: Metric
    cases: Mapping[str, Case]
    sets: Sets
    leaks: Leaks
    most: int
    ask: Ask
    journal: Journal
    looks: Looks
    look: int
    is_closed: bool
    budget: Budget
    reserved: int
    options: Mapping[str, Any]
    tell: Callable[[str], None]
    began: float = field(factory=monotonic)
    spent: Spent = field(factory=Spent)
    candidates: list[Candidate] = field(factory=list)
    trials: dict[tuple[int, str], Trial] = field(factory=dict)
    experiments: Counter[int] = field(factory=Counter)
    asked: int = 0

    # --- the budget

    @property
    def _taken(self) -> Spent:
        return evolve(self.spent, minutes=(monotonic() - self.began) / 60)

    def _too_little(self, runs: int) -> str | None:
        """Why so many more runs do not fit; what is closed is gone through again, whatever fits."""
        return None if self.is_closed else too_little(self.budget, self._taken, runs)

    def _require(self, runs: int) -> None:
        if why := self._too_little(runs):
            raise BudgetEndedError(f"the budget does not reach the last test: {why}")

    def affords(self, runs: int) -> bool:
        """Whether the budget has so many runs left, beside those of choosing and deciding."""
        if self.is_closed:
            return self.asked < len(self.journal.proposals)
        return self._too_little(runs + self.reserved) is None

    # --- searching, choosing, testing

    def carried_out(
        self, search: Search[Candidate], tries: int, folder: Path | None
    ) -> Improvement:
        """Search, choose and test.

        Args:
            search: the way to search.
            tries: how many changes are proposed, at most.
            folder: the folder that stays, or None.
        """
        texts, start = None, dict(self.changeable.texts)
        try:
            if not (reason := self._without_room(start)):
                texts, reason = self._chosen(start, search, tries)
        except BudgetEndedError as error:
            reason = str(error)
        found = Improvement(
            verdict="not shown to be better",
            reason=reason,
            before=self.changeable.program,
            after=self.changeable.with_texts(texts or start),
            texts=texts,
            experiment=None,
            look=self.look,
            spent=self.spent,
            proposed=self.asked,
            refused=tuple(each.refused for each in self.journal.proposals if each.refused),
            folder=folder,
        )
        return found if texts is None else self._tested(found, start, texts)

    def _without_room(self, start: Candidate) -> str:
        """Why no gain could be shown, after the first runs of the program; empty if one could."""
        names = [each.name for each in self.sets.search]
        scores = self.measure(start, names)
        trials = list(self.trials.values())
        measured = [score_of(each, self.metric.name) for each in trials]
        problem = None
        if all(each.failure and not each.rounds for each in trials):
            problem = trials[0].failure
        elif all(each.value is None for each in measured):
            problem = measured[0].problem or "no run has one"
        if problem:
            return (
                "no run of the program has a score; when that is mended, begin anew in another "
                f"folder: {problem}"
            )
        if self.spent.runs:
            whole = self.spent.times((self.budget.runs or 0) / self.spent.runs)
            self.tell(f"the program took {self.spent}; at that rate, all of it takes {whole}")
        passed, last = int(sum(scores.values())), len(self.sets.last)
        is_rate = all(isinstance(each, bool) for each in scores.values())
        if not is_rate or leaves_room(passed, len(names), last):
            return ""
        return (
            f"the program passes {passed} of {counted(len(names), 'case')}, so that even one that "
            f"passes all of the last {last} could not be shown to be better; add harder cases"
        )

    def _chosen(
        self, start: Candidate, search: Search[Candidate], tries: int
    ) -> tuple[Candidate | None, str]:
        """The texts that are chosen; None, and why, where none are."""
        names, rng = [each.name for each in self.sets.search], Random(self.journal.seed)
        pool = search(start, names, self, max(tries, len(self.journal.proposals)), rng)
        done = counted(len(pool) - 1, "candidate")
        self.tell(f"{done} did well enough to be run on all cases for search; {self.spent}")
        if not self.asked:
            self._require(len(names) + self.reserved)
        chosen = choose(pool, [each.name for each in self.sets.choosing], self)
        if chosen is None:
            return None, (
                "no candidate did better than the program on the cases for search and for "
                "choosing, so the last set was not asked"
            )
        self._require(2 * len(self.sets.last))
        return chosen.candidate, ""

    def _tested(self, found: Improvement, start: Candidate, texts: Candidate) -> Improvement:
        """One look at the last set."""
        digests = tuple(sorted({digest_of(each) for each in self.sets.last}))
        look = Look(self.journal.id, digests, str(found.before.filename))
        found = evolve(found, look=self.looks.take(look) + 1)
        arms, names = {"program": start, "candidate": texts}, [each.name for each in self.sets.last]
        experiment = self._experiment(arms, names, f"last-{self.candidates.index(texts)}")
        if not experiment.comparisons:
            raise ValidationError("; ".join(experiment.notes))
        comparison = experiment.comparison()
        verdict = verdict_of(comparison)
        self.looks.take(evolve(look, verdict=verdict, p=comparison.p_value))
        return evolve(found, verdict=verdict, experiment=experiment, spent=self.spent)

    # --- runs and proposals

    def measure(self, candidate: Candidate, cases: Sequence[str]) -> Scores:
        """Run a candidate on those of the cases on which it has not been run."""
        number = self._number(candidate)
        if missing := [each for each in cases if (number, each) not in self.trials]:
            self._require(1)
            took, left = asdict(self._taken), None
            if not self.is_closed:
                limits = asdict(evolve(self.budget, runs=None))
                left = Budget(**{k: max(m - took[k], 1e-9) for k, m in limits.items() if m})
            self.experiments[number] += 1
            name = f"candidate-{number}" if number else "program"
            folder = f"{name}-{self.experiments[number]}"
            found = self._experiment({name: candidate}, missing, folder, left)
            self.trials |= {(number, each.case.name): each for each in found.trials}
            if found.stopped:
                raise BudgetEndedError(f"the budget does not reach the last test: {found.stopped}")
        return {each: self._score(self.trials[number, each]) for each in cases}

    def _experiment(
        self,
        arms: Mapping[str, Candidate],
        cases: Sequence[str],
        folder: str,
        budget: Budget | None = None,
    ) -> Experiment:
        """Run candidates on cases, in a folder of their own."""
        programs = {name: self.changeable.with_texts(each) for name, each in arms.items()}
        found = ab(
            [self.cases[each] for each in cases],
            {name: evolve(self.arm, program=each) for name, each in programs.items()},
            [self.metric],
            seed=self.journal.seed,
            out=self.journal.path / folder,
            budget=budget,
            **self.options,
        )
        self.spent = sum(map(taken, found.trials), self.spent)
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
                tuple(refusals[-5:]),
                self.most,
            )
            took = f"{self.spent.runs:g} of at most {self.budget.runs:g} runs are done"
            self.tell(f"change {self.asked + 1} is proposed; {took}")
            answer, spent = self.ask(question, self.journal.path / "proposals.db")
            texts, refused = self._judged(parent.candidate, answer)
            proposal = Proposal(number, texts, refused, spent.tokens, spent.cost)
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
            ready("candidate", evolve(self.arm, program=changed), ())
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

    def _number(self, candidate: Candidate) -> int:
        if candidate not in self.candidates:
            self.candidates.append(candidate)
        return self.candidates.index(candidate)

    def _score(self, trial: Trial) -> float:
        """The score of a trial, where higher is better; the worst known where it has none."""
        value = score_of(trial, self.metric.name).value
        sign = 1 if self.metric.better == "higher" else -1
        if isinstance(value, bool):
            return value is (sign == 1)
        if value is not None:
            return sign * value
        known = (score_of(each, self.metric.name).value for each in self.trials.values())
        return min((sign * each for each in known if each is not None), default=False)
