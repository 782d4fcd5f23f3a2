"""What the failures of models mean: whether asking again can help, and what the user can do.

``failures.toml`` has one table for every way a provider has of failing, as a status, in a body or
in the middle of a stream. A request is sent again where its error says so, waiting longer each time
or as the provider says. What a model refuses that can be left out is left out from then on.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import uniform
from typing import Any, Final, Literal, TypeAlias, TypeVar

from gram.words import counted
from lenses_ext import Model

from ..concurrency import setting
from ..errors import AgentError, ConfigurationError, ModelError
from ..machine import FunctionRole, Request
from ..secrets import without_keys
from .providers import CHAT_FIELDS, RESPONSES_FIELDS, in_variable_name

# The codes of all conversations that are too long and all models that the server does not know,
# whatever the provider says.
_OVERFLOW: Final = "context_length_exceeded"
_NO_MODEL: Final = "model_not_found"

# The statuses of replies whose words may tell what the user can do.
_REFUSING: Final = (None, 400, 403, 404, 405, 422, 500, 501)
_LONGEST_QUOTE: Final = 500  # characters
_LOOKED_AT: Final = 20_000  # characters, from which the quote is taken


@cache
def _table() -> dict[str, Any]:
    import tomllib  # imported late: most requests go well

    return tomllib.loads(Path(__file__).with_name("failures.toml").read_text(encoding="utf-8"))


def _is_about(what: str | Sequence[str], said: str) -> bool:
    """Whether words are about something: one of the ``words`` of the table, or some of these."""
    words = _table()["words"][what] if isinstance(what, str) else what
    return any(re.search(each, said, re.IGNORECASE) for each in words)


def failed(
    body: object,
    *,
    where: str = "the provider",
    status: int | None = None,
    request_id: str | None = None,
    headers: Mapping[str, str] | None = None,
    model: Model | None = None,
    path: str = "",
) -> AgentError:
    """The error for a reply that reports one: a ConfigurationError where the key is refused.

    The body is the reply, its ``error`` or a text, in any shape; its code may be a status, too. The
    others are what HTTP says, the model that was asked, and the path after the address.
    """
    said, code = message_of(body), code_of(body)
    if status is None and code and code.isdecimal() and 400 <= int(code) < 600:
        status = int(code)
    evidence = f"{said} {code or ''}"
    is_refused = status == 401 or (status == 403 and not _is_about("not_allowed", evidence))
    if is_refused or (status in (None, 400) and _is_about("wrong_key", evidence)):
        answered = f" ({status})" if status else ""
        return ConfigurationError(without_keys(f"{where} refused the key{answered}: {said}"))
    if status in (None, 400, 413, 422, 500) and _is_about("overflow", evidence):
        code = _OVERFLOW
    elif status in (None, 400, 404, 422) and _is_about("no_model", said):
        code = _NO_MODEL
    codes, statuses = _table()["codes"], _table()["statuses"]
    retriable, hint = codes.get(code or "") or statuses.get(str(status)) or (False, "")
    if status is not None and status >= 500 and (retriable or not hint):
        retriable, hint = statuses["400" if _is_about("bad_request", evidence) else "500"]
    if code not in (_OVERFLOW, _NO_MODEL) and status in _REFUSING:
        if path == "/responses" and status in (404, 405, 501) and "model" not in said.lower():
            hint = NO_RESPONSES  # the server does not know the path, rather than the model
        else:
            hint = hint_about(f"{said} {_place_in(body)}", model) or hint
    reported = f"answered {status}" if status else "reports an error"
    error = ModelError(
        f"{where} {reported}: {said}" + (f"\n  hint: {hint}" if hint else ""),
        status=status,
        code=code,
        request_id=request_id,
        retriable=retriable,
        retry_after=_retry_after(headers or {}),
    )
    written = [each.get("failed_generation") for each in _errors_in(body)]  # as Groq calls it
    error.call_not_read = next((each for each in written if isinstance(each, str)), None)
    return error


NO_RESPONSES: Final = "does the server speak the Responses API? --dialect tools is Chat Completions"
"""The hint for a server that does not seem to know the dialect."""


_FIELDS: Final[Mapping[str, str]] = {
    **{field: name for name, field in (*CHAT_FIELDS.items(), *RESPONSES_FIELDS.items())},
    **{name: name for name in (*CHAT_FIELDS, *RESPONSES_FIELDS)},  # as xAI calls them
    "max_tokens": "maxTokens",
    "maxOutputTokens": "maxTokens",
    "tool_choice": "toolChoice",
}
"""The setting that each field of a request is written from."""

_FIELD: Final = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, _FIELDS))})(?!\w)")


def hint_about(said: str, model: Model | None = None) -> str:
    """What to do about what a provider says of a model; "" if it is no known refusal.

    >>> hint_about("Unsupported parameter: 'temperature' is not supported with this model.")[-22:]
    '--set temperature=null'
    """
    field = _FIELD.search(said)
    name = in_variable_name(model.provider) if model else "<NAME>"
    known = {"variable": f"{name}_DIALECT", "setting": _FIELDS[field[1]] if field else ""}
    for row in _table()["refusals"]:
        hint: str = row["hint"]
        if _is_about(row.get("about") or row["words"], said) and (field or "{setting}" not in hint):
            return hint.format(**known)
    return ""


def too_large(where: str, max_bytes: int) -> ModelError:
    """The error for a reply, or an event of one, that is larger than the limit."""
    return ModelError(
        f"{where} sent a reply of more than {counted(max_bytes, 'byte')}, which is not read\n"
        "  hint: a larger max_reply_bytes allows it",
        code="too_large",
    )


def reported_in(reply: Mapping[str, Any]) -> AgentError | None:
    """The error that a reply or a part of it reports, although its status is a success.

    Most servers put it under ``error``, Groq's streams under ``x_groq``, and some are the error
    themselves.
    """
    for part in (reply, reply.get("x_groq")):
        if isinstance(part, Mapping) and part.get("error"):
            return failed(part["error"])
    if reply.get("choices") or any(key in reply for key in ("role", "content", "usage")):
        return None
    is_error = any(part.get(key) for part in _errors_in(reply) for key in _MESSAGES)
    return failed(reply) if is_error else None


def code_of(body: object) -> str | None:
    """The provider's code for an error, from a body in any shape, without keys."""
    for error in _errors_in(body):
        code = error.get("code") or error.get("status_code") or error.get("type")
        if isinstance(code, str | int):
            return quoted(str(code))
    return None


