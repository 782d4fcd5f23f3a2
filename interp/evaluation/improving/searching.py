"""The sets of cases, the search, what the last set decides, and what came of it.

In the search, candidates come from candidates, and the best on each case are kept. It does not know
what a candidate is, who proposes one, or what measures it.

A case's set follows from what is asked in it, so it is the same in every later search, whatever
other cases there are, in which order they are, and what they are called. What a case expects has
no part in it: a case whose answer is corrected has been seen in a search all the same. Cases of
one cluster are in one set.

.. code-block:: text

    (:Look {cases: ["04be…", "9c1d…"], p: 0.031, program: "desk.gram", search: "3f2a…",
      verdict: "not shown to be better"})

A case decides in at most five looks. A look is written before the runs of the last set begin, so
that stopping them takes nothing back; a search that goes on has its look already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from itertools import takewhile
from math import floor
from pathlib import Path
from random import Random
from statistics import fmean
from types import SimpleNamespace
from typing import Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar

from attrs import asdict, evolve, field, frozen

from gram.documents import holding
from gram.extras import install
from gram.words import counted
from lenses_ext import Project

from ...errors import ConfigurationError, ValidationError
from ...history.records import pattern_line
from ...json_text import Json
from ..cases import Case
from ..experiments import Budget, Comparison, Experiment, Metric, Trial
from ..experiments.carrying_out import Spent, in_unit
from ..experiments.chance import ALPHA, findable, smallest_p, wilson
from ..experiments.metrics import MEASURES, short_hash, texts
from ..experiments.plan import entries_of, entry, read_entry
from .changes import Candidate, diff_of


def digest_of(case: Case) -> str:
    """A short text that is the same for cases that ask the same, or are of one cluster."""
    asked = [" ".join(case.message.split()).casefold(), *case.beside]
    text = "\0".join(asked if case.cluster is None else ["cluster", case.cluster])
    return short_hash(text)


def alike_together(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Cases, of which those that ask the same are of one cluster: they count as one."""
    count = Counter(map(digest_of, cases))
    return tuple(
        evolve(each, cluster=each.cluster or digest) if count[digest] > 1 else each
        for each, digest in zip(cases, map(digest_of, cases), strict=True)
    )


def set_of(case: Case) -> Literal["search", "choosing", "last"]:
    """The set that a case is in.

    The last set decides, and what it can show grows with its cases: it gets half of them. A fifth
    is for choosing.
    """
    place = int(digest_of(case), 16) / 16**16
    return "last" if place < 0.5 else "choosing" if place - 0.5 < 0.2 else "search"


@frozen
class Sets:
    """Cases in their sets.

    Attributes:
        search: those whose runs a proposer sees.
        choosing: those by which one of the candidates is chosen.
        last: those that decide.
    """

    search: tuple[Case, ...]
    choosing: tuple[Case, ...]
    last: tuple[Case, ...]

    @classmethod
    def of(cls, cases: Iterable[Case]) -> Sets:
        """The sets of cases."""
        pairs = [(set_of(each), each) for each in cases]
        names = ("search", "choosing", "last")
        return cls(*(tuple(each for name, each in pairs if name == own) for own in names))


C = TypeVar("C")

SAMPLE: Final = 4
"""How many cases that a candidate fails are shown to the proposer."""

FINALISTS: Final = 3
"""How many candidates are measured on the cases for choosing."""

Scores: TypeAlias = Mapping[str, float]
"""A score for each case, by its name; higher is better."""


@frozen
class Tried(Generic[C]):
    """A candidate, and its scores on all cases for search."""

    candidate: C
    scores: Scores

    @property
    def mean(self) -> float:
        """Its mean score."""
        return fmean(self.scores.values())


class World(Protocol[C]):
    """What a search asks: a model and runs, or a simulation of them."""

    def propose(self, parent: Tried[C], failing: Sequence[str]) -> C | None:
        """A change of a candidate, for the cases in which it does worst; None for none."""

    def measure(self, candidate: C, cases: Sequence[str]) -> Scores:
        """Run a candidate on cases."""

    def affords(self, runs: int) -> bool:
        """Whether the budget has so many runs left, beside those of choosing and deciding."""


Search: TypeAlias = Callable[[C, Sequence[str], World[C], int, Random], list[Tried[C]]]
"""A way to search; `search_by_front` is one. What it returns begins with the program itself."""


