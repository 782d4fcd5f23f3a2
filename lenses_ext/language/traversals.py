"""The traversals over a whole document: every agent in it, and every instruction.

A document is the tuple of its patterns, as `gram.loads` and `gram.Document.patterns` give it. A
pattern, such as an agent with agents among its tools, is looked into as well.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, Union

import attrs

from gram import Pattern, TreePath, walk, walk_up

from ..errors import FocusError
from ..labels import is_agent
from ..optics import Traversal, traversal_of
from .agent import agent_instruction, as_agent

Whole: TypeAlias = Union[tuple[Pattern, ...], Pattern]


def traversal_at(
    name: str,
    placed: Callable[[tuple[Pattern, ...]], Mapping[TreePath, Pattern]],
    doc: str,
    checked: Callable[[Pattern], Pattern] = lambda new: new,
) -> Traversal[tuple[Pattern, ...], Pattern]:
    """The traversal onto the patterns of a document that a function finds, by their paths.

    Args:
        name: what errors and ``repr`` call it.
        placed: finds them, each before those inside it.
        doc: what ``help`` says of it.
        checked: refuses what none of them may become.
    """

    def found(whole: Whole) -> Mapping[TreePath, Pattern]:
        patterns = (whole,) if isinstance(whole, Pattern) else whole
        if not isinstance(patterns, tuple) or not all(isinstance(e, Pattern) for e in patterns):
            raise FocusError(name, "the root", patterns, "expected a document or patterns")
        return placed(patterns)

    def with_others(whole: Whole, new: Iterable[Pattern]) -> Any:
        patterns = (whole,) if isinstance(whole, Pattern) else whole
        others = dict(zip(found(whole), new, strict=True))
        changed = _with_others(patterns, {path: checked(each) for path, each in others.items()})
        return changed[0] if isinstance(whole, Pattern) else changed

    return traversal_of(name, lambda whole: [*found(whole).values()], with_others, doc)


def _with_others(
    patterns: tuple[Pattern, ...], others: Mapping[TreePath, Pattern]
) -> tuple[Pattern, ...]:
    """The patterns with others at some paths, inside out: what is inside another one is put into
    the new one, wherever that still has the old one."""
    rebuilt: dict[TreePath, Pattern] = {}
    for path, old in walk_up(patterns):
        below = [(each, rebuilt[(*path, index)]) for index, each in enumerate(old.elements)]
        rebuilt[path] = _with_elements(others.get(path, old), below)
    return tuple(rebuilt[(index,)] for index in range(len(patterns)))


def _with_elements(pattern: Pattern, changes: list[tuple[Pattern, Pattern]]) -> Pattern:
    """A pattern with each old element, where it still is one, replaced by the new."""
    if all(old is new for old, new in changes):
        return pattern
    waiting: dict[int, deque[Pattern]] = defaultdict(deque)
    for old, new in changes:
        waiting[id(old)].append(new)
    elements = (
        waiting[id(each)].popleft() if waiting.get(id(each)) else each for each in pattern.elements
    )
    return attrs.evolve(pattern, elements=tuple(elements))


def _agents(patterns: tuple[Pattern, ...]) -> dict[TreePath, Pattern]:
    return {path: each for path, each in walk(patterns) if is_agent(each)}


each_agent: Traversal[tuple[Pattern, ...], Pattern] = traversal_at(
    "each_agent", _agents, "Each agent of a document, at any depth.", as_agent.construct
)
"""Every agent of a document, at any depth, an agent before those inside it.

A change of every agent changes the agents inside others, too, where they are still inside after the
change. The laws hold for documents without agents inside agents, and in every document for parts
that an agent does not share with those inside it, such as ``each_agent & agent_model``.
"""

each_instruction: Traversal[tuple[Pattern, ...], str] = each_agent & agent_instruction
"""Every instruction of a document, at any depth."""
