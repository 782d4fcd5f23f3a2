"""Agents from parts: functions that take an agent and give another, or a document and another.

A tool is meant by its name. An agent may have it spelled out or refer to it by its bare name;
both count as having it. None of these functions changes what it was given, so the result goes into
a text with `gram.Document.replace`, which keeps every byte they did not change. In every agent of
a document they are applied with ``over(each_agent, …)``.

Each keeps a valid agent valid when what is put into it is valid: names that are taken, or that
model APIs would be sent alike, are refused. So do those of `lenses_ext.sharing`, of documents.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from gram import GramEncodeError, Pattern, Subject
from gram.near import did_you_mean
from gram.serializer import is_reference

from .errors import FocusError
from .labels import AGENT, is_agent, is_tool
from .optics import put
from .tool_names import wire_name
from .tool_spec import tool_spec_name


def add_tool(agent: Pattern, tool: Pattern) -> Pattern:
    """An agent with one tool more, behind those it has.

    Args:
        agent: the agent.
        tool: a tool, or a reference: the bare name of a tool defined beside the agent.

    Raises:
        FocusError: it is neither, has no name, or the agent has a tool of this name already.

    >>> from gram import dumps, loads_one
    >>> dumps(add_tool(loads_one("[a:Agent | b]"), loads_one("(c:Tool)")))
    '[a:Agent | b, (c:Tool)]'
    """
    _check_tool("add_tool", tool)
    _check_free("add_tool", agent, tool.value.identity, agent.elements)
    last = max(_tool_places(agent), default=len(agent.elements) - 1)
    before, after = agent.elements[: last + 1], agent.elements[last + 1 :]
    return _with_elements("add_tool", agent, (*before, tool, *after))


def replace_tool(agent: Pattern, name: str, tool: Pattern) -> Pattern:
    """An agent with another tool in the place of the one called ``name``.

    Args:
        agent: the agent.
        name: the name of the tool that goes.
        tool: a tool, or a reference, of this or of another name.

    Raises:
        FocusError: the agent has no tool of this name (the nearest are told), or the new name is
            taken by another of its tools.
    """
    _check_tool("replace_tool", tool)
    return _replaced("replace_tool", agent, _place_of("replace_tool", agent, name), tool)


def rename_tool(agent: Pattern, name: str, new_name: str) -> Pattern:
    """An agent with a tool called otherwise. What its texts say of the tool stays as it is.

    Raises:
        FocusError: the agent has no tool of this name (the nearest are told), only refers to it,
            or the new name is empty or taken.

    >>> from gram import dumps, loads_one
    >>> dumps(rename_tool(loads_one("[a:Agent | (t:Tool)]"), "t", "say"))
    '[a:Agent | (say:Tool)]'
    """
    place = _place_of("rename_tool", agent, name)
    tool = agent.elements[place]
    if is_reference(tool):
        reason, hint = f'"{name}" is only referred to', "inline it first (see inline_tool)"
        raise FocusError("rename_tool", "elements", agent, reason, hint)
    return _replaced("rename_tool", agent, place, put(tool_spec_name, new_name, tool))


def remove_tool(agent: Pattern, name: str) -> Pattern:
    """An agent without one of its tools.

    Raises:
        FocusError: the agent has no tool of this name; the nearest are told.

    >>> from gram import dumps, loads_one
    >>> dumps(remove_tool(loads_one("[a:Agent | (b:Tool), (c:Tool)]"), "b"))
    '[a:Agent | (c:Tool)]'
    """
    place = _place_of("remove_tool", agent, name)
    before, after = agent.elements[:place], agent.elements[place + 1 :]
    return _with_elements("remove_tool", agent, (*before, *after))


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
        FocusError: one of the two is no agent, has two elements of a name, means a tool by a name
            that is an agent in the other, or together they have tools with names that model APIs
            would be sent alike.

    >>> from gram import dumps, loads_one
    >>> base = loads_one('[a:Agent {model: "OpenAI/x"} | (t:Tool {description: "T"})]')
    >>> dumps(overlay(base, loads_one('[:Agent {model: "Offline/y"} | (u:Tool)]')))
    '[a:Agent {model: "Offline/y"} | (t:Tool {description: "T"}), (u:Tool)]'
    """
    for each in (base, changes):
        _check_overlaid(each)
    elements = list(base.elements)
    places = {each.value.identity: place for place, each in enumerate(elements)}
    for each in changes.elements:
        name = each.value.identity
        if name and name in places:
            elements[places[name]] = _overlaid_element(changes, elements[places[name]], each)
        elif name or each not in base.elements:
            elements.append(each)
    laid = _with_elements("overlay", _overlaid_subject(base, changes), elements)
    for place in _tool_places(laid):
        others = (*laid.elements[:place], *laid.elements[place + 1 :])
        _check_free("overlay", changes, laid.elements[place].value.identity, others)
    return laid


