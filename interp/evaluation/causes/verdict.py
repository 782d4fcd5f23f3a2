"""What two samples of continuations say: whether the change made a difference."""

from __future__ import annotations

from functools import cached_property

from attrs import define, frozen

from ..experiments import ALPHA, Interval, detectable, fisher, newcombe


@frozen
class Sample:
    """Continuations of one kind.

    Attributes:
        right: how many were right.
        ended: how many ended at a call without a result.
        runs: the ids of all of them.
        is_varied: whether any two of them differ.
        faults: what was wrong with checks that did not answer, a text for each continuation.
    """

    right: int
    ended: int
    runs: tuple[str, ...]
    is_varied: bool = True
    faults: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.runs)


@define(frozen=True, slots=False)
class WhatIf:
    """A comparison of continuations of a run.

    Attributes:
        subject: what was changed, in words.
        is_of_unchanged: whether the subject is what the unchanged run has; else the changed one.
        unchanged: the continuations of the unchanged run.
        changed: those with the change.
    """

    subject: str
    is_of_unchanged: bool
    unchanged: Sample
    changed: Sample

    @cached_property
    def _extremes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """How many are right if all that ended had gone against the change, and for it."""
        one, two = self.unchanged, self.changed
        return (one.right + one.ended, two.right), (one.right, two.right + two.ended)

    @cached_property
    def difference(self) -> Interval:
        """The share of right ones with the change less that without, at 95 %."""
        sizes = self.unchanged.size, self.changed.size
        low, high = (newcombe(one, sizes[0], two, sizes[1]) for one, two in self._extremes)
        return Interval(low.low, high.high)

    @cached_property
    def p(self) -> float:
        """The p-value of Fisher's exact test; the largest for any outcome of those that ended."""
        sizes = self.unchanged.size, self.changed.size
        signs = [two / sizes[1] - one / sizes[0] for one, two in self._extremes]
        if signs[0] * signs[1] <= 0:
            return 1.0
        return max(fisher(one, sizes[0], two, sizes[1]) for one, two in self._extremes)

    @property
    def made_the_difference(self) -> bool:
        """Whether chance alone makes such a difference in at most 5 % of comparisons."""
        return self.p <= ALPHA

    def lines(self) -> list[str]:
        """The verdict, in words, a sentence a line."""
        arms = [self.unchanged, self.changed]
        with_it, without = arms if self.is_of_unchanged else reversed(arms)
        rates = (
            f"{with_it.right} of {with_it.size} right with it, "
            f"{without.right} of {without.size} without"
        )
        if self.made_the_difference:
            told = [f"{self.subject} made the difference: {rates}"]
        else:
            told = [f"not shown that {self.subject} makes a difference: {rates}"]
        rate = self.changed.right / self.changed.size - self.unchanged.right / self.unchanged.size
        low, high = self.difference.low, self.difference.high
        told.append(
            f"the change: {100 * rate:+.0f} points (95 %: {100 * low:+.0f} to {100 * high:+.0f}); "
            f"Fisher's exact test: p = {self.p:.2g}"
        )
        for name, arm in (("without", self.unchanged), ("with", self.changed)):
            if arm.faults:
                told.append(
                    f"{len(arm.faults)} of {arm.size} {name} the change count as wrong, since a "
                    f"check did not answer: {arm.faults[0]}"
                )
            if arm.ended:
                told.append(
                    f"{arm.ended} of {arm.size} {name} the change ended at a call without a "
                    "result: the figures allow for any outcome of them"
                )
        if self.changed.size > 1 and not (self.unchanged.is_varied or self.changed.is_varied):
            told.append(
                "all of each are the same, word for word: of a model that does not vary, one says "
                "as much as many, and the figures do not hold"
            )
        if not self.made_the_difference:
            least = detectable(self.changed.size)
            told.append(
                f"{self.changed.size} continuations of each cannot show any difference"
                if least is None
                else f"{self.changed.size} of each find a difference of {100 * least:.0f} points "
                "in four of five comparisons, and smaller ones less often"
            )
        return told
