"""Recorded replies of providers and servers: each is read right, whole and streamed.

What providers wrote is not part of this project: GRAM_CONFORMANCE names the folder that has it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from interp import AgentError, ConversationContext, Message, OpenAIModel, UserRole
from interp.machine import Request
from interp.models import Reply
from interp.models.failures import sent_once
from lenses_ext import Model
from tests.interp.model_server import Answer, ModelServer, serving
from tests.paths import CONFORMANCE, NOT_HERE

REPLIES = CONFORMANCE / "replies"
ASKED = Request(Model("Some", "m"), "x", ConversationContext([Message(UserRole, "hi")]))
COUNTS = ["input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"]

# An error says as much as the row asks for, and a user has more of it than of an empty answer.
SAYS_NOTHING = ("cut off at its length limit before", "reply is empty")

# Streams whose pieces say something else than their last event, by those who recorded them.
OTHER_WORDS = "delta-text-differ"

# A server's error in a stream, with its own words.
NO_RULE = {("gpustack", "stream reasoning_content")}


def rows(name: str) -> list[Any]:
    """The rows of a file; a single one that is skipped where the file is not."""
    file = REPLIES / f"{name}.jsonl"
    if not file.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=NOT_HERE))]
    found = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    ids = [f"{index}-{row['provider']}-{row['kind']}" for index, row in enumerate(found)]
    return [pytest.param(row, id=id_) for row, id_ in zip(found, ids, strict=True)]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """One server for all rows."""
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def model(server: ModelServer, request: pytest.FixtureRequest) -> Iterator[OpenAIModel]:
    """Its model, in a dialect."""
    model = OpenAIModel(server.url, "k", request.param)
    yield model
    model.close()


def answered(model: OpenAIModel, server: ModelServer, row: dict[str, Any]) -> list[Any]:
    """What the model of a server gives for a row: the pieces of a stream, then reply or error."""
    server.answers.clear()
    headers = {"content-type": row["content_type"] or "application/json"}
    body = row["body"] if isinstance(row["body"], str) else json.dumps(row["body"])
    server.will_say(Answer(status=row["status"] or 200, headers=headers, raw=body.encode()))
    try:
        with sent_once():
            return list(model.stream(ASKED)) if row["stream"] else [model.complete(ASKED)]
    except AgentError as error:
        return [error]


def arguments(given: Any) -> Any:
    """Arguments as they are compared: by their values, where they are JSON."""
    try:
        return json.loads(given or "{}") if isinstance(given, str) else given
    except ValueError:
        return given


def expect_right(row: dict[str, Any], pieces: list[Any], reply: Reply, counts: list[str]) -> None:
    """Compare a reply with what a reader should make of it."""
    right, message = row["right"], reply.message
    text = "\n\n".join(right.get("texts") or [right["text"]])
    assert message.content == (right["refusal"] if message.refused else text)
    assert bool(right["refusal"]) == message.refused
    calls = [(call.name, arguments(call.arguments)) for call in message.tool_calls]
    assert calls == [(each["name"], arguments(each["arguments"])) for each in right["calls"]]
    assert reply.truncated == right["truncated"]
    counted = {name: getattr(reply.usage, name) or 0 for name in counts}
    assert counted == {name: right[name] or 0 for name in counts}
    if row["stream"] and not message.refused and OTHER_WORDS not in row["kind"]:
        assert "".join(each for each in pieces if isinstance(each, str)) == message.content


def may_be_an_error(right: dict[str, Any], error: AgentError) -> bool:
    """Whether a reply that says nothing, or was filtered, may be an error that says so."""
    if right.get("content_filter") or right.get("finish_reason") == "content_filter":
        return "content filter" in str(error)
    is_empty = not (right["text"] or right["refusal"] or right["calls"])
    return is_empty and any(each in str(error) for each in SAYS_NOTHING)


@pytest.mark.parametrize("model", ["responses"], indirect=True)
@pytest.mark.parametrize("row", rows("responses"))
def test_a_recorded_response_is_read_right(
    row: dict[str, Any], model: OpenAIModel, server: ModelServer
) -> None:
    right = row["right"]
    *pieces, reply = answered(model, server, row)
    if isinstance(reply, AgentError):
        assert "error" in right or may_be_an_error(right, reply)
        assert right.get("says", "") in str(reply)
        assert not right.get("retriable") or getattr(reply, "retriable", False)
        return
    assert "error" not in right or right.get("also_error")
    known = [name for name in COUNTS if right.get(name) is not None]
    expect_right(row, pieces, reply, known)
    if "echo" in right:
        back = json.loads(reply.message.echo or "{}").get("output", [])
        wanted = [each for each in right["echo"] if each["type"] != "reasoning" or each["keep"]]
        assert [(each["type"], each.get("id")) for each in back] == [
            (each["type"], each.get("id")) for each in wanted
        ]
        kept = [
            (each[what["keep"]], what.get("sha"))
            for each, what in zip(back, wanted, strict=True)
            if "keep" in what
        ]
        assert all(what for what, _ in kept)
        assert all(sha256(what.encode()).hexdigest()[:12] in sha for what, sha in kept if sha)


@pytest.mark.parametrize("model", ["tools"], indirect=True)
@pytest.mark.parametrize("row", rows("chat"))
def test_a_recorded_completion_is_read_right(
    row: dict[str, Any], model: OpenAIModel, server: ModelServer
) -> None:
    right = row["right"]
    *pieces, reply = answered(model, server, row)
    if isinstance(reply, AgentError):
        is_known = (row["provider"], row["kind"]) in NO_RULE
        assert "error" in right or is_known or may_be_an_error(right, reply)
        assert not right.get("retriable") or getattr(reply, "retriable", False)
        return
    assert "error" not in right
    for call in right["calls"]:
        if isinstance(call["arguments"], str):
            call["arguments"] = call["arguments"].removeprefix("RAW:")
    expect_right(row, pieces, reply, COUNTS[:2])
    assert reply.finish_reason == (right["finish_reason"] or "")
