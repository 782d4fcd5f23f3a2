"""What a model is to a run: anything that answers a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .effects import Request


class LanguageModel(Protocol):
    """Anything that answers a request.

    ``complete`` returns a `Message`, a str, or a completion or message dict in either dialect. A
    model may also have any of

    - ``acomplete``, the same as a coroutine; without it, ``arun`` calls ``complete`` in a thread;
    - ``stream``, an iterator of the words of the reply, each a str, and at the end of the reply as
      ``complete`` would give it (without it, the words are the reply);
    - ``astream``, the same as an asynchronous iterator; without it, ``interp.astream`` reads
      ``stream`` in a thread.

    Where neither can be used, what is streamed comes whole.
    """

    def complete(self, request: Request) -> Any:
        """The reply to a request."""
        ...
