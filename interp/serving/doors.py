"""Who may come in: the names that the server is called by, the pages that ask, the key."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from attrs import frozen

from .. import errors
from ..errors import AgentError, ModelError
from ..json_text import Json

if TYPE_CHECKING:
    from starlette.requests import Request


_STATUSES: Final[Mapping[type[BaseException], tuple[int, str]]] = {
    errors.ValidationError: (400, "invalid_request"),
    errors.RunTakenError: (409, "conversation_busy"),
    errors.LimitError: (422, "limit_reached"),
    errors.WorkflowError: (422, "workflow_failed"),
    ModelError: (502, "model_failed"),
    errors.ConfigurationError: (500, "configuration"),
    errors.StoreError: (500, "store"),
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


LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@frozen
class Doors:
    """What has to be true of a request before it is read.

    Attributes:
        hosts: the names and addresses that the server is called by; ``*`` is any.
        origins: the pages that may ask it from a browser; ``*`` is any.
        key: the key that clients send as ``Authorization: Bearer …``; None if there is none.
    """

    hosts: frozenset[str] = LOOPBACK
    origins: frozenset[str] = frozenset()
    key: str | None = None

    def check(self, request: Request) -> None:
        """Let a request in.

        Raises:
            RefusedError: it does not come in.
        """
        host = request.headers.get("host", "")
        if "*" not in self.hosts and _host_in(host) not in self.hosts:
            hint = "gram serve --allow-host names it"
            raise RefusedError(f"the host {host} is not served: {hint}", status=403, code="host")
        origin = request.headers.get("origin")
        if origin is not None and not self.origins & {origin, "*"}:
            hint = "gram serve --allow-origin names it"
            raise RefusedError(f"pages of {origin} may not ask: {hint}", status=403, code="origin")
        if self.key is None or request.url.path == "/health" or request.method == "OPTIONS":
            return
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        is_known = hmac.compare_digest(given.strip().encode(), self.key.encode())
        if scheme.lower() != "bearer" or not is_known:
            raise RefusedError("the key is missing or wrong", status=401, code="invalid_api_key")


def _host_in(header: str) -> str | None:
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None
