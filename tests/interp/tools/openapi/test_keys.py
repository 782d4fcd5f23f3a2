"""Keys of all kinds of schemes, as a server sees them."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from interp import ConfigurationError, ToolError, openapi_library
from interp.tools import invoke_tool
from tests.interp.tools.openapi.test_openapi_library import document

KEY = "me:a-long-pass+word/17"


def called(server: Any, scheme: dict[str, Any], **given: Any) -> dict[str, Any]:
    """What a server was asked by an operation that takes a key of a scheme."""
    made = document(server.url)
    made["components"]["securitySchemes"]["query_key"] = scheme
    invoke_tool(openapi_library(made, **given)["list"], {})
    asked: dict[str, Any] = server.asked[-1]
    return asked


@pytest.mark.parametrize(
    ("scheme", "header", "value"),
    [
        ({"type": "apiKey", "in": "header", "name": "X-Key"}, "X-Key", KEY),
        ({"type": "http", "scheme": "Bearer"}, "Authorization", f"Bearer {KEY}"),
        ({"type": "http", "scheme": "basic"}, "Authorization",
         f"Basic {b64encode(KEY.encode()).decode()}"),
        ({"type": "oauth2", "flows": {}}, "Authorization", f"Bearer {KEY}"),
    ],
)  # fmt: skip
def test_a_key_is_sent_where_its_scheme_says(
    server: Any, monkeypatch: pytest.MonkeyPatch, scheme: Any, header: str, value: str
) -> None:
    monkeypatch.setenv("PETS", KEY)

    asked = called(server, scheme, keys={"query_key": "PETS"})

    assert asked["headers"][header] == value


@pytest.mark.parametrize(
    "scheme",
    [
        {"type": "mutualTLS"},
        {"type": "http", "scheme": "digest"},
        {"type": "apiKey", "in": "cookie", "name": "k"},
        {"type": "apiKey", "in": "header", "name": "a b"},
    ],
)
def test_keys_that_are_not_sent_are_refused(
    server: Any, monkeypatch: pytest.MonkeyPatch, scheme: Any
) -> None:
    monkeypatch.setenv("PETS", KEY)

    with pytest.raises(ConfigurationError, match="keys of this kind are not sent"):
        called(server, scheme, keys={"query_key": "PETS"})


def test_a_call_without_its_key_says_which_one(server: Any) -> None:
    server.answers["/v1/pets"] = (401, {}, b"who are you?")

    with pytest.raises(ToolError) as error:
        called(server, {"type": "http", "scheme": "bearer"})

    assert "401 Unauthorized: who are you?" in str(error.value)
    assert "hint: it was called without a key for query_key" in str(error.value)


def test_a_key_that_a_server_repeats_is_hidden_in_every_form(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PETS", KEY)
    encoded = b64encode(KEY.encode()).decode()
    server.answers["/v1/pets"] = (400, {}, f"bad: {encoded} {KEY} a-long-pass+word/17".encode())

    with pytest.raises(ToolError) as error:
        called(server, {"type": "http", "scheme": "basic"}, keys={"query_key": "PETS"})

    assert "bad: [redacted] [redacted] [redacted]" in str(error.value)
