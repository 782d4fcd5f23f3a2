"""What an edit costs in a big file, counted instead of timed."""

import sys
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from gram import Document, Pattern, Subject, loads, parse
from gram.errors import MAX_LEVELS
from tests.calls import calls_of

Edit = Callable[[list[Pattern]], list[Pattern]]


def agents(count: int) -> Document:
    """Agents that are like each other in all but their names and instructions."""
    return parse(
        "\n".join(
            f"// about a{index}\n"
            f'[a{index}:Agent {{instruction: "i{index}", model: "A/b"}} |\n'
            '  [t:Tool {description: "x"} | (x::Text)==>(::String)] // the tool\n'
            f"] // a{index}"
            for index in range(count)
        )
    )


def changed(pattern: Pattern, **changes: Any) -> Pattern:
    return attrs.evolve(pattern, value=attrs.evolve(pattern.value, **changes))


def new(index: int) -> Pattern:
    return Pattern(Subject(f"n{index}", {"Agent"}, {"instruction": f"new {index}", "model": "A/b"}))


EDITS: dict[str, Edit] = {
    "one is renamed": lambda agents: [changed(agents[0], identity="z"), *agents[1:]],
    "one is added": lambda agents: [*agents[:9], new(0), *agents[9:]],
    "one is removed": lambda agents: [*agents[:9], *agents[10:]],
    "all are renamed": lambda agents: [
        changed(agent, identity=f"z{index}") for index, agent in enumerate(agents)
    ],
    "all are renamed and changed": lambda agents: [
        changed(agent, identity=f"z{index}", properties=agent.value.properties.set("model", "C/d"))
        for index, agent in enumerate(agents)
    ],
    "all are others": lambda agents: [new(index) for index in range(len(agents))],
    "one is added before each": lambda agents: [
        each for index, agent in enumerate(agents) for each in (new(index), agent)
    ],
    "all are wrapped": lambda agents: [
        Pattern(Subject(f"w{index}"), (agent,)) for index, agent in enumerate(agents)
    ],
    "their order is reversed": lambda agents: agents[::-1],
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_calls_grow_with_the_changes_and_no_faster(edit: Edit) -> None:
    """Each pattern is compared with a few others, not with all."""
    few, many = (replacing(agents(size), edit) for size in (50, 200))

    assert many < 6 * few


@pytest.mark.parametrize("name", ["one is renamed", "one is added", "one is removed"])
def test_an_edit_of_one_reads_only_what_is_near_it(name: str) -> None:
    document = agents(200)
    text = document.text

    assert replacing(document, EDITS[name]) < calls_of(lambda: parse(text)) / 4


def replacing(document: Document, edit: Edit) -> int:
    """The calls that an edit makes."""
    wanted = edit(list(document.patterns))
    return calls_of(lambda: document.replace(wanted))


def test_the_deepest_trees_are_edited_far_below_the_limit_of_python() -> None:
    text = "(x {k: 1} // kept\n)"
    for level in range(MAX_LEVELS - 1):
        text = f"[a{level} | {text}]"
    document = parse(text)

    def below(depth: int) -> str:
        """The edited text, made with so many frames of others on the stack."""
        if depth > 0:
            return below(depth - 1)
        return document.replace(loads(text.replace("k: 1", "k: 2"))).text

    assert below(sys.getrecursionlimit() - 700) == text.replace("k: 1", "k: 2")
