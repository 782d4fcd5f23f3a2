"""Whether the statistics of `ab` keep their word, by simulated experiments without any model.

Run it with ``python -m benchmarks.calibration [EXPERIMENTS]``. An arm is compared with itself: how
often is a difference found that is not there? Then with arms that do differ: is the difference
found as often as `cases_needed` promised, and does the interval hold it?
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from interp.evaluation.experiments import Arm, cases_needed
from interp.evaluation.experiments.chance import ALPHA, findable_rate, holm, sign_flips
from interp.evaluation.experiments.comparing import (
    Comparison,
    Scores,
    compare,
    contrasts_of,
    corrected,
    crossed,
    filled,
)

if TYPE_CHECKING:
    import numpy as np

Draw: TypeAlias = "Callable[[np.random.Generator, int, int], Scores]"
"""Scores of an arm: it is given random numbers, the number of cases and of repeats."""


def successes(rate: float, spread: float = 0.0) -> Draw:
    """Successes; with a spread, some cases are harder than others for each arm alike."""

    def draw(rng: np.random.Generator, cases: int, repeats: int) -> Scores:
        rates = (rate + spread * (rng.random(cases) - 0.5)).clip(0, 1)
        found: Scores = (rng.random((cases, repeats)) < rates[:, None]).astype(float).tolist()
        return found

    return draw


def costs(rng: np.random.Generator, cases: int, repeats: int) -> Scores:
    """Skewed numbers, as tokens and seconds are."""
    found: Scores = rng.lognormal(0, 1, (cases, repeats)).tolist()
    return found


def with_failures(rng: np.random.Generator, cases: int, repeats: int) -> Scores:
    """Skewed numbers of which one in ten is missing and counts as the worst."""
    drawn = rng.lognormal(0, 1, (cases, repeats))
    missing = rng.random((cases, repeats)) < 0.1
    given = [
        [None if gone else float(number) for number, gone in zip(*row, strict=True)]
        for row in zip(drawn, missing, strict=True)
    ]
    return filled({"": given}, better="lower", worst=50.0)[""]


def alike(draw: Draw, size: int) -> Draw:
    """Scores of which those of a cluster are alike, in each arm in its own way."""

    def drawn(rng: np.random.Generator, cases: int, repeats: int) -> Scores:
        own, shared = draw(rng, cases, repeats), draw(rng, cases // size, repeats)
        copies = rng.random(cases) < 0.8
        return [shared[n // size] if copies[n] else own[n] for n in range(cases)]

    return drawn


@frozen
class Scenario:
    """Experiments in which an arm is compared with itself.

    Attributes:
        draw: the scores of the arm.
        cases: how many cases there are.
        repeats: how often each is run.
        arms: how many arms are compared with the first.
        metrics: how many metrics there are.
        cluster: how many cases a cluster has.
        is_rate: whether the scores are successes.
    """

    draw: Draw
    cases: int
    repeats: int = 1
    arms: int = 1
    metrics: int = 1
    cluster: int = 1
    is_rate: bool = True


SCENARIOS: Mapping[str, Scenario] = {
    "a rate of 70 %, 20 cases": Scenario(successes(0.7), 20),
    "a rate of 70 %, 100 cases": Scenario(successes(0.7), 100),
    "a rate of 95 %, 40 cases": Scenario(successes(0.95), 40),
    "a rate of 50 %, 20 cases 3 times": Scenario(successes(0.5, 0.8), 20, 3),
    "seconds, 12 cases": Scenario(costs, 12, is_rate=False),
    "seconds, 40 cases 3 times": Scenario(costs, 40, 3, is_rate=False),
    "seconds of which some are missing, 30 cases": Scenario(with_failures, 30, is_rate=False),
    "a rate of 70 %, 12 clusters of 5 cases": Scenario(alike(successes(0.7), 5), 60, cluster=5),
    "a rate of 70 %, 8 clusters of 5 cases 3 times": Scenario(
        alike(successes(0.7), 5), 40, 3, cluster=5
    ),
    "seconds, 12 clusters of 5 cases": Scenario(alike(costs, 5), 60, cluster=5, is_rate=False),
    "three arms and two metrics, 30 cases": Scenario(successes(0.6), 30, 1, 2, 2),
}


def experiment(scenario: Scenario, rng: np.random.Generator, seed: int) -> tuple[Comparison, ...]:
    """One experiment in which all arms are alike."""

    def drawn() -> Scores:
        return scenario.draw(rng, scenario.cases, scenario.repeats)

    cluster = scenario.cluster
    clusters = [each // cluster for each in range(scenario.cases)] if cluster > 1 else None
    found = []
    for metric in range(scenario.metrics):
        baseline = drawn()
        found += [
            compare(
                str(metric),
                ("a", baseline),
                (str(arm), drawn()),
                is_rate=scenario.is_rate,
                seed=seed,
                clusters=clusters,
            )
            for arm in range(scenario.arms)
        ]
    return corrected(found)


def size(scenario: Scenario, experiments: int, seed: int = 1) -> tuple[float, float]:
    """How often a difference is found that is not there, and how often the interval holds 0."""
    import numpy as np

    rng = np.random.default_rng(seed)
    found = [experiment(scenario, rng, each) for each in range(experiments)]
    wrong = sum(any(each.is_significant for each in group) for group in found)
    holding = sum(
        each.interval is not None and each.interval.low <= 0 <= each.interval.high
        for group in found
        for each in group[:1]
    )
    return wrong / experiments, holding / experiments


def power(
    difference: float, disagreement: float, experiments: int, seed: int = 1
) -> tuple[int, float, float]:
    """The cases that a difference is said to need, how often they find it, how often it is held."""
    import numpy as np

    rng = np.random.default_rng(seed)
    cases = cases_needed(difference, disagreement=disagreement)
    assert cases
    up, found, held = (disagreement + difference) / 2, 0, 0
    for each in range(experiments):
        kind = rng.random(cases)
        first = [[float(up <= k < disagreement or k >= (1 + disagreement) / 2)] for k in kind]
        second = [[float(k < up or k >= (1 + disagreement) / 2)] for k in kind]
        one = compare("m", ("a", first), ("b", second), is_rate=True, seed=each)
        found += one.is_significant
        held += one.interval is not None and one.interval.low <= difference <= one.interval.high
    return cases, found / experiments, held / experiments


@frozen
class Matrix:
    """Experiments with factors of some numbers of levels; each run succeeds or does not.

    Attributes:
        levels: how many levels each factor has.
        cases: how many cases there are.
        repeats: how often each is run.
    """

    levels: tuple[int, ...]
    cases: int
    repeats: int = 1


EFFECTS: Mapping[str, Matrix] = {
    "two factors of two levels, 40 cases": Matrix((2, 2), 40),
    "factors of 2, 2 and 3 levels, 30 cases": Matrix((2, 2, 3), 30),
    "factors of 3 and 2 levels, 25 cases 2 times": Matrix((3, 2), 25, 2),
}


def effects_found(
    matrix: Matrix, experiments: int, *, is_true: bool = False, seed: int = 1
) -> tuple[float, float]:
    """How often an effect is found that is not there, and how often the first one is found.

    All runs succeed in half of cases; where there is a true effect, the second level of the first
    factor has one as large as `findable_rate` says, so that 80 % of experiments should find it.

    Args:
        matrix: the factors.
        experiments: how many are simulated.
        is_true: whether the first factor has an effect.
        seed: draws the scores.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    factors = {
        f"f{number}": {f"{number}.{level}": Arm() for level in range(levels)}
        for number, levels in enumerate(matrix.levels)
    }
    arms, levels = crossed({"base": Arm()}, factors)
    contrasts = contrasts_of([*arms], levels)
    runs = matrix.repeats * min(len(each.minus) for each in contrasts if len(each.factors) == 1)
    told = findable_rate(matrix.cases, runs, alpha=ALPHA / len(contrasts))
    assert told
    wrong = found = 0
    for _ in range(experiments):
        shape = (matrix.cases, matrix.repeats)
        scores = {
            arm: (rng.random(shape) < 0.5 + told / 2 * moved(mine["f0"], is_true=is_true)).tolist()
            for arm, mine in levels.items()
        }
        p_values = [
            sign_flips(
                [fmean(b) - fmean(a) for a, b in zip(*contrast.rows(scores), strict=True)], rng
            )
            for contrast in contrasts
        ]
        first, *others = (p <= ALPHA for p in holm(p_values))
        found += first
        wrong += any(others) or (first and not is_true)
    return wrong / experiments, found / experiments


