"""The traversals over a whole document: every agent in it, and every instruction.

A document is the tuple of its patterns, as `gram.loads` and `gram.Document.patterns` give it. A
pattern, such as an agent with agents among its tools, is looked into as well.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Any, TypeAlias, Union

import attrs

from gram import Pattern, TreePath, walk, walk_up

from ..errors import FocusError
from ..labels import is_agent
from ..optics import Traversal, traversal_of
from .agent import agent_instruction, as_agent

Whole: TypeAlias = Union[tuple[Pattern, ...], Pattern]


def _agents(whole: Whole) -> list[Pattern]:
    return list(_placed_agents(whole).values())


def _patterns(whole: Whole) -> tuple[Pattern, ...]:
    return (whole,) if isinstance(whole, Pattern) else whole


def _placed_agents(whole: Whole) -> dict[TreePath, Pattern]:
    patterns = _patterns(whole)
    if not isinstance(patterns, tuple) or not all(isinstance(each, Pattern) for each in patterns):
        raise FocusError("each_agent", "the root", patterns, "expected a document or patterns")
    return {path: each for path, each in walk(patterns) if is_agent(each)}


def _with_agents(whole: Whole, new: Iterable[Pattern]) -> Any:
    """The patterns with other agents, inside out: an agent inside another is put into the new one,
    wherever that still has the old one."""
    patterns = _patterns(whole)
    agents = dict(zip(_placed_agents(whole), new, strict=True))
    rebuilt: dict[TreePath, Pattern] = {}
    for path, old in walk_up(patterns):
        here = as_agent.construct(agents[path]) if path in agents else old
        below = [(each, rebuilt[(*path, index)]) for index, each in enumerate(old.elements)]
        rebuilt[path] = _with_elements(here, below)
    changed = tuple(rebuilt[(index,)] for index in range(len(patterns)))
    return changed[0] if isinstance(whole, Pattern) else changed


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


each_agent: Traversal[tuple[Pattern, ...], Pattern] = traversal_of(
    "each_agent", _agents, _with_agents, "Each agent of a document, at any depth."
)
"""Every agent of a document, at any depth, an agent before those inside it.

A change of every agent changes the agents inside others, too, where they are still inside after the
change. The laws hold for documents without agents inside agents, and in every document for parts
that an agent does not share with those inside it, such as ``each_agent & agent_model``.
"""

each_instruction: Traversal[tuple[Pattern, ...], str] = each_agent & agent_instruction
"""Every instruction of a document, at any depth."""
