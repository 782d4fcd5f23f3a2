"""Gives a tool information about the run that calls it: the agent and the conversation.

A function receives it in a parameter with the hint `ToolContext`, which the model does not see.
The caller of the tool provides it with `providing`, around the call of `Tool.invoke` and around
the await of its result (an asyncio task started inside keeps it). It is a context variable, so
tools that run at the same time do not see each other's context; a new thread has to be started
with ``contextvars.copy_context().run``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from attrs import frozen

from gram import expect

from ..messages import ConversationContext, empty_context


@frozen
class ToolContext:
    """The run a tool is called in.

    Attributes:
        agent_name: the agent that calls.
        tool_name: the name the tool is called by.
        conversation: the conversation before the call.
        key: a unique name of this call. If the result is lost and the call is run again, the key
            is the same, so that a service that takes an idempotency key does the work only once.
    """

    agent_name: str
    tool_name: str
    conversation: ConversationContext = empty_context
    key: str = ""

    def __attrs_post_init__(self) -> None:
        for name in ("agent_name", "tool_name", "key"):
            expect(getattr(self, name), str, name, by="ToolContext")
        expect(self.conversation, ConversationContext, "conversation", by="ToolContext")


current_context: ContextVar[ToolContext | None] = ContextVar("current_context", default=None)
"""The context of the current tool call, or None outside a run."""


@contextmanager
def providing(context: ToolContext | None) -> Iterator[None]:
    """A context manager: tools called inside it get this context.

    >>> with providing(ToolContext("greeter", "hello")):
    ...     current_context.get().agent_name
    'greeter'
    """
    token = current_context.set(context)
    try:
        yield
    finally:
        current_context.reset(token)
