"""How far a call is, as its server says while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from attrs import frozen

from ...machine import progress_text

LONGEST_PROGRESS: Final = 200
"""How many characters of what a server says beside its progress are kept."""


@frozen
class McpProgress:
    """How far a call of a tool of an MCP server is.

    Attributes:
        tool: the name of the tool.
        done: how much is done, in units that the server chooses.
        total: how much there is to do, or None if the server does not know.
        message: what the server says beside it, on one line; its beginning if it is long.
    """

    tool: str
    done: float
    total: float | None = None
    message: str = ""

    def __str__(self) -> str:
        return progress_text(self.done, self.total, self.message)


OnProgress: TypeAlias = Callable[[McpProgress], object]
"""Takes the progress of calls, in the thread of the connection; it must not wait."""
