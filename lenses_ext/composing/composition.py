"""Agents from parts: functions that take an agent and give another.

A tool is meant by its name. An agent may have it written out or refer to it by its bare name;
both count as having it. None of these functions changes what it was given, so the result goes into
a text with `gram.Document.replace`, which keeps every byte they did not change. ``over(each_agent,
…)`` applies them to every agent of a document.

Each keeps a valid agent valid when what is put into it is valid: it refuses names that are taken,
or that would be the same for model APIs. `lenses_ext.share_tool` does the same for documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import attrs

from gram import ArgumentError, Pattern, Subject, is_reference
from gram.errors import expect
from gram.suggestions import did_you_mean

from ..errors import FocusError
from ..labels import AGENT, is_agent, is_tool_or_name
from ..language import wire_name
from ..optics import with_elements


def add_tool(agent: Pattern, tool: Pattern) -> Pattern:
    """An agent with one more tool, behind those it has.

    Args:
        agent: the agent.
        tool: a tool, or the bare name of one that is defined elsewhere.

    Raises:
        FocusError: it is not a tool, has no name, or the agent has a tool of this name already.

    >>> from gram import dumps, loads_one
    >>> dumps(add_tool(loads_one("[a:Agent | b]"), loads_one("(c:Tool)")))
    '[a:Agent | b, (c:Tool)]'
    """
    by = "add_tool"
    _expect_agent(by, agent)
    _expect_tool(by, tool)
    _check_free(by, agent, tool, _tools(agent))
    last = max(_places(agent), default=len(agent.elements) - 1)
    before, after = agent.elements[: last + 1], agent.elements[last + 1 :]
    return with_elements(by, agent, (*before, tool, *after))


def replace_tool(agent: Pattern, name: str, tool: Pattern) -> Pattern:
    """An agent with another tool in the place of the one called ``name``.

    Args:
        agent: the agent.
        name: the name of the tool that goes.
        tool: a tool, or the bare name of one, of this or of another name.

    Raises:
        FocusError: the agent has no tool of this name (the message has the nearest), or the new
            name is taken by another of its tools.
    """
    by = "replace_tool"
    _expect_tool(by, tool)
    return _replaced(by, agent, _place_of(by, agent, name), tool)


def remove_tool(agent: Pattern, name: str) -> Pattern:
    """An agent without one of its tools.

    Raises:
        FocusError: the agent has no tool of this name; the message has the nearest.

    >>> from gram import dumps, loads_one
    >>> dumps(remove_tool(loads_one("[a:Agent | (b:Tool), (c:Tool)]"), "b"))
    '[a:Agent | (c:Tool)]'
    """
    place = _place_of("remove_tool", agent, name)
    before, after = agent.elements[:place], agent.elements[place + 1 :]
    return with_elements("remove_tool", agent, (*before, *after))


def overlay(base: Pattern, changes: Pattern) -> Pattern:
    """An agent with what another agent says laid over it.

    The name is that of ``changes``, where it has one. Labels are united. A property of ``changes``
    takes the place of the same property. An element of ``changes`` is laid over the element of the
    same name: an agent as a whole agent is, a tool in the same way but for its signature, which
    is taken from ``changes`` whole, where there is one. Other elements are added at the end, those
    without a name unless ``base`` has an equal one.

    So ``changes`` need not be complete, and nothing is ever removed. Overlaying is associative;
    an agent laid over itself, or an empty one laid over it, is that agent.

    Raises:
        FocusError: one of the two is not an agent, has two elements of a name, means a tool by a
            name that is an agent in the other, or together they have tools whose names would be
            the same for model APIs.

    >>> from gram import dumps, loads_one
    >>> base = loads_one('[a:Agent {model: "OpenAI/x"} | (t:Tool {description: "T"})]')
    >>> dumps(overlay(base, loads_one('[:Agent {model: "Offline/y"} | (u:Tool)]')))
    '[a:Agent {model: "Offline/y"} | (t:Tool {description: "T"}), (u:Tool)]'
    """
    _check_overlaid("base", base)
    _check_overlaid("changes", changes)
    elements = list(base.elements)
    places = {each.value.identity: place for place, each in enumerate(elements)}
    equal = set(elements)
    for each in changes.elements:
        name = each.value.identity
        if name and name in places:
            elements[places[name]] = _overlaid_element(changes, elements[places[name]], each)
        elif name or each not in equal:
            elements.append(each)
    laid = with_elements("overlay", _overlaid_subject(base, changes), elements)
    sent: dict[str, str] = {}
    for tool in _tools(laid):
        name = tool.value.identity
        if name:
            _refuse_same("overlay", changes, sent.setdefault(wire_name(name), ""), name)
            sent[wire_name(name)] = name
    return laid


# --- checks and steps


def _places(agent: Pattern) -> list[int]:
    """The places of an agent's tools among its elements, those used by their bare names too."""
    return [place for place, each in enumerate(agent.elements) if is_tool_or_name(each)]


