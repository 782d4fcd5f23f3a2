"""Tools moved into an agent of their own, and back.

Like the other functions that compose, these take patterns and give others; nothing that was given
is changed, so the result goes into a text with `gram.Document.replace`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from gram import Pattern, is_reference
from gram.errors import expect, expect_all
from gram.suggestions import did_you_mean

from ..errors import FocusError
from ..labels import is_agent, is_answer, is_tool
from ..language import Model, agent_model, create_agent_pattern, is_node, written_signature
from ..names import Program
from ..optics import view, with_elements
from ..signatures import PARAMETERS, RESERVED


def tool_as_agent(tool: Pattern, name: str, model: Model | str, instruction: str) -> Pattern:
    """An agent that has a tool and takes and gives what that does.

    Args:
        tool: the specification of the tool.
        name: the name of the agent.
        model: the model it runs on.
        instruction: what it is told to do with the tool.

    Raises:
        FocusError: it is not a tool, or the name or the instruction is empty.

    >>> from gram import loads_one
    >>> from lenses_ext import write_program
    >>> add = loads_one('[add:Tool {description: "Adds."} | (a::Int)==>(b::Int)==>(::Int)]')
    >>> print(write_program(tool_as_agent(add, "adder", "Offline/rehearsal", "Add.").elements[0]))
    (a:Int)-->(b:Int)-->(:Int)
    """
    by = "tool_as_agent"
    expect(tool, Pattern, "tool", by=by)
    if not is_tool(tool):
        raise FocusError(by, "value.labels", tool, "expected a tool")
    description = tool.value.properties.get("description")
    agent = create_agent_pattern(
        name, description if isinstance(description, str) else None, model, instruction, [tool]
    )
    return with_elements(by, agent, (*map(_as_path, tool.elements), tool))


def factor_agent(
    agent: Pattern,
    names: Iterable[str],
    name: str,
    description: str,
    instruction: str,
    model: Model | str | None = None,
) -> Pattern:
    """An agent with some of its tools moved into an agent of their own, which it calls instead.

    The new agent stands where the first of these tools was.

    Args:
        agent: the agent.
        names: the names of the tools that are moved, written out or bare names.
        name: the name of the new agent.
        description: what the new agent is for, as the other one is told.
        instruction: what the new agent is told to do.
        model: the model of the new agent; without it, that of the other one.

    Raises:
        FocusError: it has no tool of one of these names (the message has the nearest), something
            else has the name of the new agent, or what stays or is moved would not see what it
            refers to any more.
    """
    by = "factor_agent"
    expect(agent, Pattern, "agent", by=by)
    wanted = list(dict.fromkeys(expect_all(names, str, "names", by=by)))
    known = [each.value.identity for each in agent.elements if is_node(each)]
    for each in wanted:
        if each not in known:
            hint = did_you_mean(each, known)
            raise FocusError(by, "elements", agent, f'no tool "{each}"', hint)
    if not wanted:
        raise FocusError(by, "elements", agent, "no tool is named")
    if name in known and name not in wanted:
        raise FocusError(by, "elements", agent, f'"{name}" is the name of another element')
    moved = [each for each in agent.elements if is_node(each) and each.value.identity in wanted]
    chosen = view(agent_model, agent) if model is None else model
    inner = create_agent_pattern(name, description, chosen, instruction)
    inner = with_elements(by, inner, moved)
    place = next(at for at, each in enumerate(agent.elements) if each is moved[0])
    kept = [each for each in agent.elements if not any(each is one for one in moved)]
    factored = with_elements(by, agent, (*kept[:place], inner, *kept[place:]))
    _refuse_other_meanings(by, agent, factored, inner)
    return factored


def inline_agent(agent: Pattern, name: str) -> Pattern:
    """An agent with the tools of an agent inside it in that one's place.

    Where the tools stood side by side, it gives back what `factor_agent` was given. A reference or
    a type that both agents have is kept once.

    Args:
        agent: the agent.
        name: the name of the agent inside it.

    Raises:
        FocusError: it has no agent of this name written out (the message has the nearest), a tool
            of this one has the name of another element, or a name that is used would not mean the
            same any more: something else refers to the agent, say.

    >>> from gram import dumps, loads_one
    >>> dumps(inline_agent(loads_one("[a:Agent | [b:Agent | (t:Tool)], (u:Tool)]"), "b"))
    '[a:Agent | (t:Tool), (u:Tool)]'
    """
    by = "inline_agent"
    expect(agent, Pattern, "agent", by=by)
    expect(name, str, "name", by=by)
    inside = {each.value.identity: each for each in agent.elements if is_agent(each)}
    if name not in inside:
        reason, hint = f'no agent "{name}"', did_you_mean(name, inside)
        if any(is_reference(each) and each.value.identity == name for each in agent.elements):
            reason, hint = f'"{name}" is only referred to', "put its definition there first"
        raise FocusError(by, "elements", agent, reason, hint)
    inner = inside[name]
    signature = written_signature(inner)
    taken = {each.value.identity: each for each in agent.elements if each is not inner}
    moved = [
        each
        for each in inner.elements
        if each is not signature and not is_answer(each) and not _is_there(each, taken)
    ]
    for each in moved:
        if each.value.identity and each.value.identity in taken:
            reason = f'"{each.value.identity}" is the name of another element'
            raise FocusError(by, "elements", agent, reason, "rename one of the two first")
    place = next(at for at, each in enumerate(agent.elements) if each is inner)
    before, after = agent.elements[:place], agent.elements[place + 1 :]
    inlined = with_elements(by, agent, (*before, *moved, *after))
    _refuse_other_meanings(by, agent, inlined, inner)
    return inlined


def _is_there(element: Pattern, outside: Mapping[str, Pattern]) -> bool:
    """Whether a reference or a type means what the agent around has under its name."""
    name = element.value.identity
    if not name or name not in outside:
        return False
    return is_reference(element) or (outside[name] == element and not is_node(element))


def _refuse_other_meanings(by: str, before: Pattern, after: Pattern, inner: Pattern) -> None:
    """Refuse an edit after which a name that is used means something else, or nothing.

    Args:
        by: the function that edits.
        before: the agent before the edit.
        after: the agent after it.
        inner: the agent that moved into it, or out of it.
    """
    had, has = _meanings(before, inner), _meanings(after, inner)
    for key, (user, means) in has.items():
        former, meant = had.get(key, (user, means))
        if meant == means:
            continue
        if means is None:
            reason = f'"{user}" refers to "{key[1]}", which it would not see any more'
            hint = "move or remove that first"
        else:
            reason = f'"{former}" refers to another "{key[1]}", which would be hidden'
            hint = "take another name"
        raise FocusError(by, "elements", before, reason, hint)


def _meanings(
    agent: Pattern, inner: Pattern
) -> dict[tuple[int, str], tuple[str, int | str | None]]:
    """Who uses each name that is used in an agent, and what it means: a place, which edits keep.

    An agent and the one that moves are one user: what one of them refers to may move to the other.
    """
    program = Program([agent])
    roles = {id(agent): "outer", id(inner): "inner"}
    found: dict[tuple[int, str], tuple[str, int | str | None]] = {}
    for holder in program.runnables.values():
        user = 0 if id(holder.pattern) in roles else id(holder.pattern)
        for _, name in holder.names_used:
            meant = next(iter(program.meant(name, holder.path)), None)
            place = None if meant is None else id(meant.pattern)
            means = None if place is None else roles.get(place, place)
            found.setdefault((user, name), (holder.name, means))
    return found


def _as_path(element: Pattern) -> Pattern:
    """The signature of a tool as that of an agent, which is a path."""
    is_result = not element.elements and not element.value.identity
    if is_result and PARAMETERS not in element.value.labels and element.value.labels & RESERVED:
        return attrs.evolve(Pattern(), elements=(Pattern(), element))
    return element
