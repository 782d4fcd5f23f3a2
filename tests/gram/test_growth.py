"""What texts and trees cost, counted instead of timed: four times as much, four times the calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import attrs
import pytest

import gram
from gram import MAX_LEVELS, Diagnostic, Document, GramError, Pattern, Subject, loads, parse
from gram.checks import syntax_fault
from gram.comparing import diff
from tests.calls import assert_linear, calls_of


def numbered(count: int, entry: str, between: str = ", ") -> str:
    return between.join(entry.format(each) for each in range(count))


# --- reading, writing and laying out

SHAPES: dict[str, Callable[[int], str]] = {
    "many patterns": lambda n: "(a {k: 1})\n" * n,
    "a long walk": lambda n: "(a)" + "-->(b)" * n,
    "a long array": lambda n: f"(a {{k: [{', '.join('1' * n)}]}})",
    "many keys": lambda n: f"(a {{{numbered(n, 'k{}: 1')}}})",
    "many elements": lambda n: f"[a | {', '.join('b' * n)}]",
    "many labels": lambda n: "(a" + ":B" * n + ")",
    "many annotations": lambda n: "@k(1) " * n + "(a)",
    "many comments": lambda n: "// c\n" * n + "(a)",
    # what is refused: it is deeper than a tree can be, or broken
    "deep brackets": lambda n: "[a | " * 7 * n + "b" + "]" * 7 * n,
    "deep maps": lambda n: "(a {k: " + "{k: " * 7 * n + "1" + "}" * 7 * n + "})",
    "open brackets": lambda n: "[" * n,
    "broken patterns": lambda n: "(a\n" * n,
}
USES: list[Callable[[str], object]] = [
    loads,
    lambda text: parse(text).items,
    lambda text: gram.dumps(loads(text)),
    gram.format_text,
]


@pytest.mark.parametrize("shape", SHAPES)
def test_calls_grow_with_the_text_and_no_faster(shape: str) -> None:
    def used(text: str) -> None:
        for use in USES:
            with suppress(GramError):
                use(text)

    assert_linear(used, SHAPES[shape])


# --- finding and mending faults


def checked(text: str) -> tuple[Diagnostic, ...]:
    return gram.check(parse(text))


def spelled(text: str) -> tuple[Diagnostic, ...]:
    return tuple(map(syntax_fault, gram.syntax_errors(text)))


FAULTS: dict[str, tuple[Callable[[str], tuple[Diagnostic, ...]], Callable[[int], str]]] = {
    "commas before closing brackets": (spelled, lambda n: "(a {k: 1,})\n" * n),
    "missing values": (spelled, lambda n: "(a {k: })\n" * n),
    "missing values in one pattern": (spelled, lambda n: f"(a {{{numbered(n, 'k{}: ')}}})"),
    "one key": (checked, lambda n: f"(a {{{numbered(n, 'k: {}')}}})"),
    "keys twice": (checked, lambda n: f"(a {{{numbered(n, 'k{0}: 1, k{0}: 2')}}})"),
    "keys twice, on lines": (checked, lambda n: numbered(n, "(a {{k: {0}, k: 1}})", "\n")),
    "nested arrays": (checked, lambda n: f"(a {{{numbered(n, 'k{}: [[1]]')}}})"),
    "references": (checked, lambda n: f"[a | {numbered(n, 'b{}')}]"),
    "definitions": (checked, lambda n: numbered(n, "(a {{k: {}}})", "\n")),
}


@pytest.mark.parametrize("what", FAULTS)
def test_calls_grow_with_the_faults_and_no_faster(what: str) -> None:
    find, make = FAULTS[what]
    assert find(make(5))
    assert_linear(find, make)


def test_fixes_are_applied_in_linear_time_too() -> None:
    def fixed(text: str) -> None:
        assert gram.apply_fixes(text, spelled(text)) == text.replace(",", "")

    assert_linear(fixed, lambda n: "(a {k: 1,})\n" * n)


# --- comparing and editing


def test_elements_that_share_many_words_are_compared_a_few_times() -> None:
    def texts(count: int) -> list[tuple[Pattern, ...]]:
        said = " ".join(f"word{number}" for number in range(count))
        return [loads(f'({name} {{text: "{said} {name}"}})') for name in "ab"]

    assert_linear(lambda both: diff(*both), texts)


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


EDITS: dict[str, Callable[[list[Pattern]], list[Pattern]]] = {
    "one is renamed": lambda agents: [changed(agents[0], identity="z"), *agents[1:]],
    "one is added": lambda agents: [*agents[:9], new(0), *agents[9:]],
    "one is removed": lambda agents: [*agents[:9], *agents[10:]],
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


@pytest.mark.parametrize("edit", EDITS)
def test_calls_grow_with_the_changes_and_no_faster(edit: str) -> None:
    """Each pattern is compared with a few others, not with all."""

    def made(count: int) -> tuple[Document, list[Pattern]]:
        document = agents(count)
        return document, EDITS[edit](list(document.patterns))

    assert_linear(lambda both: both[0].replace(both[1]), made)


def test_a_long_walk_is_edited_in_linear_time() -> None:
    def made(count: int) -> tuple[Document, tuple[Pattern, ...]]:
        text = f"[w | {numbered(count, '(n{})', '-->')}]"
        return parse(text), loads(text.replace("(n5)", "(new)-->(n5)"))

    assert_linear(lambda both: both[0].replace(both[1]), made)


@pytest.mark.parametrize("name", ["one is renamed", "one is added", "one is removed"])
def test_an_edit_of_one_reads_only_what_is_near_it(name: str) -> None:
    document = agents(100)
    text, wanted = document.text, EDITS[name](list(document.patterns))
    edit = calls_of(lambda: document.replace(wanted))
    assert edit < calls_of(lambda: parse(text)) / 4


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