def _tools(agent: Pattern) -> Iterable[Pattern]:
    return filter(is_tool_or_name, agent.elements)


def _place_of(by: str, agent: Pattern, name: str) -> int:
    _expect_agent(by, agent)
    expect(name, str, "name", by=by)
    places = [place for place in _places(agent) if agent.elements[place].value.identity == name]
    if not places:
        hint = did_you_mean(name, [each.value.identity for each in _tools(agent)])
        raise FocusError(by, "elements", agent, f'no tool "{name}"', hint)
    if len(places) > 1:
        raise FocusError(by, "elements", agent, f'{len(places)} tools are named "{name}"')
    return places[0]


def _replaced(by: str, agent: Pattern, place: int, tool: Pattern) -> Pattern:
    before, after = agent.elements[:place], agent.elements[place + 1 :]
    _check_free(by, agent, tool, filter(is_tool_or_name, (*before, *after)))
    return with_elements(by, agent, (*before, tool, *after))


def _expect_agent(by: str, agent: object) -> None:
    expect(agent, Pattern, "agent", by=by)


def _expect_tool(by: str, tool: object) -> None:
    if callable(tool):
        hint = "make its specification with interp.tool_spec_from_function"
        raise ArgumentError(f"{by}: tool must be a Pattern, got a function; {hint}")
    expect(tool, Pattern, "tool", by=by)
    assert isinstance(tool, Pattern)
    if not is_tool_or_name(tool):
        reason = "expected a tool, or the bare name of one"
        raise FocusError(by, "value.labels", tool, reason)
    if not tool.value.identity:
        raise FocusError(by, "value.identity", tool, "no name")


def _check_free(by: str, agent: Pattern, tool: Pattern, others: Iterable[Pattern]) -> None:
    """Refuse a tool of a name that another has, or that is the same for model APIs."""
    name = tool.value.identity
    for other in others:
        _refuse_same(by, agent, other.value.identity, name)


def _refuse_same(by: str, agent: Pattern, taken: str, name: str) -> None:
    if not taken or wire_name(taken) != wire_name(name):
        return
    reason = f'tools "{taken}" and "{name}" are both sent as "{wire_name(name)}"'
    if taken == name:
        reason = f'a tool "{name}" is there already'
    raise FocusError(by, "elements", agent, reason)


def _check_overlaid(which: str, agent: Pattern) -> None:
    expect(agent, Pattern, which, by="overlay")
    if not is_agent(agent):
        raise FocusError("overlay", "value.labels", agent, f"expected the label {AGENT}")
    counts = Counter(each.value.identity for each in agent.elements)
    for name, count in counts.items():
        if name and count > 1:
            raise FocusError("overlay", "elements", agent, f'two elements are named "{name}"')


def _overlaid_subject(base: Pattern, changes: Pattern) -> Pattern:
    old, new = base.value, changes.value
    subject = Subject(
        new.identity or old.identity, old.labels | new.labels, old.properties.update(new.properties)
    )
    return attrs.evolve(base, value=subject)


def _overlaid_element(agent: Pattern, base: Pattern, changes: Pattern) -> Pattern:
    if is_reference(changes):
        return base
    if is_reference(base):
        return changes
    if is_agent(base) != is_agent(changes):
        reason = f'"{base.value.identity}" is an agent in one and not in the other'
        raise FocusError("overlay", "elements", agent, reason)
    if is_agent(base):
        return overlay(base, changes)
    laid = _overlaid_subject(base, changes)
    return with_elements("overlay", laid, changes.elements or base.elements)