def search_by_front(
    start: C, cases: Sequence[str], world: World[C], tries: int, rng: Random
) -> list[Tried[C]]:
    """Search as GEPA does: a parent from the Pareto front, a reflective change, a small trial.

    Agrawal et al. (2025), GEPA: reflective prompt evolution can outperform reinforcement
    learning, arXiv 2507.19457. A parent is drawn as often as it is the best on a case. A candidate
    that does no better than its parent on the cases that it was made for is not run on the others.

    Args:
        start: what the search begins with.
        cases: the names of the cases for search.
        world: what proposes and measures.
        tries: how many candidates are asked for, at most.
        rng: draws parents, and cases among equals.

    Returns:
        The candidates that were measured on all cases, the first of which is ``start``.
    """
    pool = [Tried(start, world.measure(start, cases))]
    for _ in range(tries):
        if not world.affords(len(cases)):
            break
        (parent,) = rng.choices(pool, best_on(pool))
        if not (failing := worst(parent.scores, rng)):
            break
        candidate = world.propose(parent, failing)
        if candidate is None:
            continue
        scores = world.measure(candidate, failing)
        if sum(scores.values()) > sum(parent.scores[each] for each in failing):
            rest = [each for each in cases if each not in scores]
            pool.append(Tried(candidate, {**scores, **world.measure(candidate, rest)}))
    return pool


def best_on(pool: Sequence[Tried[C]]) -> list[int]:
    """For each candidate, in how many cases none is better: 0 for those behind the front."""
    best = {case: max(each.scores[case] for each in pool) for case in pool[0].scores}
    return [sum(each.scores[case] == most for case, most in best.items()) for each in pool]


def worst(scores: Scores, rng: Random) -> list[str]:
    """The cases with the lowest scores, none of which is a pass; equal ones in random order."""
    failing = [name for name, score in scores.items() if score is not True]
    rng.shuffle(failing)
    return sorted(failing, key=scores.__getitem__)[:SAMPLE]


def choose(pool: Sequence[Tried[C]], cases: Sequence[str], world: World[C]) -> Tried[C] | None:
    """Choose one candidate on cases that the search has not seen.

    Of those on the front, the best few are measured. The best of these is chosen where it does
    better than the program on all cases that were measured so far: no look at the last set is used
    up for one that does not.
    """
    start, *others = pool
    on_front = [each for each, count in zip(others, best_on(pool)[1:], strict=True) if count]
    finalists = sorted(on_front, key=lambda each: -each.mean)[:FINALISTS]
    if not finalists:
        return None
    before = sum(world.measure(start.candidate, cases).values())
    after = [sum(world.measure(each.candidate, cases).values()) for each in finalists]
    index = max(range(len(after)), key=lambda i: (after[i], finalists[i].mean))
    gain = after[index] - before
    gain += sum(finalists[index].scores.values()) - sum(start.scores.values())
    return finalists[index] if gain > 0 else None


def search_with_gepa(
    start: Candidate, cases: Sequence[str], world: World[Candidate], tries: int, rng: Random
) -> list[Tried[Candidate]]:
    """Search with ``gepa.optimize``; see `search_by_front` for the arguments and the result.

    It draws parents and small trials, and decides which candidates it keeps. What a candidate may
    be, who proposes it, and what is run twice, is decided here as it is for every search.

    Raises:
        ConfigurationError: ``gram-agents[gepa]`` is not installed.
    """
    if find_spec("gepa") is None:
        raise ConfigurationError(f"this way to search needs a library: {install('gepa')}")
    import gepa.api
    from gepa.core.adapter import EvaluationBatch

    asked = rounds = 0

    def has_ended() -> bool:
        """Whether enough was asked; rounds whose small trial has no failure ask nothing."""
        nonlocal rounds
        rounds += 1
        return asked >= tries or rounds > 10 * tries or not world.affords(len(cases))

    def evaluate(batch: list[str], candidate: Candidate, capture_traces: bool = False) -> Any:
        scores = [*world.measure(candidate, batch).values()]
        return EvaluationBatch(outputs=batch, scores=scores, trajectories=batch)

    def failing(candidate: Candidate, eval_batch: Any, components_to_update: list[str]) -> Any:
        """The cases that failed, by their names: their runs are read by who proposes."""
        pairs = zip(eval_batch.trajectories, eval_batch.scores, strict=True)
        rows = [{"case": name} for name, score in pairs if score is not True]
        return dict.fromkeys(components_to_update, rows)

    def propose(
        candidate: Candidate, reflective_dataset: Mapping[str, Any], components_to_update: list[str]
    ) -> dict[str, str]:
        """A change; the candidate itself, which is no better, where none came."""
        nonlocal asked
        asked += 1
        names = {each["case"]: None for rows in reflective_dataset.values() for each in rows}
        return dict(world.propose(Tried(candidate, {}), [*names]) or candidate)

    adapter: Any = SimpleNamespace(
        evaluate=evaluate, make_reflective_dataset=failing, propose_new_texts=propose
    )
    found: Any = gepa.api.optimize(
        dict(start),
        trainset=list(cases),
        valset=list(cases),
        adapter=adapter,
        stop_callbacks=lambda _: has_ended(),
        logger=SimpleNamespace(log=lambda _: None),  # what has to be known is told by who searches
        seed=rng.randrange(2**31),
    )
    return [
        Tried(candidate, {cases[number]: score for number, score in scores.items()})
        for candidate, scores in zip(found.candidates, found.val_subscores, strict=True)
    ]


