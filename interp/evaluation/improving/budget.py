"""What a search may take, and what it took."""

from __future__ import annotations

from time import monotonic

from attrs import asdict, field, frozen

from ...errors import ConfigurationError, ValidationError
from ..experiments import Budget
from ..experiments.forecast import Spent
from .searching import FINALISTS, Sets


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
