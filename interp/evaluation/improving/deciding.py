"""What the last set decides, and what it can show at all: arithmetic alone."""

from __future__ import annotations

from bisect import bisect_left
from math import floor
from typing import Final, Literal, TypeAlias

from ..experiments import Comparison
from ..experiments.intervals import wilson
from ..experiments.pair_tests import ALPHA, smallest_p
from ..experiments.power import POWER, power_of

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
    """Whether a program fails often enough that a gain can be shown.

    Args:
        passed: the cases for search and choosing that the program passes.
        cases: the number of these.
        last: the number of cases of the last set; of them fail at most as many as fits what was
            seen (the limit of Wilson's interval of 95 %).
    """
    return can_show_anything(floor(last * wilson(cases - passed, cases).high))


def smallest_gain(
    cases: int, *, lost: float = 0.0, deviation: float | None = None, power: float = POWER
) -> float | None:
    """The smallest gain that one look at so many cases shows as often as ``power`` says.

    Args:
        cases: the number of cases of the last set.
        lost: of a rate, the share of cases that pass before and fail after; they make a gain
            harder to show.
        deviation: of numbers, the standard deviation of the differences of the cases.
        power: how often the gain should be shown.

    Returns:
        The gain; None where no gain is shown so often.

    >>> smallest_gain(40), round(smallest_gain(40, lost=0.05), 3), smallest_gain(7)
    (0.246, 0.356, None)
    """
    most = 1 - 2 * lost if deviation is None else 20 * deviation

    def shown(thousandths: int) -> float:
        gain = most * thousandths / 1000
        if deviation is not None:
            return power_of(cases, gain, deviation=deviation, alpha=LEVEL)
        return power_of(cases, gain, disagreement=gain + 2 * lost, alpha=LEVEL)

    if not most or not can_show_anything(cases):
        return None
    found = bisect_left(range(1, 1001), power, key=shown) + 1
    return None if found > 1000 else most * found / 1000


def gain_still_possible(found: Comparison) -> float | None:
    """The gain that cases would show which differ as those of a comparison did."""
    if found.test.startswith("McNemar"):
        return smallest_gain(found.cases, lost=found.worse / found.cases)
    return smallest_gain(found.clusters or found.cases, deviation=found.deviation)