LOOKS: Final = 5
"""How often one last set may decide."""

LEVEL: Final = ALPHA / LOOKS
"""How often one look may find a difference that is not there.

Each of five looks gets a fifth of 5 % (Dunn 1961, Multiple comparisons among means, JASA 56,
52-64), so all five together find one in at most 5 %. That holds for later searches that begin
because of what an earlier look said, too, as long as that was only its sentence: until a first
false "better", one sentence can have been said at each look (Blum and Hardt 2015, The ladder: a
reliable leaderboard for machine learning competitions, ICML 37). It does not hold for somebody who
reads the runs of the last set, and writes what they show into the program.
"""

Verdict: TypeAlias = Literal["better", "not shown to be better", "worse"]


def verdict_of(found: Comparison) -> Verdict:
    """What one look at the last set says of a candidate, compared with the program."""
    if found.p_value > LEVEL:
        return "not shown to be better"
    is_gain = (found.difference > 0) == (found.direction == "higher")
    return "better" if is_gain else "worse"


def can_show_anything(cases: int) -> bool:
    """Whether the largest gain can be shown: every case fails before, and none after.

    >>> can_show_anything(7), can_show_anything(8)
    (False, True)
    """
    return smallest_p(cases) <= LEVEL


def leaves_room(passed: int, cases: int, last: int) -> bool:
    """Whether a program that passes so many cases fails often enough that a gain can be shown.

    Of the last set fail at most as many as fits that (the limit of Wilson's interval of 95 %).
    """
    return can_show_anything(floor(last * wilson(cases - passed, cases).high))


def gain_still_possible(found: Comparison) -> float | None:
    """The gain that cases would show which differ as those of a comparison did."""
    if found.test.startswith("McNemar"):
        return findable(found.cases, lost=found.worse / found.cases, alpha=LEVEL)
    return findable(found.clusters or found.cases, deviation=found.deviation, alpha=LEVEL)


def before_spending(sets: Sets, look: int, metric: Metric, budget: Budget) -> Iterator[str]:
    """What is told before anything is spent: what the last set can show, and the budget."""
    last = len(sets.last)
    units = len({digest_of(each) for each in sets.last})  # a cluster counts as one
    alike = "" if units == last else f", which count as {units}"
    yield (
        f"{counted(len(sets.search), 'case')} for search, {len(sets.choosing)} for choosing, "
        f"{last} in the last set{alike}; look {look} of {LOOKS} at it, each at {LEVEL:g}"
    )
    if metric.name in MEASURES:
        gain = findable(units, deviation=1.0, alpha=LEVEL)
        yield f"shown in 80 %: a gain of {gain:.2g} standard deviations of the cases' differences"
    else:
        gains = [findable(units, lost=lost, alpha=LEVEL) for lost in (0.0, 0.05, 0.1)]
        told = ["none" if each is None else f"{100 * each:.0f}" for each in gains]
        yield (
            f"shown in 80 %: a gain of {told[0]} points where no case is lost, of {told[1]} where "
            f"one in twenty is, of {told[2]} where one in ten is"
        )
    told = [in_unit(name, most) for name, most in asdict(budget).items() if most is not None]
    yield f"the budget: {', '.join(reversed(told))}"


