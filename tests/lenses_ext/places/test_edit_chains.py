"""Comments stay with what they were written for, whatever edits come in a row."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from random import Random
from typing import TypeAlias

from hypothesis import strategies as st

import lenses_ext as ext
from gram import Document, loads_one, replace_at
from gram.trees import Pattern, TreePath, walk
from lenses_ext import Model, agent_description, agent_instruction, agent_tool_specs, put, view
from tests.by_day import given_few

Patterns: TypeAlias = tuple[Pattern, ...]


class Story:
    """A program with comments at each agent and tool, and edits of it in a row.

    Each agent and tool has a number, which is not edited and which its comments mention.
    """

    def __init__(self, random: Random) -> None:
        self.random, self.count = random, 0
        items = [self.agent() for _ in range(random.randint(1, 3))]
        items += [self.tool("") for _ in range(random.randint(0, 2))]
        self.text = "// file\n\n" + "\n".join(items)
        self.read = self.count

    def number(self) -> int:
        self.count += 1
        return self.count

    def agent(self) -> str:
        n = self.number()
        head = f'// above {n}\n[a{n}:Agent {{ // opening {n}\n  n: {n}, model: "A/m", // in {n}\n'
        head += f'  // before {n}\n  instruction: "Greet."\n}}'
        tools = [self.tool("  ") for _ in range(self.random.randint(0, 3))]
        if not tools:
            return f"{head}] // after {n}"
        commas = [re.sub(r" (// after \S+)\Z", r", \1", tool) for tool in tools[:-1]]
        return "\n".join([f"{head} |", *commas, tools[-1], f"] // after {n}"])

    def tool(self, indent: str) -> str:
        n = self.number()
        return (
            f"{indent}// above {n}\n"
            f'{indent}[t{n}:Tool {{n: {n}, description: "x"}} | // opening {n}\n'
            f"{indent}  (x{n}::Text)==>(::String) // in {n}\n"
            f"{indent}] // after {n}"
        )

    def comments(self, n: int) -> set[str]:
        is_tool = f"[t{n}:" in self.text
        words = ["above", "opening", "in", "after", *(["before"] if not is_tool else [])]
        return {f"// {word} {n}" for word in words}

    # --- edits

    def edit(self, document: Document) -> Document:
        """The document after one change, made in one of two ways."""
        change = self.random.choice([self.by_lens, self.by_lens, self.by_path])
        return document.replace(change(document.patterns))

    def one(self, patterns: Patterns, label: str) -> tuple[TreePath, Pattern] | None:
        """An agent or a tool, with its path."""
        found = [(path, each) for path, each in walk(patterns) if label in each.value.labels]
        return self.random.choice(found) if found else None

    def new_tool(self) -> Pattern:
        n = self.number()
        return loads_one(f'[t{n}:Tool {{n: {n}, description: "x"}} | (x{n}::Text)-->(::Text)]')

    def by_lens(self, patterns: Patterns) -> Patterns:
        agents: list[Callable[[Pattern], Pattern]] = [
            lambda a: put(ext.agent_name, f"a{self.number()}", a),
            lambda a: put(ext.agent_model, Model("A", f"m{self.number()}"), a),
            lambda a: put(agent_instruction, f"i{self.number()}", a),
            lambda a: put(agent_description, f"d{self.number()}", a),
            lambda a: put(agent_tool_specs, (*view(agent_tool_specs, a), self.new_tool()), a),
            lambda a: put(agent_tool_specs, view(agent_tool_specs, a)[1:], a),
            lambda a: put(agent_tool_specs, view(agent_tool_specs, a)[::-1], a),
        ]
        tools: list[Callable[[Pattern], Pattern]] = [
            lambda t: put(ext.tool_spec_name, f"t{self.number()}", t),
            lambda t: put(ext.tool_spec_description, f"d{self.number()}", t),
            lambda t: put(ext.tool_spec_type_signature, f"(y{self.number()}::Text)==>(::Text)", t),
        ]
        label, changes = self.random.choice([("Agent", agents), ("Tool", tools)])
        found = self.one(patterns, label)
        if found is None:
            return patterns
        path, old = found
        return replace_at(patterns, path, [self.random.choice(changes)(old)])

    def by_path(self, patterns: Patterns) -> Patterns:
        found = self.one(patterns, "Agent")
        if found is None:
            return patterns
        word = self.random.choice(["model", "instruction", "description", "tools.*.description"])
        try:
            places = ext.find_places(patterns, f"{found[1].value.identity}.{word}")
        except LookupError:
            return patterns
        value = f"A/{self.number()}"
        return reduce(lambda trees, place: place.set(trees, value), places, patterns)

    def check(self, document: Document) -> None:
        """Raise unless the comments of what is left are there, where it is, and no others."""
        left = {
            n: path
            for path, each in walk(document.patterns)
            if isinstance(n := each.value.properties.get("n"), int) and n <= self.read
        }
        found = re.findall(r"// \w+ \d+", document.text)
        kept = {comment for n in left for comment in self.comments(n)}
        assert len(found) == len(set(found))
        assert kept <= {*found, "// above 1"}
        # what stands in the place of a pattern that held nothing else stays among its comments
        assert all(re.match("// (above|after)", comment) for comment in {*found} - kept)
        for n, path in left.items():
            span = document.spans(path).pattern
            inside = document.text[span.start : span.end]
            assert f"// in {n}\n" in inside
            assert f"// opening {n}\n" in inside


@given_few(st.randoms(use_true_random=True), st.integers(1, 12))
def test_a_chain_of_edits_keeps_every_comment_of_what_is_left(random: Random, length: int) -> None:
    story = Story(random)
    document = ext.parse_program(story.text)
    for _ in range(length):
        document = story.edit(document)
        story.check(document)
    assert document.rescued == ()
