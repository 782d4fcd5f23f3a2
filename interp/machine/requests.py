"""What the model of an agent is asked, read from the agent's pattern at every turn.

It is offered its tools, the agents and workflows in it, its skills, and the agents that it may
hand over to.

An agent whose settings have ``compactAt`` is asked for a summary before a request that would be
longer than that share of its ``contextWindow``. The summary is kept with the last message that it
covers, so that a conversation that goes on later needs no other; no message is left out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias
from weakref import ref

from attrs import evolve, frozen

import lenses_ext
from gram import Pattern, Subject, walk
from gram.trees import WALK_SUBJECT
from lenses_ext import Settings, is_agent, view
from lenses_ext.labels import ANSWER, TOOL, is_skill
from lenses_ext.language import skill_tool, tool_spec_of, wire_name, written_signature
from lenses_ext.names import definitions_of
from lenses_ext.weak_cache import memo
from lenses_ext.workflows import handoffs

from ..errors import ValidationError
from ..json_text import Json
from .contracts import is_text_schema
from .effects import CallModel, Request
from .messages import AssistantRole, ConversationContext, FunctionRole, Message, UserRole
from .run_context import RunContext
from .state import AgentFrame

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
        hands_over: whether the agent's messages have to say who spoke, since others may take its
            place.
    """

    specs: tuple[Pattern, ...]
    by_wire_name: Mapping[str, Offer]
    by_name: Mapping[str, Offer]
    hands_over: bool

    def named(self, name: str) -> Offer | None:
        """The offer that a model calls by a name."""
        return self.by_wire_name.get(name) or self.by_wire_name.get(wire_name(name))


def offers_of(program: Pattern, agent: Pattern) -> Offers:
    """What an agent of a program offers to its model."""
    return _offers(program)(agent)


@memo
def _offers(program: Pattern) -> Callable[[Pattern], Offers]:
    handing = {each.value.identity: handoffs(each) for _, each in walk(program) if is_agent(each)}
    in_handovers = {name for name, others in handing.items() if others}.union(*handing.values())
    weakly = ref(program)  # what is kept of a program must not keep the program

    def made(agent: Pattern) -> Offers:
        around = weakly()
        assert around is not None, "whoever asks holds it"
        offers = tuple(_offered(around, agent))
        return Offers(
            tuple(each.spec for each in offers),
            {wire_name(each.name): each for each in offers},
            {each.name: each for each in offers},
            agent.value.identity in in_handovers,
        )

    return memo(made)


def summary_writer(agent: Pattern) -> Pattern | None:
    """The agent in an agent that is named to write summaries (``compactBy``); None if none is."""
    settings = view(lenses_ext.agent_settings, agent)
    name = settings.get("compactBy") if settings else None
    found = (each for each in agent.elements if is_agent(each) and each.value.identity == name)
    return next(found, None) if name else None


def _offered(program: Pattern, agent: Pattern) -> Iterator[Offer]:
    writer = summary_writer(agent)
    for each in agent.elements:
        if lenses_ext.is_tool(each):
            yield Offer(view(lenses_ext.tool_spec_name, each), each, each, "tool")
        elif lenses_ext.is_runnable(each) and each is not writer:
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
    """The agent of a program that can be handed over to under a name, which has to be there."""
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


def ask_model(run: RunContext, frame: AgentFrame) -> CallModel:
    """The request of an agent's turn, or for a summary.

    That goes to the agent that is named for it, or to the same model.
    """
    is_summary = bool(frame.summarising)
    writer = summary_writer(frame.pattern) if is_summary else None
    agent = writer or frame.pattern
    own, settings, messages = _asked(agent), settings_of(run, agent), frame.context
    models = (own.model, *own.fallbacks) if run.model is None else (run.model,)
    if run.passed:  # those that could not be asked come last
        models = tuple(sorted(models, key=lambda model: model in run.passed))
    if is_summary:
        settings = settings.with_changes({"toolChoice": None})
        messages = ConversationContext((to_read(frame),))
    elif frame.summarised:
        messages = ConversationContext(sent(frame))
    has_tools = not is_summary and not frame.stopped
    request = Request(
        models[0],
        INSTRUCTION if is_summary and writer is None else own.instruction,
        messages,
        offers_of(run.program, agent).specs if has_tools else (),
        settings,
        None if is_summary else own.answer,
        models[1:],
        own.agent,
    )
    return CallModel(frame.at, request, is_summary)


def settings_of(run: RunContext, agent: Pattern) -> Settings:
    """The settings that hold: the program's, changed by those of the run."""
    of_the_agent = _asked(agent).settings
    return of_the_agent.with_changes(run.settings) if run.settings else of_the_agent


@memo
def _asked(agent: Pattern) -> Request:
    """What an agent asks before anything is said: what is read of it at every turn."""
    model, *others = view(lenses_ext.agent_models, agent)
    return Request(
        model,
        view(lenses_ext.agent_instruction, agent),
        ConversationContext(),
        settings=view(lenses_ext.agent_settings, agent) or Settings(),
        answer=answer_of(agent),
        fallbacks=tuple(others),
        agent=agent.value.identity,
    )


@memo
def answer_of(agent: Pattern) -> Pattern | None:
    """The type of an agent's answer, by its `Answer` or its signature; None if that is a text."""
    declared = view(lenses_ext.agent_answer, agent)
    signature = written_signature(agent)
    if declared is not None or signature is None:
        return declared
    schema = lenses_ext.result_schema(tool_spec_of(agent)) or {}
    if {*schema} <= {"type", "description"} and schema.get("type") == "string":
        return None
    last = signature.elements[-1] if signature.value == WALK_SUBJECT else signature
    _, *shapes = tool_spec_of(agent).elements
    return Pattern(Subject("", {ANSWER}), [last.elements[1], *shapes])


