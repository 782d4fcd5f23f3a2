"""The budget of an experiment: what all its runs may take together, judges included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from time import monotonic
from typing import Any

from attrs import asdict, field, frozen

from gram import ArgumentError

from .trials import Trial


def _limit(_: object, attribute: Any, value: Any) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 < value < inf):
        raise ArgumentError(f"Budget: {attribute.name} must be a number above 0, got {value!r}")


@frozen
class Budget:
    """What an experiment may take; where it is used up, no further run begins.

    What is done is kept, nothing is compared, and with a larger budget the experiment goes on.

    Attributes:
        tokens: the tokens of all runs and of what judges them; None for any number.
        cost: what they cost, in US dollars.
        minutes: how long the experiment runs.
        runs: the number of runs, those of the pilot included.
    """

    tokens: float | None = field(default=None, validator=_limit)
    cost: float | None = field(default=None, validator=_limit)
    minutes: float | None = field(default=None, validator=_limit)
    runs: float | None = field(default=None, validator=_limit)


def taken(trial: Trial) -> dict[str, float | None]:
    """What a run took, judges included, by the names of a budget; None for what is unknown."""
    judges = [each for each in trial.scores.values() if each.usage is not None]
    tokens = [trial.usage, *(each.usage for each in judges if each.usage)]
    costs = [trial.cost if trial.rounds else 0.0, *(each.cost for each in judges)]
    return {
        "tokens": total_of([each.total_tokens for each in tokens]),
        "cost": total_of(costs),
        "minutes": trial.seconds / 60,
        "runs": 1.0,
    }


def in_unit(name: str, amount: str) -> str:
    """An amount of what a budget limits, in words."""
    return f"{amount} {'USD' if name == 'cost' else name}"


class Meter:
    """Counts what the runs of an experiment take, and says whether another one may begin.

    A run begins where the budget allows for it and for those that go on, if they take as much as
    the mean of the runs until now.

    Args:
        budget: what they may take.
        done: the trials that are done.
        jobs: how many runs go on at once.

    Attributes:
        used_up: why no further run begins, or None.
    """

    def __init__(self, budget: Budget, done: Iterable[Trial], jobs: int) -> None:
        self.used_up: str | None = None
        self._limits = asdict(budget, filter=lambda _, value: value is not None)
        self._taken: dict[str, float | None] = {}
        self._done, self._running, self._began = 0, 0, monotonic()
        for each in done:
            self._add(each)
        self._earlier = (self._taken.get("minutes") or 0.0) / jobs

    def begins(self) -> bool:
        """Whether another run may begin; if so, it is one of those that go on."""
        self.used_up = self.used_up or next(self._short_of(), None)
        self._running += self.used_up is None
        return self.used_up is None

    def count(self, trial: Trial) -> None:
        """Count a run that has ended."""
        self._running -= 1
        self._add(trial)

    def _add(self, trial: Trial) -> None:
        self._done += 1
        for name, more in taken(trial).items():
            self._taken[name] = total_of([self._taken.get(name, 0.0), more])

    def _short_of(self) -> Iterator[str]:
        for name, limit in self._limits.items():
            budget = f"budget of {in_unit(name, f'{limit:,.10g}')}"
            total = self._taken.get(name, 0.0)
            if total is None:
                yield f"the {name} of a run is not known, so no {budget} can be kept"
                return
            mean = total / self._done if self._done else float(name == "runs")
            more = mean * (1 + self._running)
            if name == "minutes":  # those of the runs that go on pass at once
                total, more = self._earlier + (monotonic() - self._began) / 60, mean
            if total >= limit or total + more > limit:
                yield f"the {budget} is used up; with a larger one, it goes on from there"


def total_of(values: list[float | None]) -> float | None:
    """The sum; None if one of them is unknown."""
    known = [each for each in values if each is not None]
    return sum(known) if len(known) == len(values) else None
