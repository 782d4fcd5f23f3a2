"""Which implementation of ``sayHello`` greets everybody by name? The same cases decide."""

from pathlib import Path

from interp import Case, ab, tool
from interp.evaluation import Arm, Trial

PROGRAM = Path(__file__).with_name("hello_world.gram")
DESCRIPTION = "Returns a friendly greeting message for the given name"
NAMES = ("Ada", "Bob", "Cyd", "Dan", "Eve", "Fay", "Gil", "Hal")


@tool(name="sayHello", description=DESCRIPTION)
def by_name(personName: str = "world") -> str:  # noqa: N803  # the program's name
    """Greets by name."""
    return f"Hello, {personName}!"


@tool(name="sayHello", description=DESCRIPTION)
def by_rank(personName: str = "world") -> str:  # noqa: N803  # the program's name
    """Greets by name, but for those whose names end on a vowel."""
    return "Hello, friend!" if personName[-1] in "aeiou" else f"Hello, {personName}!"


def greets_by_name(run: Trial, case: Case) -> bool:
    """A metric is a function of a run and its case."""
    return case.name in run.content


def main() -> None:
    """Compare the tools, and print what the figures say."""
    experiment = ab(
        [Case(name=name, input=f"Hello, I'm {name}!") for name in NAMES],
        {"rank": Arm(tools=[by_rank]), "name": Arm(tools=[by_name])},
        [greets_by_name],
        base=Arm(PROGRAM, model="Offline/rehearsal"),
        seed=1,
    )
    found = experiment.comparison()
    print(f"better in {found.better} of {found.cases} cases, p = {found.p_value:.2f}")
    print(f"true difference: {found.interval}")
    print(experiment.notes[0])


if __name__ == "__main__":
    main()
