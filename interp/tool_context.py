"""What a tool may ask of the run that calls it: the agent, its own name and the conversation.

A function asks by a parameter annotated with `ToolContext`. The model neither sees nor fills it:
whoever calls the tool provides it with `providing`, around the call of `Tool.invoke` (and around
the await of what it returned; an asyncio task started inside keeps it by itself). It is a context
variable, so tools that run side by side do not see each other's; a thread has to be started with
``contextvars.copy_context().run``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from attrs import frozen

from .messages import ConversationContext, empty_context


@frozen
class ToolContext:
    """The run a tool is called in.

    Attributes:
        agent_name: the agent that calls.
        tool_name: the name the tool is called by.
        conversation: what was said before the call.
    """

    agent_name: str
    tool_name: str
    conversation: ConversationContext = empty_context


current_context: ContextVar[ToolContext | None] = ContextVar("current_context", default=None)
"""The context of the tool call that is being performed, or None outside of a run."""


@contextmanager
def providing(context: ToolContext) -> Iterator[None]:
    """Tools called inside get this context.

    >>> with providing(ToolContext("greeter", "hello")):
    ...     current_context.get().agent_name
    'greeter'
    """
    token = current_context.set(context)
    try:
        yield
    finally:
        current_context.reset(token)
