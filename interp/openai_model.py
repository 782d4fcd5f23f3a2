"""The one way to the network: models behind an OpenAI-compatible address, through ``openai``.

The package takes about a second to import, so that happens when the first request leaves. Bodies
are built and replies are read by `interp.wire`; its client carries the bytes. It does not retry;
we do, here and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from .effects import Request
from .errors import ConfigurationError, ModelError
from .json_text import Json, read_json
from .redaction import redact
from .wire import SETTING_NAMES, Dialect, request_body

if TYPE_CHECKING:
    import openai

_ATTEMPTS = 3
_LONGEST_WAIT = 60.0  # seconds
_TIMEOUT = 600.0  # seconds


class OpenAIModel:
    """A model behind an address that speaks Chat Completions.

    Connections are kept between requests until `close` or `aclose`.

    Args:
        base_url: the address, such as ``https://api.openai.com/v1``.
        key: what to authenticate with.
        dialect: how it is spoken to.
        max_tokens: what it calls the setting ``maxTokens``.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        dialect: Dialect = "tools",
        *,
        max_tokens: str = SETTING_NAMES["maxTokens"],
    ) -> None:
        self._base_url = base_url
        self._key = key
        self._dialect = dialect
        self._max_tokens = max_tokens
        self._client: openai.OpenAI | None = None
        self._async_client: openai.AsyncOpenAI | None = None

    def __repr__(self) -> str:
        return f"OpenAIModel({self._base_url!r})"

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request."""
        return request_body(request, self._dialect, self._max_tokens)

    def complete(self, request: Request) -> Json:
        """The completion for a request.

        Raises:
            ModelError: no answer came, or none that is JSON; after retries where these can help.
            ConfigurationError: the key was refused.
        """
        import openai
        import tenacity

        body = self.body(request)
        if self._client is None:
            self._client = openai.OpenAI(**self._options())
        client = self._client

        def ask() -> Json:
            try:
                return _read(client.post("/chat/completions", body=body, cast_to=str))
            except openai.OpenAIError as error:
                self._fail(error)

        return tenacity.Retrying(**_retrying())(ask)

    async def acomplete(self, request: Request) -> Json:
        """The completion for a request, without blocking; see `complete`."""
        import openai
        import tenacity

        body = self.body(request)
        if self._async_client is None:
            self._async_client = openai.AsyncOpenAI(**self._options())
        client = self._async_client

        async def ask() -> Json:
            try:
                return _read(await client.post("/chat/completions", body=body, cast_to=str))
            except openai.OpenAIError as error:
                self._fail(error)

        return await tenacity.AsyncRetrying(**_retrying())(ask)

    def close(self) -> None:
        """Close the connections of `complete`."""
        if self._client is not None:
            self._client.close()
            self._client = None

    async def aclose(self) -> None:
        """Close the connections of `acomplete`; call it in the event loop that used them."""
        if self._async_client is not None:
            await self._async_client.close()
            self._async_client = None

    def _options(self) -> dict[str, Any]:
        return {
            "base_url": self._base_url,
            "api_key": self._key,
            "max_retries": 0,
            "timeout": _TIMEOUT,
        }

    def _fail(self, error: openai.OpenAIError) -> NoReturn:
        """Raise what the SDK reports as one of our errors."""
        import openai

        if isinstance(error, openai.APITimeoutError):
            raise ModelError(
                f"{self._base_url} did not answer within {_TIMEOUT:.0f} s", retriable=True
            ) from None
        if isinstance(error, openai.APIConnectionError):
            raise ModelError(
                f"cannot reach {self._base_url}: {error.__cause__ or error}", retriable=True
            ) from None
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            raise ConfigurationError(
                f"{self._base_url} refused the key ({error.status_code}): {_said(error)}"
            ) from None
        if isinstance(error, openai.APIStatusError):
            retry_after = error.response.headers.get("retry-after", "")
            raise ModelError(
                f"{self._base_url} answered {error.status_code}: {_said(error)}",
                status=error.status_code,
                code=error.code,
                request_id=error.request_id,
                retriable=error.code != "insufficient_quota"
                and (error.status_code in (408, 409, 429) or error.status_code >= 500),
                retry_after=float(retry_after) if retry_after.isdigit() else None,
            ) from None
        raise ModelError(f"{self._base_url}: {error}") from None


def _said(error: openai.APIStatusError) -> str:
    """What the provider says went wrong, without the SDK's words around it."""
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return redact(str(body["message"]))
    return redact(str(error.message))


def _read(text: str) -> Json:
    try:
        return read_json(text)
    except ValueError as error:
        start = " ".join(text[:80].split())
        raise ModelError(f"the answer is not JSON ({error}): {start}…") from None


def _retrying() -> dict[str, Any]:
    """When a request is sent again: a few times, waiting longer each time or as long as told."""
    import tenacity

    backoff = tenacity.wait_random_exponential(multiplier=0.5, max=_LONGEST_WAIT)

    def can_help(error: BaseException) -> bool:
        return (
            isinstance(error, ModelError)
            and error.retriable
            and (error.retry_after or 0) <= _LONGEST_WAIT
        )

    def wait(attempt: tenacity.RetryCallState) -> float:
        error = attempt.outcome.exception() if attempt.outcome else None
        told = error.retry_after if isinstance(error, ModelError) else None
        return backoff(attempt) if told is None else told

    return {
        "retry": tenacity.retry_if_exception(can_help),
        "stop": tenacity.stop_after_attempt(_ATTEMPTS),
        "wait": wait,
        "reraise": True,
    }
