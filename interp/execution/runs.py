"""A run: a State and a world, and the two pumps that bring them together.

A pump has the effects of the state performed and folds in the events that answer them. One pump
blocks, the other does not; `startable` decides for both what may begin next.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Unpack

from gram import expect

from ..errors import AgentError, ConfigurationError
from ..machine import AgentResponse, State
from ..tools import LibraryLike, library_of
from .blocking_pump import drive
from .observations import Finished, Observation
from .options import RunOptions, check_options
from .progress import Progress
from .unattended import Unattended, may_be_unattended


class Run:
    """A run of an agent, which begins or goes on from a State.

    When it ends early, by an error, Ctrl-C, a cancellation or a reader who stops, ``state`` is the
    last complete one. `finish` or another Run goes on from there: what had ended is in the state,
    what had not is performed again.

    Args:
        state: where to go on.
        library: the implementations of the agent's tools.
        **options: see `RunOptions`; what differs from the state changes it.

    Attributes:
        state: the last complete State.

    Raises:
        ToolBindingError: the library does not implement the tools as they are written.
        ConfigurationError: the provider is unknown, or its key is missing.
    """

    def __init__(
        self,
        state: State,
        library: LibraryLike = None,
        **options: Unpack[RunOptions],
    ) -> None:
        expect(state, State, "state", by="Run")
        check_options(options, by="Run")
        if options.get("conversation") is not None:
            raise ConfigurationError("Run: a turn of a conversation begins with begin or run")
        self._progress = Progress(state, library_of(library, by="Run"), options)

    @classmethod
    def _of(cls, progress: Progress) -> Run:
        """A run that has begun, whose options were checked where it began."""
        run = cls.__new__(cls)
        run._progress = progress
        return run

    @property
    def state(self) -> State:
        """The last complete State."""
        return self._progress.state

    def __repr__(self) -> str:
        return repr(self.state).replace("State", "Run", 1)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from .notebook import conversation_form  # only needed in notebooks

        return {**conversation_form(self.state.context), "text/plain": repr(self)}

    def finish(self) -> AgentResponse:
        """Go on to the end.

        Raises:
            ModelError: the model did not answer.
            LimitError: a limit was reached.
            ApprovalNeeded: a call needs approval, and nobody is there to give it.
        """
        run = self._progress
        return answer_of(lambda: run, run.state.limits, is_watched=run.is_watched)

    async def afinish(self) -> AgentResponse:
        """Go on to the end without blocking, the tools of a turn at once; see `finish`."""
        from .async_pump import adrive  # asyncio takes longer to import than a short program runs

        try:
            seen = adrive(self._progress, words=False, is_read=False)
            return _last([each async for each in seen])
        except AgentError as error:
            raise _without_frames(error) from error.__cause__

    def stream(self, *, words: bool = True) -> Iterator[Observation]:
        """Go on to the end, and show what happens as it happens; see `finish`.

        Args:
            words: whether to show the words of the model; without, its replies come whole.
        """
        return drive(self._progress, words=words)

    def astream(self, *, words: bool = True) -> AsyncIterator[Observation]:
        """Go on without blocking, and show what happens as it happens; see `stream`."""
        from .async_pump import adrive  # see `afinish`

        return adrive(self._progress, words=words)


def answer_of(begin: Callable[[], Progress], limits: object, *, is_watched: bool) -> AgentResponse:
    """Begin a run and go on to its end, see `Run.finish`.

    Args:
        begin: begins the run. Where nobody watches it, another thread calls this, so that a run
            is the affair of one thread.
        limits: those of the run, as they were given.
        is_watched: whether somebody beside the log is told of its steps.
    """
    try:
        if may_be_unattended(limits, is_watched=is_watched):
            return Unattended(begin).finish()
        return _last(drive(begin(), words=False, is_read=False))
    except AgentError as error:
        raise _without_frames(error) from error.__cause__


def _last(observations: Iterable[Observation]) -> AgentResponse:
    """The response that a run ends with; errors are raised before it."""
    for each in observations:
        found = each
    assert isinstance(found, Finished)
    return found.response


def _without_frames(error: AgentError) -> AgentError:
    """An error without its traceback so far: up to 70 lines, none of whoever called the run."""
    return error.with_traceback(None)
