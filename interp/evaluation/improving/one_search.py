"""Makes a program better, and shows it, or says that it could not be shown: one search.

.. code-block:: text

    search.gram     which search it is, then a line for each proposal
    proposals.db    a store with the runs of the proposer
    program-1/      the program on the cases for search: the folder of an experiment, as of `ab`
    candidate-1-1/  the first candidate on some cases; …-2/ on the others
    last-2/         the program and the second candidate on the last set

A search that is called again reads here what was done, and goes on behind it.
"""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final, TypeAlias

from attrs import asdict, evolve, field, frozen, validators

from gram import Document, GramDecodeError, GramEncodeError, write_atomically
from gram.documents import holding
from gram.errors import expect
from gram.words import counted
from lenses_ext import Project, load_project

from ...errors import ToolBindingError, ValidationError
from ...history.records import PathLike, Reader, add_to_file, pattern_line
from ..cases import Case, Checks, RubricJudge
from ..experiments import Arm, Budget, Experiment, Metric, MetricLike, Trial, ab, require_statistics
from ..experiments.arms import ready
from ..experiments.carrying_out import Spent, cases_of, expect_counts, prepare, taken, too_little
from ..experiments.metrics import score_of, short_hash
from ..experiments.plan import entries_of, entry, make_plan, read_entry
from . import searching
from .changes import Ask, Candidate, Changeable, FailingRun, Leaks, Proposer, Question, proposer_of
from .searching import Improvement, Look, Looks, Scores, Search, Tried, digest_of


class NotAskedError(Exception):
    """Why the last set is not asked; it is caught where the search is carried out."""


FILE: Final = "search.gram"
_LOOKS: Final = "looks.gram"

_SHORTEST: Final = 2_000  # characters that texts may have together, whatever they have now


_AN_OBJECT: Final = validators.optional(validators.instance_of(dict))


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
    texts: Candidate | None = field(default=None, validator=_AN_OBJECT)
    refused: str = ""
    tokens: float | None = None
    cost: float | None = None


Begun: TypeAlias = tuple[str, int, list[Proposal]]
"""The id of a search, the seed that draws what it draws, and what was proposed in it."""


def _begun(folder: Path, subject: str) -> Begun | None:
    """What was done in the folder of a search; None where nothing was begun.

    Raises:
        OSError, GramDecodeError: the folder cannot be read.
        ValidationError: another search is in it.
    """
    if not (file := folder / FILE).exists():
        return None
    if not (patterns := entries_of(file)):
        raise ValidationError(f"{file}: no search is in it; name another folder")
    read = Reader(patterns[0], "Search", ("id", "seed", "subject"))
    if read.text("subject") != subject:
        raise ValidationError(
            f"{folder}: another search is in this folder, of another program, other paths, "
            "cases or settings; name another folder"
        )
    proposals = [read_entry(each, "Proposal", Proposal) for each in patterns[1:]]
    return read.text("id"), read.number("seed"), proposals