def answer_schema_of(agent: Pattern) -> Json:
    """The JSON Schema of an agent's answer, None if that is a text; ``{}`` is just JSON."""
    answer = answer_of(agent)
    return None if answer is None else lenses_ext.answer_schema(answer)


def is_text_answer(agent: Pattern) -> bool:
    """Whether an agent's answer is a text, as it is unless the program declares another type."""
    schema = answer_schema_of(agent)
    return schema is None or is_text_schema(schema)


def input_of(pattern: Pattern, args: dict[str, Json]) -> Json:
    """What an agent or workflow is given: a text or a workflow's only argument, else a record."""
    names = parameter_names_of(pattern)
    if len(names) != 1 or names[0] not in args:
        return args
    only = args[names[0]]
    return only if isinstance(only, str) or not is_agent(pattern) else args


def arguments_of(pattern: Pattern, given: Json) -> Json:
    """The arguments that a value is to what takes it: one parameter, or the fields of a record.

    Fields that are no parameters are left out. A value that is no record stays as it is, for
    whoever checks the arguments.
    """
    names = parameter_names_of(pattern)
    if len(names) == 1:
        return {names[0]: given}
    if not names:
        return {}
    if isinstance(given, dict):
        return {name: each for name, each in given.items() if name in names}
    return given


@memo
def parameter_names_of(pattern: Pattern) -> tuple[str, ...]:
    """The names of the parameters of an agent, a workflow or a tool."""
    return tuple(view(lenses_ext.tool_spec_schema, tool_spec_of(pattern)).get("properties", {}))


# --- long conversations

CHARACTERS_OF_A_TOKEN: Final = 4
"""How many characters make a token, roughly: OpenAI's rule of thumb for English."""

_OF_A_MESSAGE: Final = 4
"""How many tokens a message has beside its words, roughly."""

INSTRUCTION: Final = (
    "Summarise the conversation that follows, so that it can be gone on with from the summary "
    "alone. Keep what was asked and answered, decisions, names, numbers and other facts exactly, "
    "what tools gave, and what is still to do. Answer with the summary alone."
)
"""What a model is told that is asked for a summary."""

_BEFORE: Final = "What was said before, in short:\n\n"
_GO_ON: Final = "Go on from there."


def estimate(messages: Iterable[Message]) -> int:
    """How many tokens some messages have, roughly."""
    tokens = 0
    for message in messages:
        calls = sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
        tokens += _OF_A_MESSAGE + (len(message.content) + calls) // CHARACTERS_OF_A_TOKEN
    return tokens


def length_of(frame: AgentFrame) -> int:
    """How many tokens the next request has: those of the last reply's usage, and an estimate."""
    if not frame.counted:
        return estimate(sent(frame))
    return frame.length + estimate(frame.context[frame.counted :])


def summarised_before(context: ConversationContext) -> int:
    """How many messages of a conversation its last summary covers."""
    covered = (place for place in range(len(context), 0, -1) if context[place - 1].summary)
    return next(covered, 0)


def to_summarise(frame: AgentFrame, settings: Settings) -> int:
    """How many messages a summary has to cover before the next request; 0 if none is needed.

    The user's last message is kept where nobody has said anything since.
    """
    share, window = settings.get("compactAt"), settings.get("contextWindow")
    if not isinstance(share, int | float) or not isinstance(window, int):
        return 0
    end = len(frame.context)
    if frame.context[-1].role == UserRole:
        end -= 1
    is_worth_it = end - frame.summarised > 1
    return end if is_worth_it and length_of(frame) > share * window else 0


def sent(frame: AgentFrame) -> Sequence[Message]:
    """The messages that are sent: all, or a summary and those after it."""
    if not frame.summarised:
        return frame.context
    summary = frame.context[frame.summarised - 1].summary or ""
    after = tuple(frame.context[frame.summarised :])
    if after and after[0].role == UserRole:
        said = f"{_BEFORE}{summary}\n\n{after[0].content}"
        return (evolve(after[0], content=said), *after[1:])
    return (Message(UserRole, f"{_BEFORE}{summary}\n\n{_GO_ON}"), *after)


def to_read(frame: AgentFrame) -> Message:
    """The part of the conversation that a summary is to cover, as one message of the user."""
    before = frame.context[frame.summarised - 1].summary if frame.summarised else None
    covered = frame.context[frame.summarised : frame.summarising]
    lines = [f"{_BEFORE}{before}"] if before else []
    return Message(UserRole, "\n\n".join((*lines, *map(_line, covered))))


def _line(message: Message) -> str:
    role = message.role
    who = f"tool {role.name}" if isinstance(role, FunctionRole) else role.name
    calls = [f"calls {each.name} with {each.arguments}" for each in message.tool_calls]
    files = [f"attaches {each}" for each in message.attachments]
    return f"{who}: {'; '.join(filter(None, (message.content, *calls, *files)))}"


def problem_of(frame: AgentFrame, reply: Message, *, truncated: bool) -> str | None:
    """Why a reply is no summary of what it was to cover; None if it is one."""
    if reply.tool_calls or reply.refused or not reply.content.strip():
        return "the model gave no summary"
    if truncated:
        return "the summary was cut off at its length limit"
    if estimate((reply,)) >= estimate((to_read(frame),)):
        return "the summary is no shorter than what it covers"
    return None


def with_summary(frame: AgentFrame, summary: str) -> AgentFrame:
    """The frame with what was said in short, and nothing known of the length from then on."""
    end = frame.summarising
    last = evolve(frame.context[end - 1], summary=summary)
    context = frame.context[: end - 1].append(last).extend(frame.context[end:])
    frame = evolve(frame, context=context, summarised=end, summarising=0, failures=0)
    return evolve(frame, length=0, counted=0)
