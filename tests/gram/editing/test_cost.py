"""What an edit costs in a big file, counted instead of timed."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from gram import Document, Pattern, Subject, loads, parse
from gram.editing import partners
from gram.errors import MAX_LEVELS
from gram.reading import parser

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
def test_comparisons_grow_with_the_changes(edit: Edit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pattern is compared with a few others, not with all."""
    compared = 0
    likeness = partners.likeness

    def counted(*args: Any, **options: Any) -> float:
        nonlocal compared
        compared += 1
        return likeness(*args, **options)

    monkeypatch.setattr(partners, "likeness", counted)
    counts = []
    for size in (50, 100, 200):
        compared = 0
        document = agents(size)
        document.replace(edit(list(document.patterns)))
        counts.append(compared)

    assert counts[2] <= 10 * 200
    assert counts[2] <= 2.2 * counts[1] <= 5 * counts[0]


@pytest.mark.parametrize("name", ["one is renamed", "one is added", "one is removed"])
def test_an_edit_reads_only_what_is_near_the_change(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = agents(200)
    read = 0
    matches = parser.matches

    def counted(*args: Any) -> Iterator[Any]:
        nonlocal read
        for match in matches(*args):
            read += 1
            yield match

    monkeypatch.setattr(parser, "matches", counted)
    edited = document.replace(EDITS[name](list(document.patterns)))

    assert edited.text != document.text
    assert 0 < read < 5 * 40  # five agents at the most; one has about forty tokens


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
