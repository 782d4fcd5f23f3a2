"""The errors of running agents. Mistakes of the model are not raised: the model is told of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from gram import GramError

from .secrets import without_keys

if TYPE_CHECKING:
    from gram import Diagnostic

    from .machine import State


class AgentError(GramError):
    """The base class of the errors of running agents.

    Its text has no keys.

    Attributes:
        state: the state of the run, which can be resumed; None if no run had begun.
        at: the position of what failed; () if that is the whole run.
        write_log: writes the ``log``, which most people who get an error do not ask for.
    """

    state: State | None = None
    at: tuple[int | str, ...] = ()

    write_log: Callable[[], str] | None = None

    @property
    def log(self) -> str | None:
        """The run as gram, which can be kept, sent and gone on with; None if no run had begun."""
        return None if self.write_log is None else self.write_log()

    def _text(self) -> str:
        return without_keys(self.message)

    def __repr__(self) -> str:
        return without_keys(super().__repr__())

    @property
    def message(self) -> str:
        """What is told, as it was given; `str` of an error is for people."""
        return Exception.__str__(self)


class ConfigurationError(AgentError):
    """Something that the program needs is missing or wrong: a key, a provider, a library."""


class ValidationError(AgentError, ValueError):
    """Input, arguments or a program are not valid.

    Attributes:
        faults: the faults of the program, with their places; empty for other input.
    """

    def __init__(self, message: str, faults: Iterable[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)

    @classmethod
    def of(cls, faults: Iterable[Diagnostic]) -> ValidationError:
        """Make the error for the faults of a program, with one line and a hint for each."""
        faults = tuple(faults)
        return cls("\n".join(each.with_hint() for each in faults), faults)


class ToolError(AgentError):
    """Making, registering or invoking a tool failed."""


class ToolBindingError(ToolError):
    """The library does not implement some tools of a program.

    Attributes:
        problems: the differences, each with its places.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,), self.__dict__


class ModelError(AgentError):
    """A model did not answer, or its answer cannot be read (the specification's LLMAPIError).

    Attributes:
        status: the HTTP status, or None if there was no answer.
        code: the provider's code for the error, or None.
        request_id: the provider's name for the request, or None.
        retriable: whether asking again can help.
        retry_after: the seconds that the provider asks to wait before that, or None.
        call_not_read: the call that the model wrote, where its provider could not read it; or None.
    """

    call_not_read: str | None = None

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
        super().__init__(without_keys(message))
        self.status = status
        self.code = None if code is None else without_keys(code)
        self.request_id = None if request_id is None else without_keys(request_id)
        self.retriable = retriable
        self.retry_after = retry_after


LLMAPIError = ModelError


class LimitError(AgentError):
    """A run reached one of its limits; its ``state`` can be resumed with higher limits."""


class WorkflowError(AgentError):
    """A workflow failed, because a step of it did: a tool, an agent, or what it was given."""


class ApprovalNeeded(AgentError):  # noqa: N818  # nothing went wrong
    """A run waits for approval, and it has no approver.

    Its ``state`` can be saved and resumed with an answer, also in another process;
    ``state.asks`` are the calls to approve.
    """


class ProtocolError(AgentError):
    """An event is not an answer to anything that the state waits for."""


class StoreError(AgentError):
    """A store of runs cannot be opened, read or written, or does not have what was asked for."""


class RunExistsError(StoreError):
    """A store has a run of this id already."""


class RunTakenError(StoreError):
    """A run of a store belongs to somebody else, so that nothing of it may be recorded here."""


class ReplayError(AgentError):
    """A recorded run and its replay differ."""


def said_by(error: BaseException) -> str:
    """The type and message of an exception of user code, even if its ``__str__`` fails.

    >>> said_by(ValueError("no"))
    'ValueError: no'
    >>> said_by(SystemExit())
    'SystemExit'
    """
    try:
        said = str(error)
    except Exception:  # noqa: BLE001  # user code may raise anything
        said = "(its message cannot be shown)"
    told = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return told.encode(errors="backslashreplace").decode()
