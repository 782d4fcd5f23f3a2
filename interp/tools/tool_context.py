"""Gives a tool information about the run that calls it: the agent and the conversation.

The tool in turn can report how far it is.

A function receives it in a parameter with the hint `ToolContext`, which the model does not see.
The caller of the tool provides it with `providing`, around the call of `Tool.invoke` and around
the await of its result (an asyncio task started inside keeps it). It is a context variable, so
tools that run at the same time do not see each other's context; a new thread has to be started
with ``contextvars.copy_context().run``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from attrs import field, frozen

from gram.errors import expect

from ..machine import ConversationContext, empty_context

ProgressWatcher: TypeAlias = Callable[[float, float | None, str], object]
"""Takes how much of a call is done, of how much, and what is said beside it."""


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
    _watcher: ProgressWatcher | None = field(default=None, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        by = "ToolContext"
        expect(self.agent_name, str, "agent_name", by=by)
        expect(self.tool_name, str, "tool_name", by=by)
        expect(self.key, str, "key", by=by)
        expect(self.conversation, ConversationContext, "conversation", by=by)

    def report_progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell whoever watches the run how far the call is; from any thread, without waiting.

        It is shown as a `ToolProgress` and not kept: neither the model nor a record of the run
        has it. Of many reports that nobody has read yet, some are dropped.

        Args:
            done: how much is done, in any unit.
            total: how much there is to do, or None if that is not known.
            message: what is done now, or nothing.

        Raises:
            ArgumentError: an argument is of the wrong type.
        """
        by = "report_progress"
        expect(done, (int, float), "done", by=by)
        expect(total, (int, float, type(None)), "total", by=by)
        expect(message, str, "message", by=by)
        if self._watcher is not None:
            self._watcher(done, total, message)


current_context: ContextVar[ToolContext | None] = ContextVar("current_context", default=None)
"""The context of the current tool call, or None outside a run."""


@contextmanager
def providing(context: ToolContext | None) -> Iterator[None]:
    """Tools that are called inside get this context.

    >>> with providing(ToolContext("greeter", "hello")):
    ...     current_context.get().agent_name
    'greeter'
    """
    token = current_context.set(context)
    try:
        yield
    finally:
        current_context.reset(token)
