"""The sets of cases, and the search: candidates from candidates, the best on each case kept.

Nothing here knows what a candidate is, who proposes one, or what measures it.

A case's set follows from what is asked in it, so it is the same in every later search, whatever
other cases there are, in which order they are, and what they are called. What a case expects has
no part in it: a case whose answer is corrected has been seen in a search all the same. Cases of
one cluster are in one set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from random import Random
from statistics import fmean
from types import SimpleNamespace
from typing import Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar

from attrs import evolve, frozen

from gram.extras import install

from ...errors import ConfigurationError
from ..cases import Case
from ..experiments.metrics import short_hash
from .changes import Candidate

SetName: TypeAlias = Literal["search", "choosing", "last"]


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


def set_of(case: Case) -> SetName:
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
        by_name: dict[SetName, list[Case]] = {"search": [], "choosing": [], "last": []}
        for each in cases:
            by_name[set_of(each)].append(each)
        return cls(*map(tuple, by_name.values()))


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

    adapter: Any = _Adapter(world, tries)
    found: Any = gepa.api.optimize(
        dict(start),
        trainset=list(cases),
        valset=list(cases),
        adapter=adapter,
        stop_callbacks=lambda _: adapter.has_ended(len(cases)),
        logger=SimpleNamespace(log=lambda _: None),  # what has to be known is told by who searches
        seed=rng.randrange(2**31),
    )
    return [
        Tried(candidate, {cases[number]: score for number, score in scores.items()})
        for candidate, scores in zip(found.candidates, found.val_subscores, strict=True)
    ]


class _Adapter:
    """What ``gepa.GEPAAdapter`` asks for; its data are the names of cases."""

    def __init__(self, world: World[Candidate], tries: int) -> None:
        self.world = world
        self.tries = tries
        self.asked = self.rounds = 0

    def has_ended(self, cases: int) -> bool:
        """Whether enough was asked; rounds whose small trial has no failure ask nothing."""
        self.rounds += 1
        is_enough = self.asked >= self.tries or self.rounds > 10 * self.tries
        return is_enough or not self.world.affords(cases)

    def evaluate(
        self, batch: list[str], candidate: dict[str, str], capture_traces: bool = False
    ) -> Any:
        """Run a candidate on cases."""
        from gepa.core.adapter import EvaluationBatch

        scores = [*self.world.measure(candidate, batch).values()]
        return EvaluationBatch(outputs=batch, scores=scores, trajectories=batch)

    def make_reflective_dataset(
        self, candidate: dict[str, str], eval_batch: Any, components_to_update: list[str]
    ) -> Mapping[str, Sequence[Mapping[str, str]]]:
        """The cases that failed, by their names: their runs are read by who proposes."""
        pairs = zip(eval_batch.trajectories, eval_batch.scores, strict=True)
        failing = [{"case": name} for name, score in pairs if score is not True]
        return dict.fromkeys(components_to_update, failing)

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, str]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Ask for a change; the candidate itself, which is no better, where none came."""
        self.asked += 1
        failing = {each["case"]: None for rows in reflective_dataset.values() for each in rows}
        return dict(self.world.propose(Tried(candidate, {}), [*failing]) or candidate)
