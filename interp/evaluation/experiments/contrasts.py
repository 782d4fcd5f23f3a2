"""What an experiment compares: arms with the first, or the effects of its factors.

A matrix crosses the levels of its factors: each combination is an arm. Its effects are those of
factorial designs (Fisher 1935, The Design of Experiments, chapter 6). A main effect compares the
arms of one level with those of the first level, whatever their other levels are. A pair, or
interaction, says how much more one effect is at another level of a second factor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, combinations, product
from math import prod
from typing import TypeAlias

from attrs import evolve, frozen

from gram import ArgumentError

from .arms import Arm
from .comparing import Comparison, Interval, Scores

Levels: TypeAlias = Mapping[str, str]
"""The level of each factor that an arm has."""

MOST_ARMS = 1_000
"""How many arms an experiment may have."""


def crossed(
    arms: Mapping[str, Arm], factors: Mapping[str, Mapping[str, Arm]]
) -> tuple[dict[str, Arm], dict[str, Levels]]:
    """The arms of a matrix, and the levels of each.

    Args:
        arms: the arms; several are the levels of a first factor, ``arm``.
        factors: what each level of each factor changes, by name; the first level of each is what
            the others are compared with.

    Raises:
        ArgumentError: a factor has fewer than two levels, two arms get the same name, or there are
            too many arms.
    """
    if not factors:
        return dict(arms), {}
    for factor, levels in factors.items():
        if len(levels) < 2:
            raise ArgumentError(f"ab: the factor {factor} needs two levels, it has {len(levels)}")
    if len(arms) > 1 and "arm" in factors:
        raise ArgumentError("ab: several arms are the factor arm, and another factor is named so")
    (base, *_), several = arms.values(), {"arm": arms} if len(arms) > 1 else {}
    names = (*several, *factors)
    if (number := prod(map(len, (several | dict(factors)).values()))) > MOST_ARMS:
        told = f"factors make {number:,} arms, more than {MOST_ARMS:,}"
        raise ArgumentError(f"ab: {told}: leave out factors or levels")
    made: dict[str, Arm] = {}
    levels_of: dict[str, Levels] = {}
    for chosen in product(*(each.items() for each in (several | dict(factors)).values())):
        name, arm = ", ".join(level for level, _ in chosen), Arm() if several else base
        if name in made:
            raise ArgumentError(f"ab: two arms are named {name}")
        for _, change in chosen:
            arm = change.over(arm)
        made[name] = arm
        levels_of[name] = {factor: level for factor, (level, _) in zip(names, chosen, strict=True)}
    return made, levels_of


@frozen
class Contrast:
    """Two groups of arms that are compared: their scores are averaged, case by case.

    Attributes:
        baseline: what the first group is called.
        arm: what the second is called.
        minus: the arms of the first.
        plus: the arms of the second.
        factors: the factors whose effect it is; none where two arms are compared.
        name: what is compared, in words.
    """

    baseline: str
    arm: str
    minus: tuple[str, ...]
    plus: tuple[str, ...]
    factors: tuple[str, ...] = ()
    name: str = ""

    def rows(self, scores: Mapping[str, Scores]) -> tuple[Scores, Scores]:
        """The scores of both groups: a row for each case."""
        minus, plus = (
            [
                [*chain.from_iterable(rows)]
                for rows in zip(*(scores[arm] for arm in arms), strict=True)
            ]
            for arms in (self.minus, self.plus)
        )
        return minus, plus

    def of(self, found: Comparison) -> Comparison:
        """The comparison of the groups as one of factors.

        The groups of a pair differ by half of what a pair is: how much more one effect is at the
        other level.
        """
        if len(self.factors) == 2:
            within = found.interval
            found = evolve(
                found,
                difference=2 * found.difference,
                interval=within and Interval(2 * within.low, 2 * within.high),
                deviation=2 * found.deviation,
            )
        return evolve(found, factors=self.factors, name=self.name or found.name)


def contrasts_of(arms: Sequence[str], levels: Mapping[str, Levels]) -> tuple[Contrast, ...]:
    """What is compared: each arm with the first, or the effects of factors and of their pairs.

    Args:
        arms: the names of the arms.
        levels: the levels of each arm; empty where there are no factors.
    """
    if not levels:
        first, *others = arms
        return tuple(Contrast(first, each, (first,), (each,)) for each in others)
    steps = [
        (factor, level, first)
        for factor, (first, *others) in factors_of(levels).items()
        for level in others
    ]
    effects = [*combinations(steps, 1), *combinations(steps, 2)]
    return tuple(_effect(levels, of) for of in effects if of[0][0] != of[-1][0] or len(of) == 1)


def factors_of(levels: Mapping[str, Levels]) -> dict[str, tuple[str, ...]]:
    """The levels of each factor, in their order."""
    factors = next(iter(levels.values()), {})
    return {each: tuple(dict.fromkeys(mine[each] for mine in levels.values())) for each in factors}


def _effect(levels: Mapping[str, Levels], of: Sequence[tuple[str, str, str]]) -> Contrast:
    """The effect of one step from the first level to another, or of two of them together."""
    sides: tuple[list[str], list[str]] = [], []
    for arm, mine in levels.items():
        if all(mine[factor] in (level, first) for factor, level, first in of):
            sides[sum(mine[factor] == first for factor, _, first in of) % 2].append(arm)
    factors, reached, begun = zip(*of, strict=True)
    name = " × ".join(f"{factor} {level} − {first}" for factor, level, first in of)
    plus, minus = map(tuple, sides)
    return Contrast(", ".join(begun), ", ".join(reached), minus, plus, factors, name)
