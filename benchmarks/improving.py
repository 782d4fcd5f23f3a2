"""Whether a search for a better program keeps its word, in simulated worlds without any model.

Run it with ``python -m benchmarks.improving [SEARCHES]``. Candidates that are all equal: how often
is one called better, in one search and in five on the same cases? One sentence that helps: is it
found as often as was promised? Then with the same budgets, where ``dspy`` and ``gepa`` are
installed: DSPy's MIPROv2 and GEPA as they come, and followed by our test.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random
from statistics import fmean

from attrs import define, field, frozen

from interp.evaluation.experiments.chance import power_of
from interp.evaluation.experiments.comparing import compare
from interp.evaluation.improving.searching import (
    LEVEL,
    LOOKS,
    Scores,
    Tried,
    choose,
    search_by_front,
    verdict_of,
)

PROGRAM = "Answer the customer."
RULE = "Look up the order first."


@frozen
class Task:
    """What is simulated.

    Attributes:
        gain: how much more often a program passes whose text has the rule.
        base: how often it passes without.
        spread: how much cases differ in how hard they are.
        found: how often a proposal adds the rule; all others add a sentence that does nothing.
        misjudged: how often a judge says the opposite of what is true.
        cases: how many cases there are for search, for choosing, and in the last set.
        tries: how many candidates are proposed.
    """

    gain: float = 0.0
    base: float = 0.6
    spread: float = 0.4
    found: float = 0.3
    misjudged: float = 0.0
    cases: tuple[int, int, int] = (30, 20, 50)
    tries: int = 10

    def rate(self, text: str, case: str = "") -> float:
        """How often a program passes a case; on the average of all cases without one."""
        hard = self.spread * (Random(case).random() - 0.5) if case else 0.0
        return min(1.0, max(0.0, self.base + hard + self.gain * (RULE in text)))

    @property
    def budget(self) -> int:
        """How many runs a search takes at most, without those of the last set."""
        search, choosing, _ = self.cases
        return (1 + self.tries) * search + 4 * choosing


@define
class Simulation:
    """A world in which texts are run and proposed; each text runs once on each case."""

    task: Task
    rng: Random
    runs: int = 0
    known: dict[tuple[str, str], bool] = field(factory=dict)

    def propose(self, parent: Tried[str], failing: Sequence[str]) -> str:
        """The parent's text with one more sentence."""
        return self.with_more(parent.candidate)

    def with_more(self, text: str) -> str:
        """A text with one more sentence, which is the rule now and then."""
        is_rule = self.rng.random() < self.task.found
        return f"{text} {RULE if is_rule else f'Remember point {self.rng.randrange(10**9)}.'}"

    def measure(self, candidate: str, cases: Sequence[str]) -> Scores:
        """Run a text on cases, and judge the runs."""
        return {each: self.passes(candidate, each) for each in cases}

    def passes(self, text: str, case: str) -> bool:
        """Whether a text passes a case, as the judge sees it."""
        key = text, case
        if key not in self.known:
            self.runs += 1
            is_right = self.rng.random() < self.task.rate(text, case)
            self.known[key] = is_right != (self.rng.random() < self.task.misjudged)
        return self.known[key]

    def affords(self, runs: int) -> bool:
        """Whether that many runs are left."""
        search, choosing, _ = self.task.cases
        return self.runs + runs + 4 * choosing <= (1 + self.task.tries) * search + 4 * choosing

    def sets(self, seed: int = 0) -> tuple[list[str], list[str], list[str]]:
        """The names of the cases, by set."""
        search, choosing, last = (
            [f"{seed} {name} {n}" for n in range(count)]
            for name, count in zip(("search", "choosing", "last"), self.task.cases, strict=True)
        )
        return search, choosing, last


@frozen
class Outcome:
    """What came of one search.

    Attributes:
        text: the text that was chosen.
        verdict: what the last set says; None where it was not asked.
    """

    text: str
    verdict: str | None