class OneSearch:
    """Runs candidates, asks the proposer, chooses, and tests the best one.

    Args:
        arm: the program as it is run.
        begun: what was done in the folder before.
        budget, tries, tell: as of `improve`.
        options: other arguments of `ab`.

    Raises:
        ValidationError: the last set can show nothing, or the budget has too few runs.
    """

    def __init__(
        self,
        changeable: Changeable,
        arm: Arm,
        metric: Metric,
        cases: tuple[Case, ...],
        ask: Ask,
        folder: Path,
        begun: Begun,
        looks: Looks,
        budget: Budget | None,
        tries: int,
        options: Mapping[str, Any],
        tell: Callable[[str], None],
    ) -> None:
        self._changeable, self._arm, self._metric, self._ask = changeable, arm, metric, ask
        self._folder, (self._id, self._seed, self._proposals) = folder, begun
        self._looks, self._options, self._tell = looks, options, tell
        self._cases = {each.name: each for each in searching.alike_together(cases)}
        sets = searching.Sets.of(cases)
        # A search that has looked at the last set is closed: nothing new is proposed then.
        last, before, self._is_closed = looks.before(sets.last, self._id)
        searching.expect_power(sets, last)
        self._sets, self._look = evolve(sets, last=last), before + 1
        self._leaks = Leaks(cases, changeable.program.patterns)
        self._most = max(_SHORTEST, 2 * sum(map(len, changeable.texts.values())))
        self._reserved = (searching.FINALISTS + 1) * len(sets.choosing) + 2 * len(last)
        one_candidate = 2 * len(sets.search) + self._reserved
        self._budget, self._tries = budget or Budget(), max(tries, len(self._proposals))
        runs = self._budget.runs or len(sets.search) * (1 + tries) + self._reserved
        if runs < one_candidate:
            raise ValidationError(
                f"{runs:g} runs are too few: with these cases, one candidate and the last "
                f"test need {one_candidate}"
            )
        self._budget = evolve(self._budget, runs=runs)
        for each in searching.before_spending(self._sets, self._look, metric, self._budget):
            tell(each)
        self._began, self._spent, self._asked = monotonic(), Spent(), 0
        self._candidates = list[Candidate]()  # the first is the program as it is
        self._trials = dict[tuple[int, str], Trial]()
        self._experiments = Counter[int]()

    # --- the budget

    @property
    def _taken(self) -> Spent:
        return evolve(self._spent, minutes=(monotonic() - self._began) / 60)

    def _too_little(self, runs: int) -> str | None:
        """Why so many more runs do not fit; what is closed is gone through again, whatever fits."""
        return None if self._is_closed else too_little(self._budget, self._taken, runs)

    def _require(self, runs: int) -> None:
        if why := self._too_little(runs):
            raise NotAskedError(f"the budget does not reach the last test: {why}")

    def affords(self, runs: int) -> bool:
        """Whether the budget has so many runs left, beside those of choosing and deciding."""
        if self._is_closed:
            return self._asked < len(self._proposals)
        return self._too_little(runs + self._reserved) is None

    # --- searching, choosing, testing

    def carried_out(self, search: Search[Candidate], folder: Path | None) -> Improvement:
        """Search, choose and test; ``folder`` is the one that stays, or None."""
        program, start = self._changeable.program, dict(self._changeable.texts)
        texts, experiment, reason = None, None, ""
        verdict: searching.Verdict = "not shown to be better"
        try:
            texts = self._chosen(start, search)
        except NotAskedError as error:
            reason = str(error)
        else:
            experiment, verdict = self._tested(start, texts)
        after = self._changeable.with_texts(texts or start)
        refused = tuple(each.refused for each in self._proposals if each.refused)
        counts = self._look, self._spent, self._asked, refused, folder
        return Improvement(verdict, reason, program, after, texts, experiment, *counts)

    def _expect_room(self, start: Candidate) -> None:
        """Run the program, and refuse to go on where no gain could be shown."""
        names = [each.name for each in self._sets.search]
        scores = self.measure(start, names)
        trials = list(self._trials.values())
        measured = [score_of(each, self._metric.name) for each in trials]
        problem = None
        if all(each.failure and not each.rounds for each in trials):
            problem = trials[0].failure
        elif all(each.value is None for each in measured):
            problem = measured[0].problem or "no run has one"
        if problem:
            raise NotAskedError(
                "no run of the program has a score; when that is mended, begin anew in another "
                f"folder: {problem}"
            )
        if self._spent.runs:
            whole = self._spent.times((self._budget.runs or 0) / self._spent.runs)
            self._tell(f"the program took {self._spent}; at that rate, all of it takes {whole}")
        passed, last = int(sum(scores.values())), len(self._sets.last)
        is_rate = all(isinstance(each, bool) for each in scores.values())
        if is_rate and not searching.leaves_room(passed, len(names), last):
            raise NotAskedError(
                f"the program passes {passed} of {counted(len(names), 'case')}, so that even one "
                f"that passes all of the last {last} could not be shown to be better; add harder "
                "cases"
            )

    def _chosen(self, start: Candidate, search: Search[Candidate]) -> Candidate:
        """The texts that are chosen; raises NotAskedError where none are."""
        self._expect_room(start)
        names, rng = [each.name for each in self._sets.search], Random(self._seed)
        pool = search(start, names, self, self._tries, rng)
        done = counted(len(pool) - 1, "candidate")
        self._tell(f"{done} did well enough to be run on all cases for search; {self._spent}")
        if not self._asked:
            self._require(len(names) + self._reserved)
        chosen = searching.choose(pool, [each.name for each in self._sets.choosing], self)
        if chosen is None:
            raise NotAskedError(
                "no candidate did better than the program on the cases for search and for "
                "choosing, so the last set was not asked"
            )
        self._require(2 * len(self._sets.last))
        return chosen.candidate

    def _tested(self, start: Candidate, texts: Candidate) -> tuple[Experiment, searching.Verdict]:
        """One look at the last set."""
        digests = tuple(sorted({digest_of(each) for each in self._sets.last}))
        look = Look(self._id, digests, str(self._changeable.program.filename))
        self._look = self._looks.take(look) + 1
        names = [each.name for each in self._sets.last]
        folder = f"last-{self._candidates.index(texts)}"
        experiment = self._experiment({"program": start, "candidate": texts}, names, folder)
        if not experiment.comparisons:
            raise ValidationError("; ".join(experiment.notes))
        comparison = experiment.comparison()
        verdict = searching.verdict_of(comparison)
        self._looks.take(evolve(look, verdict=verdict, p=comparison.p_value))
        return experiment, verdict

    # --- runs and proposals

    def measure(self, candidate: Candidate, cases: Sequence[str]) -> Scores:
        """Run a candidate on those of the cases on which it has not been run."""
        number = self._number(candidate)
        if missing := [each for each in cases if (number, each) not in self._trials]:
            self._require(1)
            took, left = asdict(self._taken), None
            if not self._is_closed:
                limits = asdict(evolve(self._budget, runs=None))
                left = Budget(**{k: max(m - took[k], 1e-9) for k, m in limits.items() if m})
            self._experiments[number] += 1
            name = f"candidate-{number}" if number else "program"
            folder = f"{name}-{self._experiments[number]}"
            found = self._experiment({name: candidate}, missing, folder, left)
            self._trials |= {(number, each.case.name): each for each in found.trials}
            if found.stopped:
                raise NotAskedError(f"the budget does not reach the last test: {found.stopped}")
        return {each: self._score(self._trials[number, each]) for each in cases}

    def _experiment(
        self,
        arms: Mapping[str, Candidate],
        cases: Sequence[str],
        folder: str,
        budget: Budget | None = None,
    ) -> Experiment:
        """Run candidates on cases, in a folder of their own."""
        programs = {name: self._changeable.with_texts(each) for name, each in arms.items()}
        found = ab(
            [self._cases[each] for each in cases],
            {name: evolve(self._arm, program=each) for name, each in programs.items()},
            [self._metric],
            seed=self._seed,
            out=self._folder / folder,
            budget=budget,
            **self._options,
        )
        self._spent = sum(map(taken, found.trials), self._spent)
        return found

    def propose(self, parent: Tried[Candidate], failing: Sequence[str]) -> Candidate | None:
        """Ask for a change of a candidate; None where what came cannot be a candidate."""
        number = self._number(parent.candidate)
        if self._asked < len(self._proposals):
            proposal = self._proposals[self._asked]
        else:
            metric, program = self._metric.name, self._changeable.with_texts(parent.candidate)
            refusals = [each.refused for each in self._proposals if each.refused]
            question = Question(
                "\n".join(each.text for each in program.documents.values()),
                dict(parent.candidate),  # a function may change what it is given
                tuple(FailingRun.of(self._trials[number, each], metric) for each in failing),
                tuple(refusals[-5:]),
                self._most,
            )
            took = f"{self._spent.runs:g} of at most {self._budget.runs:g} runs are done"
            self._tell(f"change {self._asked + 1} is proposed; {took}")
            answer, spent = self._ask(question, self._folder / "proposals.db")
            texts, refused = self._judged(parent.candidate, answer)
            proposal = Proposal(number, texts, refused, spent.tokens, spent.cost)
            told = asdict(proposal, recurse=False) | {"refused": refused or None}
            add_to_file(self._folder / FILE, pattern_line(entry("Proposal", told)))
            self._proposals.append(proposal)
        self._asked += 1
        self._spent += Spent(proposal.tokens, proposal.cost)
        return proposal.texts

    def _judged(self, parent: Candidate, answer: object) -> tuple[Candidate | None, str]:
        """The texts of an answer, or why it is refused."""
        if not isinstance(answer, Mapping):
            return None, "the answer is no JSON object from paths to texts"
        texts = dict(parent)
        try:
            for path, text in answer.items():
                texts[str(path)] = self._changeable.written(str(path), text)
            changed = self._changeable.with_texts(texts)
            ready("candidate", evolve(self._arm, program=changed), ())
        except (ToolBindingError, ValidationError, GramEncodeError, GramDecodeError) as error:
            return None, str(error)
        if texts in self._candidates:
            return None, "nothing is changed, or these texts were tried before"
        if (length := sum(map(len, texts.values()))) > self._most:
            return None, f"the texts have {length} characters together, {self._most} are the most"
        for path, place in self._changeable.places.items():
            if leaked := self._leaks.of(place.get(changed.patterns)):
                return None, f"{path}: {leaked}"
        return texts, ""

    def _number(self, candidate: Candidate) -> int:
        if candidate not in self._candidates:
            self._candidates.append(candidate)
        return self._candidates.index(candidate)

    def _score(self, trial: Trial) -> float:
        """The score of a trial, where higher is better; the worst known where it has none."""
        value = score_of(trial, self._metric.name).value
        sign = 1 if self._metric.better == "higher" else -1
        if isinstance(value, bool):
            return value is (sign == 1)
        if value is not None:
            return sign * value
        known = (score_of(each, self._metric.name).value for each in self._trials.values())
        return min((sign * each for each in known if each is not None), default=False)