def message_of(body: object) -> str:
    """What a body in any shape says went wrong, in one line and without keys."""
    for error in _errors_in(body):
        found = next((error[key] for key in _MESSAGES if error.get(key)), None)
        if found is not None and not isinstance(found, Mapping):
            where = _place_in([error]) if error.get("loc") else ""
            return (where and f"{where}: ") + quoted(found) + _behind_the_gateway(error)
    return quoted(body)


_MESSAGES: Final = (
    "message", "detail", "msg", "error", "error_description", "errors", "error_msg", "status_msg",
)  # fmt: skip


def _errors_in(body: object) -> Iterator[Mapping[str, Any]]:
    """The objects of a body that may describe an error, the innermost first."""
    if isinstance(body, list):  # Google's endpoint sends a list with one error in it
        for each in body[:1]:
            yield from _errors_in(each)
    elif isinstance(body, Mapping):
        for key in ("error", "detail", "base_resp", "message"):
            if isinstance(body.get(key), Mapping | list):
                yield from _errors_in(body[key])
        yield body


def _place_in(body: object) -> str:
    """The field of a request that an error is about, where its provider names it apart."""
    for error in _errors_in(body):
        place = error.get("param") or error.get("loc")
        names = [str(each) for each in (place if isinstance(place, list) else [place]) if each]
        if names:
            return quoted(".".join(each for each in names if each != "body"))
    return ""


