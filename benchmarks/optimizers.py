"""Our search beside DSPy's MIPROv2 and GEPA, on the same simulated tasks and with equal budgets.

Run it with ``python -m benchmarks.optimizers [SEARCHES]``, where ``dspy`` and ``gepa`` are
installed. Each optimiser may take as many runs as ours takes for search and choosing, of the same
two sets, and ends with one text. As it comes, another text than the program's is what it takes for
better; followed by our test, one look at the last set has to say so.
"""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from random import Random
from statistics import fmean
from types import SimpleNamespace
from typing import Any

from .improving import PROGRAM, RULE, Simulation, Task, ours, tested

TASKS = {
    "nothing helps": Task(cases=(40, 40, 140)),
    "one sentence gives 20 points": Task(gain=0.2, cases=(40, 40, 140)),
}


def by_ours(world: Simulation) -> str:
    """Our search and choice."""
    return ours(world).text


def by_gepa(world: Simulation) -> str:
    """GEPA as it comes: it asks for proposals with its own prompt."""
    import gepa
    from gepa.core.adapter import EvaluationBatch

    class Adapter:
        propose_new_texts = None

        def evaluate(self, batch: list[str], candidate: Any, capture_traces: bool = False) -> Any:
            scores = [float(world.passes(candidate["text"], each)) for each in batch]
            return EvaluationBatch(outputs=batch, scores=scores, trajectories=batch)

        def make_reflective_dataset(self, _: Any, batch: Any, components: list[str]) -> Any:
            rows = [
                {"Inputs": name, "Feedback": "right" if score else "wrong"}
                for name, score in zip(batch.trajectories, batch.scores, strict=True)
            ]
            return dict.fromkeys(components, rows)

    def reflect(prompt: Any) -> str:
        (old, *_) = re.findall(r"```\n(.*?)\n```", str(prompt), re.DOTALL)
        return f"```\n{world.with_more(old)}\n```"

    search, choosing, _ = world.sets()
    found: Any = gepa.optimize(
        {"text": PROGRAM},
        trainset=search,
        valset=choosing,
        adapter=Adapter(),
        reflection_lm=reflect,
        max_metric_calls=world.task.budget,
        logger=SimpleNamespace(log=lambda _: None),
        seed=world.rng.randrange(2**31),
    )
    return str(found.best_candidate["text"])


def by_mipro(world: Simulation) -> str:
    """MIPROv2 as it comes: bootstrapped examples, its proposer, and its Bayesian search."""
    import dspy

    calls = 0

    class Model(dspy.BaseLM):  # type: ignore[misc]  # dspy is not installed where types are checked
        """Answers cases as the simulation says, and proposes what it proposes."""

        def forward(self, prompt: Any = None, messages: Any = None, **_: Any) -> Any:
            nonlocal calls
            system, user = (str(messages[each]["content"]) for each in (0, -1))
            case = re.search(r"\[\[ ## case ## \]\]\n(.*)", user)
            if case:
                calls += 1
                text = f"{PROGRAM} {RULE}" if RULE in system else PROGRAM + system[-300:]
                is_right = world.passes(text, case[1].strip())
                said = {"answer": "right" if is_right else "wrong"}
            else:
                wanted = re.findall(r"\d+\. `(\w+)`", system.partition("Your output fields")[2])
                said = {name: world.with_more(PROGRAM) for name in wanted}
            content = "".join(f"[[ ## {name} ## ]]\n{text}\n\n" for name, text in said.items())
            message = SimpleNamespace(content=f"{content}[[ ## completed ## ]]", tool_calls=None)
            choice = SimpleNamespace(message=message, finish_reason="stop")
            return SimpleNamespace(choices=[choice], usage={}, model="simulated")

    model = Model("simulated", cache=False)
    search, choosing, _ = world.sets()
    train, valid = (
        [dspy.Example(case=each, answer="right").with_inputs("case") for each in names]
        for names in (search, choosing)
    )
    with dspy.context(lm=model):
        optimizer = dspy.MIPROv2(
            metric=lambda example, got, trace=None: got.answer == "right",
            prompt_model=model,
            task_model=model,
            auto=None,
            num_candidates=world.task.tries,
            num_threads=1,
            seed=world.rng.randrange(2**31),
        )
        student = dspy.Predict(dspy.Signature("case -> answer", PROGRAM))
        trials = world.task.budget // len(choosing) - 3  # the program is run, too, and examples
        found = optimizer.compile(
            student, trainset=train, valset=valid, num_trials=trials, minibatch=False
        )
    world.runs = calls
    return str(found.signature.instructions)


def compared(optimizer: Callable[[Simulation], str], task: Task, searches: int) -> dict[str, float]:
    """How often an optimiser gains in truth, how often it says so, and what the test says."""
    rows = []
    for each in range(searches):
        world = Simulation(task, Random(each))
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            text = optimizer(world)
        runs = world.runs - (optimizer is by_ours and text != PROGRAM) * 2 * task.cases[2]
        is_true, is_other = RULE in text and task.gain > 0, text != PROGRAM
        is_shown = is_other and tested(world, PROGRAM, text, world.sets()[2]) == "better"
        rows.append((is_other, is_true, is_shown, is_shown and is_true, runs))
    other, true, shown, shown_true, taken = map(fmean, zip(*rows, strict=True))
    return {
        "true gains": true,
        "false ones": other - true,
        "true gains shown": shown_true,
        "false ones shown": shown - shown_true,
        "runs": taken,
    }


def main() -> None:
    """Compare, and print a table."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    searches = int(next(iter(sys.argv[1:]), "200"))
    print(f"{searches} searches each\n")
    for name, task in TASKS.items():
        for optimizer in (by_ours, by_gepa, by_mipro):
            figures = compared(optimizer, task, searches)
            told = ", ".join(
                f"{key} {value:.1%}" if key != "runs" else f"{value:.0f} runs"
                for key, value in figures.items()
            )
            print(f"{name}; {optimizer.__name__}: {told}", flush=True)


if __name__ == "__main__":
    main()
