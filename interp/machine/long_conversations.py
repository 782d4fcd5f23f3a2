"""Long conversations: what is sent of one is shortened by a summary of what was said before.

An agent whose settings have ``compactAt`` is asked for a summary before a request that would be
longer than that share of its ``contextWindow``. The summary is kept with the last message that it
covers, so that a conversation that goes on later needs no other; no message is left out of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from attrs import evolve

from lenses_ext import Settings

from .messages import ConversationContext, FunctionRole, Message, UserRole
from .state import AgentFrame

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
    return sum(
        _OF_A_MESSAGE + _characters(message) // CHARACTERS_OF_A_TOKEN for message in messages
    )


def _characters(message: Message) -> int:
    calls = sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    return len(message.content) + calls


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
    first, *others = (*frame.context[frame.summarised :],) or (None,)
    if first is not None and first.role == UserRole:
        return (evolve(first, content=f"{_BEFORE}{summary}\n\n{first.content}"), *others)
    told = Message(UserRole, f"{_BEFORE}{summary}\n\n{_GO_ON}")
    return (told, *others) if first is None else (told, first, *others)


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
    context, end = frame.context, frame.summarising
    last = evolve(context[end - 1], summary=summary)
    return evolve(
        frame,
        context=context[: end - 1].append(last).extend(context[end:]),
        summarised=end,
        summarising=0,
        failures=0,
        length=0,
        counted=0,
    )