# --- checks and steps


def _tool_places(agent: Pattern) -> list[int]:
    """Where an agent's tools are: those spelled out, and the references."""
    return [place for place, each in enumerate(agent.elements) if _is_tool_or_reference(each)]


def _is_tool_or_reference(element: Pattern) -> bool:
    return is_tool(element) or is_reference(element)


def _place_of(operation: str, agent: Pattern, name: str) -> int:
    names = {place: agent.elements[place].value.identity for place in _tool_places(agent)}
    places = [place for place, each in names.items() if each == name]
    if not places:
        hint = did_you_mean(name, names.values())
        raise FocusError(operation, "elements", agent, f'no tool "{name}"', hint)
    if len(places) > 1:
        raise FocusError(operation, "elements", agent, f'{len(places)} tools are named "{name}"')
    return places[0]


def _replaced(operation: str, agent: Pattern, place: int, tool: Pattern) -> Pattern:
    before, after = agent.elements[:place], agent.elements[place + 1 :]
    _check_free(operation, agent, tool.value.identity, (*before, *after))
    return _with_elements(operation, agent, (*before, tool, *after))


def _check_tool(operation: str, tool: Pattern) -> None:
    if not _is_tool_or_reference(tool):
        reason = "expected a tool, or the bare name of one"
        raise FocusError(operation, "value.labels", tool, reason)
    if not tool.value.identity:
        raise FocusError(operation, "value.identity", tool, "no name")


def _check_free(operation: str, agent: Pattern, name: str, others: Iterable[Pattern]) -> None:
    """A tool's name has to differ from those of the others, as model APIs are sent them too."""
    for other in others:
        taken = other.value.identity
        if not taken or not _is_tool_or_reference(other):
            continue
        if taken == name:
            reason = f'a tool "{name}" is there already'
        elif wire_name(taken) == wire_name(name):
            reason = f'tools "{taken}" and "{name}" are both sent as "{wire_name(name)}"'
        else:
            continue
        raise FocusError(operation, "elements", agent, reason)


def _with_elements(operation: str, agent: Pattern, elements: Iterable[Pattern]) -> Pattern:
    try:
        return attrs.evolve(agent, elements=tuple(elements))
    except GramEncodeError as error:
        raise FocusError(operation, "elements", agent, error.msg) from None


def _check_overlaid(agent: Pattern) -> None:
    if not is_agent(agent):
        raise FocusError("overlay", "value.labels", agent, f"expected the label {AGENT}")
    names = [each.value.identity for each in agent.elements if each.value.identity]
    for name in names:
        if names.count(name) > 1:
            raise FocusError("overlay", "elements", agent, f'two elements are named "{name}"')


def _overlaid_subject(base: Pattern, changes: Pattern) -> Pattern:
    old, new = base.value, changes.value
    subject = Subject(
        new.identity or old.identity,
        old.labels | new.labels,
        old.properties.update(new.properties),
    )
    return attrs.evolve(base, value=subject)


def _overlaid_element(agent: Pattern, base: Pattern, changes: Pattern) -> Pattern:
    if is_reference(changes):
        return base
    if is_reference(base):
        return changes
    if is_agent(base) != is_agent(changes):
        reason = f'"{base.value.identity}" is an agent in one and none in the other'
        raise FocusError("overlay", "elements", agent, reason)
    if is_agent(base):
        return overlay(base, changes)
    laid = _overlaid_subject(base, changes)
    return _with_elements("overlay", laid, changes.elements or base.elements)