def improve(
    program: PathLike | Project | Document,
    change: str | Iterable[str],
    cases: PathLike | Iterable[Case],
    metric: MetricLike = "passed",
    *,
    base: Arm | None = None,
    checks: Checks = {},  # noqa: B006  # it is only read
    judge: RubricJudge | None = None,
    proposer: Proposer = None,
    search: Search[Candidate] = searching.search_by_front,
    tries: int = 10,
    budget: Budget | None = None,
    looks: PathLike | None = None,
    out: PathLike | None = None,
    seed: int | None = None,
    jobs: int = 4,
    progress: bool | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Improvement:
    """Search for changes that make a program better, and test the best of them once.

    The cases are in three sets, which follow from their contents: candidates are found on the
    first, one is chosen on the second, and the last decides, in one paired test. One last set
    decides in at most five searches, each at a fifth of 5 %. Called again with the same folder, a
    search that was stopped goes on.

    Args:
        program: the program: its file, or a document or project that was read.
        change: the paths of what may change, as `gram set` has them; commas part several.
        cases: the cases, or their file.
        metric: what is to be better: a name, a `Metric`, or a function of a trial.
        base: how the program is run: tools, model, settings and limits. Where texts of tools may
            change, tools match by their types unless it says otherwise.
        checks, judge, jobs, progress: as of `ab`.
        proposer: who proposes changes, see `Proposer`; by default the program's own model.
        search: how candidates are searched for; `search_with_gepa` is another way.
        tries: how many changes are proposed, at most.
        budget: what the search may take, judges and the proposer included. It keeps what choosing
            and the last set need, as runs took until then; by default as many runs as ``tries``
            need.
        looks: the file that counts how often the last set has decided; by default beside the file
            of cases.
        out: the folder that keeps the search; without it, nothing is kept.
        seed: draws what is drawn at random; by default it is drawn itself.
        tell: is called with what has to be known before anything is spent, and with what is done.

    Raises:
        OSError: a file cannot be read or written; what was done is kept.
        GramDecodeError: a file is not gram.
        ArgumentError: an argument is of the wrong type.
        ValidationError: a program or a case is not valid, the folder has another search, or the
            last set can show nothing.
        ToolBindingError: the tools do not bind.
        ConfigurationError: a model cannot be asked, or a path leads to nothing that can change.
        AgentError: the proposer failed.
    """
    require_statistics()
    expect_counts("improve", tries=tries, jobs=jobs)
    expect(program, (str, os.PathLike, Project, Document), "program", by="improve")
    expect(seed, (int, type(None)), "seed", by="improve")
    read = Project.of(program) if isinstance(program, Document) else program
    read = read if isinstance(read, Project) else load_project(read)
    changeable = Changeable.of(read, change)
    given = cases_of(cases, by="improve")
    arm = evolve(base or Arm(), program=read)
    if changeable.changes_tools and arm.match is None:
        arm = evolve(arm, match="types")
        tell("texts of tools may change: they match by types, and gram run needs --match types")
    (prepared,), (measured,), judge = prepare(given, {"program": arm}, [metric], checks, judge)
    plan = make_plan([prepared], [measured], given, primary=measured.name, repeats=1, seed=0)
    texts = [each.text for each in read.documents.values()]
    subject = short_hash("\0".join([plan.hash, *texts, *sorted(changeable.places)]))
    drawn = secrets.randbelow(2**31) if seed is None else abs(seed)
    if looks is None and isinstance(cases, str | os.PathLike):
        looks = Path(cases).with_name(f"{Path(cases).name}.looks.gram")
    elif looks is None:
        tell("the cases have no file: looks=FILE counts how often their last set has decided")
    options = {"checks": checks, "judge": judge, "jobs": jobs, "progress": progress}
    ask = proposer_of(proposer, prepared)
    temporary = TemporaryDirectory(prefix="gram-improve-") if out is None else nullcontext(out)
    with temporary as name:
        folder = Path(name)
        before, ledger = _begun(folder, subject), Looks(Path(looks or folder / _LOOKS))
        begun = before or (secrets.token_hex(8), drawn, [])
        how = folder, begun, ledger, budget, tries, options, tell
        one = OneSearch(changeable, arm, measured, given, ask, *how)
        if before is None:
            folder.mkdir(parents=True, exist_ok=True)
            told = {"id": begun[0], "seed": begun[1], "subject": subject}
            line = pattern_line(entry("Search", told))
            write_atomically(folder / FILE, f"{line}\n", private=True)
        with holding(ledger.file):  # it can be written
            pass
        with holding(folder / FILE, wait=False, private=True):
            return one.carried_out(search, None if out is None else folder)