def tested(world: Simulation, start: str, text: str, last: Sequence[str]) -> str:
    """What one look at the last set says."""
    before, after = world.measure(start, last), world.measure(text, last)
    rows = [[[float(each)] for each in scores.values()] for scores in (before, after)]
    found = compare("passed", ("a", rows[0]), ("b", rows[1]), is_rate=True, seed=1)
    return verdict_of(found)


def ours(world: Simulation, start: str = PROGRAM, seed: int = 0) -> Outcome:
    """One search, as `improve` makes it."""
    search, choosing, last = world.sets(seed)
    pool = search_by_front(start, search, world, world.task.tries, world.rng)
    chosen = choose(pool, choosing, world)
    if chosen is None:
        return Outcome(start, None)
    text = chosen.candidate
    return Outcome(text, tested(world, start, text, last))


def false_findings(task: Task, searches: int, seed: int = 1, in_a_row: int = 1) -> float:
    """How often equal candidates lead to "better", in one of several searches on the same cases.

    A text that is called better is the program of the next search.
    """
    wrong = 0
    for each in range(searches):
        world, text, is_wrong = Simulation(task, Random(seed * 10**6 + each)), PROGRAM, False
        for _ in range(in_a_row):
            world.runs = 0
            found = ours(world, text, each)
            if found.verdict == "better":
                is_wrong, text = True, found.text
        wrong += is_wrong
    return wrong / searches


def true_findings(task: Task, searches: int, seed: int = 1) -> tuple[float, float]:
    """How often a sentence that helps leads to "better", and how often that was promised."""
    found = [
        ours(Simulation(task, Random(seed * 10**6 + each)), seed=each) for each in range(searches)
    ]
    return fmean(each.verdict == "better" for each in found), promised(task)


def promised(task: Task) -> float:
    """How often the last set shows the rule, as is told before a search."""
    before, after = (
        [
            (1 - task.misjudged) * rate + task.misjudged * (1 - rate)
            for rate in (task.rate(text, f"case {n}") for n in range(2000))
        ]
        for text in (PROGRAM, RULE)
    )
    pairs = list(zip(before, after, strict=True))
    gained = fmean((1 - a) * b for a, b in pairs)
    lost = fmean(a * (1 - b) for a, b in pairs)
    return power_of(task.cases[2], gained - lost, disagreement=gained + lost, alpha=LEVEL)


def best_of_twenty(searches: int, cases: int = 30, seed: int = 1) -> float:
    """How often the best of twenty equal programs does better than the one that they equal."""
    rng = Random(seed)

    def passed() -> int:
        return sum(rng.random() < 0.6 for _ in range(cases))

    return fmean(max(passed() for _ in range(20)) > passed() for _ in range(searches))


EQUAL = Task()
NOISY = Task(misjudged=0.15)
HELPS = Task(gain=0.2, found=1.0, spread=0.2, cases=(30, 20, 140))
HELPS_NOISY = Task(gain=0.2, found=1.0, spread=0.2, misjudged=0.1, cases=(40, 40, 240))


def main() -> None:
    """Simulate, and print the figures."""
    searches = int(next(iter(sys.argv[1:]), "1000"))
    print(f"{searches} searches each\n")
    print(f"the best of 20 equal programs beats it on 30 cases: {best_of_twenty(searches):.1%}")
    for name, task in (("equal candidates", EQUAL), ("equal, a judge errs in 15 %", NOISY)):
        for row in (1, LOOKS):
            wrong = false_findings(task, searches, in_a_row=row)
            print(f"{name}, {row} in a row: {wrong:.1%} better")
    for name, task in (("20 points", HELPS), ("20 points, a judge errs in 10 %", HELPS_NOISY)):
        found, told = true_findings(task, searches)
        print(f"{name}: found in {found:.1%}, promised {told:.1%}")


if __name__ == "__main__":
    main()
