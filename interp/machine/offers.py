"""What an agent offers to its model as functions.

They are its tools, the agents and workflows in it, its skills, and the agents that it may hand over
to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeAlias
from weakref import ref

from attrs import frozen

from gram import Pattern, Subject, walk
from lenses_ext import agent_settings, is_agent, is_runnable, is_tool, tool_spec_name, view
from lenses_ext.labels import TOOL, is_skill
from lenses_ext.language import skill_tool, tool_spec_of, wire_name
from lenses_ext.names import definitions_of
from lenses_ext.weak_cache import memo
from lenses_ext.workflows import handoffs

from ..errors import ValidationError
from .messages import AssistantRole, ConversationContext

Use: TypeAlias = Literal["tool", "inside", "handover", "skill"]
"""What a call of it does: run a tool, begin a frame inside, hand the conversation over, or give a
text of the program."""


@frozen
class Offer:
    """One function that a model may call.

    Attributes:
        name: its name in the program.
        spec: the specification of the tool that it is to the model.
        pattern: what it is: a tool, an agent, a workflow or a skill; of a handover the
            specification, since who takes over may hold the program, see `definition`.
        use: what a call of it does.
    """

    name: str
    spec: Pattern
    pattern: Pattern
    use: Use


@frozen
class Offers:
    """What an agent offers to its model.

    Attributes:
        specs: the specifications, in the order of the program.
        by_wire_name: the offers by the names that a model knows.
        by_name: the same by their names in the program.
        are_tools: whether all of them are tools.
        hands_over: whether the agent's messages have to say who spoke, since others may take its
            place.
    """

    specs: tuple[Pattern, ...]
    by_wire_name: Mapping[str, Offer]
    by_name: Mapping[str, Offer]
    are_tools: bool
    hands_over: bool

    def named(self, name: str) -> Offer | None:
        """The offer that a model calls by a name."""
        return self.by_wire_name.get(name) or self.by_wire_name.get(wire_name(name))


def offers_of(program: Pattern, agent: Pattern) -> Offers:
    """What an agent of a program offers to its model.

    Raises:
        ValidationError: it hands over to an agent that the program does not have.
    """
    return _offers(program)(agent)


def _offers_in(program: Pattern) -> Callable[[Pattern], Offers]:
    in_handovers = _named_in_handovers(program)
    weakly = ref(program)  # what is kept of a program must not keep the program

    def made(agent: Pattern) -> Offers:
        around = weakly()
        assert around is not None, "whoever asks holds it"
        offers = tuple(_offered(around, agent))
        return Offers(
            tuple(each.spec for each in offers),
            {wire_name(each.name): each for each in offers},
            {each.name: each for each in offers},
            all(each.use == "tool" for each in offers),
            agent.value.identity in in_handovers,
        )

    return memo(made)


_offers = memo(_offers_in)


def summary_writer(agent: Pattern) -> Pattern | None:
    """The agent in an agent that is named to write summaries (``compactBy``); None if none is."""
    settings = view(agent_settings, agent)
    name = settings.get("compactBy") if settings else None
    found = (each for each in agent.elements if is_agent(each) and each.value.identity == name)
    return next(found, None) if name else None


def _offered(program: Pattern, agent: Pattern) -> Iterator[Offer]:
    writer = summary_writer(agent)
    for each in agent.elements:
        if is_tool(each):
            yield Offer(view(tool_spec_name, each), each, each, "tool")
        elif is_runnable(each) and each is not writer:
            yield Offer(each.value.identity, tool_spec_of(each), each, "inside")
        elif is_skill(each):
            yield Offer(each.value.identity, skill_tool(each), each, "skill")
    for name in handoffs(agent):
        other = definition(program, name)
        description = tool_spec_of(other).value.properties["description"]
        subject = Subject(name, {TOOL}, {"description": description})
        spec = Pattern(subject, [Pattern(Subject("", {"String"}))])
        yield Offer(name, spec, spec, "handover")


def definition(program: Pattern, name: str) -> Pattern:
    """The agent of a program that can be handed over to under a name.

    Raises:
        ValidationError: there is none.
    """
    found = definitions_of(program).get(name)
    if found is None:
        message = f'the agent "{name}" that is handed over to is not in this program'
        raise ValidationError(f"{message}; run the document that defines it")
    return found


def last_speaker(program: Pattern, agent: Pattern, context: ConversationContext) -> Pattern:
    """The agent that goes on with a conversation: who spoke last, if it was handed over to."""
    if not offers_of(program, agent).hands_over:
        return agent
    speakers = (each.speaker for each in reversed(context) if each.role == AssistantRole)
    return definitions_of(program).get(next(speakers, None) or "", agent)


def _named_in_handovers(program: Pattern) -> frozenset[str]:
    agents = [each for _, each in walk(program) if is_agent(each)]
    found = {each.value.identity: handoffs(each) for each in agents}
    targets = (name for others in found.values() for name in others)
    return frozenset([*targets, *(name for name, others in found.items() if others)])