def expect_power(sets: Sets, unspent: tuple[Case, ...]) -> None:
    """Refuse a search whose last set could not show even the largest gain, or with an empty set.

    Of the last set, the ``unspent`` cases have not decided too often.
    """
    units = len({digest_of(each) for each in unspent})
    if can_show_anything(units):
        for name in ("search", "choosing"):
            if not getattr(sets, name):
                raise ValidationError(f"no case is in the set for {name}: add cases")
        return
    last, spent = len(sets.last), len(sets.last) - len(unspent)
    total = len(sets.search) + len(sets.choosing) + last
    others = f"{spent} of them decided {LOOKS} times, and the others" if spent else "and"
    raise ValidationError(
        f"{last} of {counted(total, 'case')} are in the last set, {others} count as {units}: even "
        "a program that fails all of these, and passes all of them then, could not be shown to be "
        f"better at {LEVEL:g}; add new cases, half of which come into the last set"
    )


@frozen
class Look:
    """One look at a last set.

    Attributes:
        search: which search looked.
        cases: the digests of the cases.
        program: the name of the program.
        verdict: what it said; empty until that is known.
        p: the p-value, or None until it is known.
    """

    search: str
    cases: tuple[str, ...] = field(converter=texts)
    program: str
    verdict: str = ""
    p: float | None = None


@frozen
class Looks:
    """The file of the looks at cases.

    Its methods raise OSError where it cannot be read or written, GramDecodeError where it is not
    gram, and ValidationError, whose faults have their places, where something else is in it.
    """

    file: Path

    def before(self, cases: Iterable[Case], search: str) -> tuple[tuple[Case, ...], int, bool]:
        """The cases that may decide once more, and what is known of earlier looks at them.

        How often one of them has decided in earlier searches, and whether this search has looked.
        """
        looks, count = self._read(search)
        unspent = tuple(each for each in cases if count[digest_of(each)] < LOOKS)
        most = max((count[digest_of(each)] for each in unspent), default=0)
        return unspent, most, search in looks

    def take(self, look: Look) -> int:
        """Write a look, in the place of what was written of the same search.

        How often one of its cases has decided before is returned; ValidationError where that is
        too often, since other searches were quicker.
        """
        with holding(self.file) as held:
            looks, count = self._read(look.search)
            before = max((count[each] for each in look.cases), default=0)
            if before >= LOOKS:
                raise ValidationError(
                    f"{self.file}: other searches have decided by the last set meanwhile, "
                    f"{before} of them, so this one cannot: add new cases"
                )
            told = (asdict(each) for each in (looks | {look.search: look}).values())
            held.write("".join(f"{pattern_line(entry('Look', each))}\n" for each in told))
        return before

    def _read(self, search: str) -> tuple[dict[str, Look], Counter[str]]:
        """The looks in their order, and how often each case decided in those before a search."""
        found = [read_entry(each, "Look", Look) for each in entries_of(self.file)]
        before = takewhile(lambda each: each.search != search, found)
        count = Counter(digest for each in before for digest in each.cases)
        return {each.search: each for each in found}, count


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

    @cached_property
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
        if not (self.experiment and (found := self.comparison)):
            return
        for group in self.experiment.differing():
            by_arm = {each.arm: each for each in group}
            before, after = by_arm[found.baseline], by_arm[found.arm]
            values = (each.scores[found.metric].value for each in (before, after))
            was, now = (float("-inf") if each is None else float(each) for each in values)
            if was != now:
                is_won = (now > was) == (found.direction == "higher")
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
        found, differing = self.comparison, list[Json]()
        for how, before, after in self.differing:
            runs = {"program": self._run(before), "candidate": self._run(after)}
            differing.append({"case": after.case.name, "was": how, **runs})
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "texts": None if self.texts is None else dict(self.texts),
            "diff": self.diff,
            "look": None if found is None else self.look,
            "comparison": None if found is None else asdict(found),
            "differing": differing,
            "spent": asdict(self.spent),
            "proposed": self.proposed,
            "refused": list(self.refused),
            "folder": None if self.folder is None else str(self.folder),
        }


def _size(found: Comparison, size: float, sign: str = "+") -> str:
    return f"{100 * size:{sign}.1f} points" if found.is_rate else f"{size:{sign}.3g}"
