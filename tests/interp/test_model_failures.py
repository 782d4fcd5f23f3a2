"""What failures of a provider mean: for the user, and for asking again."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from gram import Pattern
from interp import (
    ConfigurationError,
    ModelError,
    hello_world_tool_library,
    run,
)
from interp.model_failures import failed
from tests.interp.model_server import (
    Answer,
    ModelServer,
    completion,
    tool_calls,
)

UNUSABLE = [
    (Answer({"error": {"message": "m", "code": "context_length_exceeded"}}, 400), "shorten it"),
    (Answer({"error": {"message": "too long"}}, 400), "400: too long"),
    (Answer({"error": {"message": "bad model"}}, 404), "404: bad model.*the program's `model`"),
    (Answer({"error": {"message": "m"}}, 413), "shorten it"),
    (Answer({"error": {"message": "m"}}, 422), "does not take this request"),
    (Answer({"error": "just words"}, 400), "just words"),
    (Answer({"detail": "no such field"}, 422), "no such field"),
    (Answer(raw=b"<html>teapot</html>", status=418), "418"),
    (Answer(raw=b"<html>oops</html>"), "the answer is not JSON"),
    (Answer(raw=b"", status=200), "not JSON"),
    (Answer(raw=b'{"choices": [NaN]}'), "NaN is not JSON"),
    (Answer([1]), "with list"),
    (Answer({"error": {"message": "overloaded", "code": "busy"}}), "overloaded"),
    (Answer(completion({"content": "x"}, choice={"error": {"message": "mid"}})), "mid"),
    (Answer({"id": "c1"}), "no message"),
    (Answer({"choices": [{"finish_reason": "stop"}]}), "no message"),
    (Answer({"choices": None}), "no choices"),
    (Answer({"choices": [None]}), "no choices"),
    (Answer(tool_calls(("c", None, {}))), "without naming it"),  # type: ignore[arg-type]  # wrong on purpose
    (
        Answer(completion({"role": "assistant"}, choice={"finish_reason": "content_filter"})),
        "content filter",
    ),
]


@pytest.mark.parametrize(("answer", "message"), UNUSABLE)
def test_what_asking_again_cannot_help_is_reported_at_once(
    hello_world: Pattern, model_server: ModelServer, answer: Answer, message: str
) -> None:
    model_server.will_say(answer, "never")

    with pytest.raises(ModelError) as caught:
        run(hello_world, "hi", hello_world_tool_library)

    assert re.search(message, str(caught.value), re.DOTALL)
    assert len(model_server.requests) == 1
    assert caught.value.status == (answer.status if answer.status != 200 else None)
    assert caught.value.state is not None


def test_an_exhausted_quota_is_not_tried_again(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    error = {"error": {"message": "no quota", "code": "insufficient_quota"}}
    model_server.will_say(Answer(error, 429), "never")

    with pytest.raises(ModelError, match="no quota") as caught:
        run(hello_world, "hello", hello_world_tool_library)

    assert "the billing" in str(caught.value)
    assert caught.value.status == 429
    assert caught.value.code == "insufficient_quota"
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_not_tried_again(
    hello_world: Pattern, model_server: ModelServer, status: int
) -> None:
    model_server.will_say(Answer({"error": {"message": "bad key"}}, status), "never")

    with pytest.raises(
        ConfigurationError, match=rf"refused the key \({status}\): bad key"
    ) as caught:
        run(hello_world, "hi", hello_world_tool_library)

    assert len(model_server.requests) == 1
    assert caught.value.state is not None


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_asking_again_may_help_is_asked_three_times(
    hello_world: Pattern, model_server: ModelServer, status: int
) -> None:
    soon = {"retry-after": "0", "x-request-id": "r-1"}
    model_server.will_say(*[Answer({"error": {"message": "later"}}, status, soon)] * 3)

    with pytest.raises(ModelError, match="later") as caught:
        run(hello_world, "hi", hello_world_tool_library)

    assert len(model_server.requests) == 3
    assert (caught.value.status, caught.value.request_id) == (status, "r-1")
    assert "hint: " in str(caught.value)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2),
        ("0.5", 0.5),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("١", 1),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 2024 00:00:00 +99999999999999999", None),
    ],
)
def test_retry_after_is_read_in_seconds(header: str, seconds: float | None) -> None:
    assert failed("m", status=429, headers={"retry-after": header}).retry_after == seconds


def test_retry_after_is_read_as_a_date() -> None:
    now = datetime.now(UTC)
    later, past = (format_datetime(now + timedelta(seconds=s), usegmt=True) for s in (30, -30))

    found = failed("m", status=429, headers={"retry-after": later}).retry_after or 0

    assert 25 < found <= 30
    assert failed("m", status=429, headers={"retry-after": past}).retry_after == 0
