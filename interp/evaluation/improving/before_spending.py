"""What is told and refused before a search spends anything."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import asdict

from gram.plurals import counted

from ...errors import ValidationError
from ..cases import Case
from ..experiments import Metric
from ..experiments.budget import in_unit
from ..experiments.metrics import MEASURES
from .budget import Allowance
from .deciding import LEVEL, LOOKS, can_show_anything, smallest_gain
from .sets import Sets, digest_of


def before_spending(sets: Sets, look: int, metric: Metric, allowance: Allowance) -> Iterator[str]:
    """What is told before anything is spent: what the last set can show, and the budget."""
    last = len(sets.last)
    units = len({digest_of(each) for each in sets.last})  # a cluster counts as one
    alike = f" (those that ask the same, or are of one cluster, count as {units})"
    alike = "" if units == last else alike
    yield (
        f"{counted(len(sets.search), 'case')} for search, {len(sets.choosing)} for choosing, "
        f"{last} in the last set{alike}; look {look} of {LOOKS} at it, each at {LEVEL:g}"
    )
    if metric.name in MEASURES:
        gain = smallest_gain(units, deviation=1.0)
        yield f"shown in 80 %: a gain of {gain:.2g} standard deviations of the cases' differences"
    else:
        gains = [smallest_gain(units, lost=lost) for lost in (0.0, 0.05, 0.1)]
        told = ["none" if each is None else f"{100 * each:.0f}" for each in gains]
        yield (
            f"shown in 80 %: a gain of {told[0]} points where no case is lost, of {told[1]} where "
            f"one in twenty is, of {told[2]} where one in ten is"
        )
    given = asdict(allowance.budget) | {"runs": allowance.runs}
    told = [in_unit(name, f"{most:,.10g}") for name, most in given.items() if most is not None]
    yield f"the budget: {', '.join(reversed(told))}"


def expect_power(sets: Sets, unspent: tuple[Case, ...]) -> None:
    """Refuse a search whose last set could not show even the largest gain.

    Args:
        sets: the cases.
        unspent: those of the last set that have not decided too often.

    Raises:
        ValidationError: it could not, or a set is empty.
    """
    units = len({digest_of(each) for each in unspent})
    if can_show_anything(units):
        for name in ("search", "choosing"):
            if not getattr(sets, name):
                raise ValidationError(f"no case is in the set for {name}: add cases")
        return
    total = len(sets.search) + len(sets.choosing) + len(sets.last)
    if spent := len(sets.last) - len(unspent):
        raise ValidationError(
            f"{counted(spent, 'case')} of the last set decided {LOOKS} times, and {len(unspent)} "
            "are left, which can show nothing: add new cases, half of which come into the last set"
        )
    alike = (
        ""
        if units == len(unspent)
        else f", and count as {units}: they ask the same, or are of one cluster"
    )
    raise ValidationError(
        f"{len(unspent)} of {counted(total, 'case')} are in the last set{alike}: even a "
        "program that fails all of them, and passes all of them then, could not be shown to be "
        f"better at {LEVEL:g}; add cases, half of which come into the last set"
    )
