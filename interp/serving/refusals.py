"""What a server refuses or fails at, in the form of OpenAI's errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..errors import (
    AgentError,
    ConfigurationError,
    LimitError,
    ModelError,
    RunTakenError,
    StoreError,
    ValidationError,
    WorkflowError,
)
from ..json_text import Json

_STATUSES: Final[Mapping[type[BaseException], tuple[int, str]]] = {
    ValidationError: (400, "invalid_request"),
    RunTakenError: (409, "conversation_busy"),
    LimitError: (422, "limit_reached"),
    WorkflowError: (422, "workflow_failed"),
    ModelError: (502, "model_failed"),
    ConfigurationError: (500, "configuration"),
    StoreError: (500, "store"),
}
"""The status and the code of each kind of error; the first that fits counts."""


class RefusedError(AgentError):
    """A request that gets an error as its answer.

    Attributes:
        status: the HTTP status.
        code: what programs know it by.
        param: the field of the request that is wrong, or None.
        retry_after: after how many seconds it may be sent again; None if that does not help.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        code: str = "invalid_request",
        param: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.retry_after = retry_after

    @classmethod
    def of(cls, error: BaseException) -> RefusedError:
        """The answer to a request whose run failed; what is not ours to tell stays in the log."""
        if isinstance(error, cls):
            return error
        for kind, (status, code) in _STATUSES.items():
            if isinstance(error, kind):
                after = 1.0 if isinstance(error, ModelError) and error.retriable else None
                return cls(str(error), status=status, code=code, retry_after=after)
        return cls("the server failed; its log says why", status=500, code="server_error")

    @property
    def error(self) -> dict[str, Json]:
        """The error as an object of JSON."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        kind = "rate_limit_error" if self.status == 429 else kind
        return {"message": str(self), "type": kind, "param": self.param, "code": self.code}

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer: whether clients should send the request again."""
        if self.retry_after is None:
            return {"x-should-retry": "false"}
        return {"x-should-retry": "true", "Retry-After": f"{self.retry_after:.0f}"}
