"""The errors of running agents. The model's mistakes are none of these: they go back to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gram import Fault, GramError

if TYPE_CHECKING:
    from .state import State


class AgentError(GramError):
    """The root of the errors of running agents.

    Attributes:
        state: where the run stood that raised it, to be resumed; None where none had begun.
    """

    state: State | None = None


class ConfigurationError(AgentError):
    """Something around the program is missing: a key, a provider, a usable library."""


class ValidationError(AgentError, ValueError):
    """Input, arguments or a program that are not valid.

    Attributes:
        faults: what is wrong with the program, each with its place; empty for other input.
    """

    def __init__(self, message: str, faults: Iterable[Fault] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)

    @classmethod
    def of(cls, faults: Iterable[Fault]) -> ValidationError:
        """The error that lists the faults of a program, one a line with its hint."""
        faults = tuple(faults)
        return cls("\n".join(each.with_hint() for each in faults), faults)


class ToolError(AgentError):
    """A tool cannot be made, registered or invoked."""


class ToolBindingError(ToolError):
    """Tools of a program that the library does not implement as they are written.

    Attributes:
        problems: for each of them, its first difference.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,), self.__dict__  # its argument is not its text


class ModelError(AgentError):
    """A model did not answer, or answered what cannot be read (the specification's LLMAPIError).

    Attributes:
        status: the HTTP status, or None when there was no answer.
        code: the provider's code for the error, or None.
        request_id: the provider's name for the request, or None.
        retriable: whether asking again can help.
        retry_after: how many seconds the provider asks to wait before that, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        retriable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retriable = retriable
        self.retry_after = retry_after


LLMAPIError = ModelError


class LimitError(AgentError):
    """A run reached one of its limits; its ``state`` can be resumed with higher ones."""


class ApprovalNeeded(AgentError):  # noqa: N818  # nothing went wrong
    """A run waits for approval that nobody is there to give.

    Its ``state`` can be saved and resumed, in another process too, by someone who can;
    ``state.asks`` are the calls it is about.
    """


class ProtocolError(AgentError):
    """An event that answers nothing the state waits for."""


class ReplayError(AgentError):
    """A recorded run and its replay ask different things.

    Runs are not replayed yet, so nothing raises it.
    """
