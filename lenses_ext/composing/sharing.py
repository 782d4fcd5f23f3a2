"""Sharing a tool between the agents of a document, and giving each its own again.

Both functions take the patterns of a document and give others; what its agents have once their
references are resolved is the same before and after.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import attrs

from gram import Pattern, Subject, is_reference
from gram.errors import expect, expect_all
from gram.suggestions import did_you_mean
from gram.trees import WHOLE

from ..errors import FocusError
from ..labels import is_tool
from ..language import each_agent
from ..names import Program
from ..optics import collect, over


def share_tool(patterns: Iterable[Pattern], name: str) -> tuple[Pattern, ...]:
    """A document with one definition of a tool, at its end, to which its agents refer by name.

    Agents at any depth are meant. A definition that is at the top level already stays there.

    Args:
        patterns: the patterns of the document, as `gram.loads` gives them.
        name: the name of the tool.

    Raises:
        FocusError: no agent has a tool of this name written out (the message has the nearest),
            agents differ in what it is, or something else in the document has this name.

    >>> from gram import dumps, loads
    >>> print(dumps(share_tool(loads("[a:Agent | (t:Tool)] [b:Agent | (t:Tool)]"), "t")))
    [a:Agent | t]
    [b:Agent | t]
    (t:Tool)
    """
    patterns = expect_all(patterns, Pattern, "patterns", by="share_tool")
    expect(name, str, "name", by="share_tool")
    inside = [
        tool for agent in collect(each_agent, patterns) for tool in agent.elements if is_tool(tool)
    ]
    meant = [tool for tool in inside if tool.value.identity == name]
    if not meant:
        known = dict.fromkeys(tool.value.identity for tool in inside)
        reason, hint = f'no agent has a tool "{name}"', did_you_mean(name, known)
        raise FocusError("share_tool", "the agents", patterns, reason, hint)
    tool = meant[0]
    defined = (each.pattern for each in Program(patterns).meant(name, WHOLE))
    for other in (*meant, *defined, *_named(patterns, name)):
        if other != tool:
            reason = f'"{name}" is something else elsewhere in the document'
            raise FocusError("share_tool", "value.identity", other, reason)
    reference = Pattern(Subject(name))
    shared = over(each_agent, partial(_with_each, old=tool, new=reference), patterns)
    return shared if tool in patterns else (*shared, tool)


def inline_tool(patterns: Iterable[Pattern], name: str) -> tuple[Pattern, ...]:
    """A document with a shared tool put into each agent that refers to it, and nowhere else.

    Sharing a tool and inlining it gives back the very patterns that were there, where no agent
    referred to it before.

    Args:
        patterns: the patterns of the document, as `gram.loads` gives them.
        name: the name of the tool.

    Raises:
        FocusError: no tool of this name is at the top level (the message has the nearest), or no
            agent refers to it.

    >>> from gram import dumps, loads
    >>> print(dumps(inline_tool(loads("[a:Agent | t] [b:Agent | t] (t:Tool)"), "t")))
    [a:Agent | (t:Tool)]
    [b:Agent | (t:Tool)]
    """
    patterns = expect_all(patterns, Pattern, "patterns", by="inline_tool")
    expect(name, str, "name", by="inline_tool")
    tools = [each for each in patterns if is_tool(each)]
    meant = _named(tools, name)
    if not meant:
        known = [each.value.identity for each in tools]
        reason, hint = f'no tool "{name}"', did_you_mean(name, known)
        raise FocusError("inline_tool", "the top level", patterns, reason, hint)
    tool, reference = meant[0], Pattern(Subject(name))
    if not any(reference in agent.elements for agent in collect(each_agent, patterns)):
        raise FocusError("inline_tool", "value.identity", tool, "no agent refers to it")
    inlined = over(each_agent, partial(_with_each, old=reference, new=tool), patterns)
    return tuple(each for each in inlined if each is not tool)


def _named(patterns: Iterable[Pattern], name: str) -> list[Pattern]:
    return [each for each in patterns if each.value.identity == name and not is_reference(each)]


def _with_each(agent: Pattern, *, old: Pattern, new: Pattern) -> Pattern:
    """An agent with each element that equals ``old`` replaced."""
    if old not in agent.elements:
        return agent
    elements = (new if element == old else element for element in agent.elements)
    return attrs.evolve(agent, elements=tuple(elements))
