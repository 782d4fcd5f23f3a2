"""What an agent offers to its model as functions.

They are its tools, the agents and workflows in it, and the agents that it may hand over to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from attrs import frozen

from gram import ByValue, Pattern, Subject, walk
from lenses_ext import (
    TOOL,
    Memo,
    definitions_of,
    handoffs,
    is_agent,
    is_runnable,
    is_tool,
    tool_spec_name,
    tool_spec_of,
    view,
    wire_name,
)

from ..errors import ValidationError
from ..messages import AssistantRole, ConversationContext

Use: TypeAlias = Literal["tool", "inside", "handover"]
"""What a call of it does: run a tool, begin a frame inside, or hand the conversation over."""


@frozen(eq=False, repr=False)
class Offer(ByValue):
    """One function that a model may call.

    Attributes:
        name: its name in the program.
        spec: the specification of the tool that it is to the model.
        pattern: what it is: a tool, an agent or a workflow.
        use: what a call of it does.
    """

    name: str
    spec: Pattern
    pattern: Pattern
    use: Use


@frozen(eq=False, repr=False)
class Offers(ByValue):
    """What an agent offers to its model.

    Attributes:
        specs: the specifications, in the order of the program.
        by_wire_name: the offers by the names that a model knows.
        by_name: the same by their names in the program.
        are_tools: whether all of them are tools.
    """

    specs: tuple[Pattern, ...]
    by_wire_name: Mapping[str, Offer]
    by_name: Mapping[str, Offer]
    are_tools: bool


def offers_of(program: Pattern, agent: Pattern) -> Offers:
    """What an agent of a program offers to its model.

    Raises:
        ValidationError: it hands over to an agent that the program does not have.
    """
    return _offers(program)(agent)


def _offers_in(program: Pattern) -> Memo[Pattern, Offers]:
    return Memo(lambda agent: _made(tuple(_offered(program, agent))))


_offers: Memo[Pattern, Memo[Pattern, Offers]] = Memo(_offers_in)


def _made(offers: tuple[Offer, ...]) -> Offers:
    return Offers(
        tuple(each.spec for each in offers),
        {wire_name(each.name): each for each in offers},
        {each.name: each for each in offers},
        all(each.use == "tool" for each in offers),
    )


def _offered(program: Pattern, agent: Pattern) -> Iterator[Offer]:
    for each in agent.elements:
        if is_tool(each):
            yield Offer(view(tool_spec_name, each), each, each, "tool")
        elif is_runnable(each):
            yield Offer(each.value.identity, tool_spec_of(each), each, "inside")
    for name in handoffs(agent):
        other = definition(program, name)
        description = tool_spec_of(other).value.properties["description"]
        subject = Subject(name, {TOOL}, {"description": description})
        spec = Pattern(subject, [Pattern(Subject("", {"String"}))])
        yield Offer(name, spec, other, "handover")


def definition(program: Pattern, name: str) -> Pattern:
    """The agent of a program that can be handed over to under a name.

    Raises:
        ValidationError: there is none.
    """
    found = _definitions(program).get(name)
    if found is None:
        message = f'the agent "{name}" that is handed over to is not in this program'
        raise ValidationError(f"{message}; run the document that defines it")
    return found


_definitions: Memo[Pattern, Mapping[str, Pattern]] = Memo(definitions_of)


def last_speaker(program: Pattern, agent: Pattern, context: ConversationContext) -> Pattern:
    """The agent that goes on with a conversation: who spoke last, if it was handed over to."""
    if not hands_over(program, agent):
        return agent
    speakers = (each.speaker for each in reversed(context) if each.role == AssistantRole)
    return _definitions(program).get(next(speakers, None) or "", agent)


def hands_over(program: Pattern, agent: Pattern) -> bool:
    """Whether messages of an agent have to say who spoke, since others may take its place."""
    return agent.value.identity in _in_handovers(program)


def _named_in_handovers(program: Pattern) -> frozenset[str]:
    agents = [each for _, each in walk(program) if is_agent(each)]
    found = {each.value.identity: handoffs(each) for each in agents}
    targets = (name for others in found.values() for name in others)
    return frozenset([*targets, *(name for name, others in found.items() if others)])


_in_handovers: Memo[Pattern, frozenset[str]] = Memo(_named_in_handovers)
