"""Messages and conversations: what they consist of."""

from __future__ import annotations

import pytest

from gram import ArgumentError
from interp import ConversationContext, Message, ToolCall, UserRole


def test_messages_consist_of_what_their_types_say() -> None:
    for make in (
        lambda: Message(UserRole, "", (5,)),  # type: ignore[arg-type]  # wrong on purpose
        lambda: Message(None, "x"),  # type: ignore[arg-type]  # wrong on purpose
        lambda: ToolCall("1", "t", {}),  # type: ignore[arg-type]  # wrong on purpose
        lambda: ConversationContext([5]),  # type: ignore[list-item]  # wrong on purpose
    ):
        with pytest.raises(ArgumentError):
            make()
