"""The optimiser of the library ``gepa`` as a way to search, through its own adapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from random import Random
from typing import Any

from gram.extras import install

from ...errors import ConfigurationError
from .changes import Candidate
from .searching import Tried, World


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
        logger=_Silent(),
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


class _Silent:
    def log(self, message: str) -> None:
        """Say nothing: what has to be known is told by who searches."""