def _behind_the_gateway(error: Mapping[str, Any]) -> str:
    """What the provider behind a gateway answered, as OpenRouter gives it."""
    metadata = error.get("metadata")
    if not isinstance(metadata, Mapping) or not (raw := metadata.get("raw")):
        return ""
    if isinstance(raw, str):
        with suppress(ValueError, RecursionError):
            raw = json.loads(raw)
    return f" ({metadata.get('provider_name') or 'the provider behind it'}: {message_of(raw)})"


def quoted(said: object) -> str:
    """What somebody said, in one line, without keys and not too long."""
    if not isinstance(said, str):
        try:
            said = json.dumps(said, ensure_ascii=False, default=str)
        except (ValueError, RecursionError):
            said = f"a {type(said).__name__} that is nested too deep"
    said = without_keys(" ".join(said[:_LOOKED_AT].split()))  # before a cut, or half a key stays
    return said if len(said) <= _LONGEST_QUOTE else f"{said[:_LONGEST_QUOTE]}…"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds the headers ask to wait (RFC 9110, 10.2.3), as a number or as a date."""
    text = headers.get("retry-after", "").strip()
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    if (date := _date(text)) is None:
        return None
    now = _date(headers.get("date", "")) or datetime.now(UTC)  # by the same clock, if it says so
    return max(0.0, (date - now).total_seconds())


def _date(text: str) -> datetime | None:
    from email.utils import parsedate_to_datetime  # slow to import, and seldom needed

    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # a year of too many digits overflows
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


_log = logging.getLogger("interp.model")
T = TypeVar("T")

Notice: TypeAlias = Callable[[ModelError, float], None]
"""Called before a request is sent again, with what went wrong and how long it waits."""

_notice: ContextVar[Notice | None] = ContextVar("notice", default=None)
_is_sent_once: ContextVar[bool] = ContextVar("is_sent_once", default=False)
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds


def noticing_retries(notice: Notice) -> AbstractContextManager[None]:
    """Have a function called before each request inside that is sent again, beside others."""
    others = _notice.get()

    def tell(error: ModelError, seconds: float) -> None:
        if others:
            others(error, seconds)
        notice(error, seconds)

    return setting(_notice, tell)


def sent_once() -> AbstractContextManager[None]:
    """Have no request inside sent again: whoever asked for it does so."""
    return setting(_is_sent_once, True)


async def awith_retries(ask: Callable[[], Awaitable[T]], attempts: int) -> T:
    """What a coroutine function returns, called at most so many times; raises its last error."""
    most, attempt = 1 if _is_sent_once.get() else attempts, 1
    while True:
        try:
            return await ask()
        except ModelError as error:
            can_help = error.retriable and (error.retry_after or 0) <= _LONGEST_WAIT
            if attempt >= most or not can_help:
                raise
            longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempt - 1))
            seconds = uniform(0, longest) if error.retry_after is None else error.retry_after
            said = str(error).partition("\n")[0]
            _log.info("asks again in %.1f s: %s", seconds, said, extra={"event": "model_retried"})
            if notice := _notice.get():
                notice(error, seconds)
        await asyncio.sleep(seconds)
        attempt += 1


What: TypeAlias = Literal["files of tools", "encrypted reasoning"]

_refused: Final[set[tuple[What, str | None, Model]]] = set()


def takes(what: What, server: str | None, model: Model) -> bool:
    """Whether something is sent to a model of a server, by its name: it has not refused it yet."""
    return (what, server, model) not in _refused


def learn(error: ModelError, request: Request, server: str | None) -> bool:
    """Learn what a server refuses that can be left out; whether this error says so."""
    results = (each for each in request.messages if isinstance(each.role, FunctionRole))
    refused: dict[What, bool] = {
        "files of tools": _is_about("no_files", str(error))
        and any(each.attachments for each in results),
        "encrypted reasoning": error.status in (400, 404, 422)
        and _is_about("no_encrypted", str(error)),
    }
    for what, is_refused in refused.items():
        if is_refused and takes(what, server, request.model):
            _refused.add((what, server, request.model))
            told = "%s takes no %s: they are left out, or told in words"
            _log.warning(told, request.model, what)
    return any(refused.values())
