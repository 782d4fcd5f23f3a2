"""Make a program better, and show it, or say that it could not be shown."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from attrs import evolve, frozen

from gram import Document
from gram.documents import holding
from gram.errors import expect
from gram.words import counted
from lenses_ext import Project, load_project

from ...errors import ValidationError
from ...history.records import PathLike
from ..cases import Case, Checks, RubricJudge
from ..experiments import Arm, Budget, MetricLike, require_statistics
from ..experiments.carrying_out import cases_of, expect_counts, prepare
from ..experiments.metrics import short_hash
from ..experiments.plan import make_plan
from .changes import Candidate, Changeable, Leaks, Proposer, proposer_of
from .deciding import (
    Improvement,
    Look,
    Looks,
    before_spending,
    expect_power,
    leaves_room,
    verdict_of,
)
from .searching import Search, Sets, alike_together, choose, digest_of, search_by_front
from .world import FILE, Allowance, BudgetEndedError, Journal, Runs


@frozen
class OneSearch:
    """A search whose parts have been checked.

    Attributes:
        world: runs candidates and asks the proposer.
        sets: the cases; of the last set, those that may decide.
        looks: the file of looks.
        look: which look at the last set it is.
    """

    world: Runs
    sets: Sets
    looks: Looks
    look: int

    def carried_out(
        self, search: Search[Candidate], tries: int, folder: Path | None
    ) -> Improvement:
        """Search, choose and test.

        Args:
            search: the way to search.
            tries: how many changes are proposed, at most.
            folder: the folder that stays, or None.
        """
        world, texts = self.world, None
        start = dict(world.changeable.texts)
        try:
            reason = self._without_room(start)
            if not reason:
                texts, reason = self._chosen(start, search, tries)
        except BudgetEndedError:
            reason = (
                "the budget does not reach the last test; with a larger one, the search goes on"
            )
        after = world.changeable.program if texts is None else world.changeable.with_texts(texts)
        found = Improvement(
            verdict="not shown to be better",
            reason=reason,
            before=world.changeable.program,
            after=after,
            texts=texts,
            experiment=None,
            look=self.look,
            spent=world.spent,
            proposed=world.asked,
            refused=tuple(each.refused for each in world.journal.proposals if each.refused),
            folder=folder,
        )
        return found if texts is None else self._tested(found, start, texts)

    def _chosen(
        self, start: Candidate, search: Search[Candidate], tries: int
    ) -> tuple[Candidate | None, str]:
        """The texts that are chosen; None, and why, where none are."""
        world, names = self.world, [each.name for each in self.sets.search]
        rng = Random(world.journal.seed)
        pool = search(start, names, world, max(tries, len(world.journal.proposals)), rng)
        done = counted(len(pool) - 1, "candidate")
        self.world.tell(f"{done} did well enough to be run on all cases for search; {world.spent}")
        if not world.asked and not world.affords(len(names)):
            raise BudgetEndedError
        chosen = choose(pool, [each.name for each in self.sets.choosing], world)
        if chosen is None:
            return None, (
                "no candidate did better than the program on the cases for search and for "
                "choosing, so the last set was not asked"
            )
        if not world.affords_last(2 * len(self.sets.last)):
            raise BudgetEndedError
        return chosen.candidate, ""

    def _without_room(self, start: Candidate) -> str:
        """Why no gain could be shown, after the first runs of the program; empty if one could."""
        names = [each.name for each in self.sets.search]
        scores = self.world.measure(start, names)
        if problem := self.world.why_no_score:
            return (
                "no run of the program has a score; when that is mended, begin anew in another "
                f"folder: {problem}"
            )
        spent, most = self.world.spent, self.world.allowance.runs
        if spent.runs:
            whole = spent.times(most / spent.runs)
            self.world.tell(f"the program took {spent}; at that rate, all of it takes {whole}")
        if not all(isinstance(each, bool) for each in scores.values()):
            return ""
        passed, last = int(sum(scores.values())), len(self.sets.last)
        if leaves_room(passed, len(names), last):
            return ""
        return (
            f"the program passes {passed} of {counted(len(names), 'case')}, so that even one that "
            f"passes all of the last {last} could not be shown to be better; add harder cases"
        )

    def _tested(self, found: Improvement, start: Candidate, texts: Candidate) -> Improvement:
        """One look at the last set."""
        world, number = self.world, self.world.candidates.index(texts)
        digests = tuple(sorted({digest_of(each) for each in self.sets.last}))
        look = Look(world.journal.id, digests, str(found.before.filename))
        found = evolve(found, look=self.looks.take(look) + 1)
        experiment = world.experiment(
            {"program": start, "candidate": texts},
            [each.name for each in self.sets.last],
            f"last-{number}",
        )
        if not experiment.comparisons:
            raise ValidationError("; ".join(experiment.notes))
        comparison = experiment.comparison()
        verdict = verdict_of(comparison)
        self.looks.take(evolve(look, verdict=verdict, p=comparison.p_value))
        return evolve(found, verdict=verdict, experiment=experiment, spent=world.spent)


TRIES = 10
"""How many changes are proposed, where nothing else is asked for."""

_SHORTEST = 2_000  # characters that texts may have together, whatever they have now


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
    search: Search[Candidate] = search_by_front,
    tries: int = TRIES,
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
        checks: the functions that cases name as their checks.
        judge: what judges the rubrics of cases; by default one with the model of the program.
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
        jobs: how many runs go on at once.
        progress: whether to show progress bars, see `ab`.
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
    read = _project(program)
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
    with _folder(out) as folder:
        journal = Journal(folder, subject, (secrets.token_hex(8), _seed(seed)))
        ledger = _looks(looks, cases, folder, tell)
        sets = Sets.of(given)
        last, before, has_looked = ledger.before(sets.last, journal.id)
        expect_power(sets, last)
        sets = evolve(sets, last=last)
        allowance = Allowance.of(sets, tries, budget or Budget())
        world = Runs(
            changeable,
            arm,
            measured,
            {each.name: each for each in alike_together(given)},
            checks,
            judge,
            Leaks(given, read.patterns),
            max(_SHORTEST, 2 * sum(map(len, changeable.texts.values()))),
            proposer_of(proposer, prepared),
            journal,
            allowance,
            jobs,
            progress,
            tell,
            is_closed=has_looked,
        )
        for each in before_spending(sets, before + 1, measured, allowance):
            tell(each)
        journal.begin()
        ledger.expect_writable()
        with holding(folder / FILE, wait=False, private=True):
            conducted = OneSearch(world, sets, ledger, before + 1)
            return conducted.carried_out(search, tries, None if out is None else folder)


def _project(program: PathLike | Project | Document) -> Project:
    expect(program, (str, os.PathLike, Project, Document), "program", by="improve")
    if isinstance(program, Project):
        return program
    return Project.of(program) if isinstance(program, Document) else load_project(program)


def _looks(
    looks: PathLike | None, cases: object, folder: Path, tell: Callable[[str], None]
) -> Looks:
    if looks is not None:
        return Looks(Path(looks))
    if isinstance(cases, str | os.PathLike):
        return Looks.beside(Path(cases))
    tell("the cases have no file: looks=FILE counts how often their last set has decided")
    return Looks(folder / "looks.gram")


def _seed(seed: int | None) -> int:
    expect(seed, (int, type(None)), "seed", by="improve")
    return secrets.randbelow(2**31) if seed is None else abs(seed)


@contextmanager
def _folder(out: PathLike | None) -> Iterator[Path]:
    """The folder of a search; one that goes when it ends, where none is named."""
    if out is not None:
        yield Path(out)
        return
    with TemporaryDirectory(prefix="gram-improve-") as folder:
        yield Path(folder)