def moved(level: str, *, is_true: bool) -> float:
    """Which way a level of the first factor moves the rate: its first two levels differ."""
    return {"0.0": -1.0, "0.1": 1.0}.get(level, 0.0) if is_true else 0.0


def main() -> None:
    """Simulate all scenarios and print a table."""
    experiments = int(next(iter(sys.argv[1:]), "2000"))
    print(f"{experiments} experiments each; an arm with itself:\n")
    print(f"{'':46} found  interval holds 0")
    for name, scenario in SCENARIOS.items():
        wrong, holding = size(scenario, experiments)
        print(f"{name:46} {wrong:5.1%}  {holding:6.1%}")
    print(f"\nA true difference; 80 % is promised:\n\n{'':46} found  interval holds it")
    for difference, disagreement in ((0.1, 0.2), (0.2, 0.3), (0.2, 0.6)):
        cases, found, held = power(difference, disagreement, experiments)
        name = f"{difference:.0%} in {cases} cases, {disagreement:.0%} of which differ"
        print(f"{name:46} {found:5.1%}  {held:6.1%}")
    print(f"\nA matrix of factors:\n\n{'':46} found that is not there  found of what is told")
    for name, matrix in EFFECTS.items():
        wrong, _ = effects_found(matrix, experiments)
        _, found = effects_found(matrix, experiments, is_true=True)
        print(f"{name:46} {wrong:5.1%}                    {found:6.1%}")


if __name__ == "__main__":
    main()
