"""Operations of OpenAPI documents as tools, called at a real server on loopback."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import zlib
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from interp import ConfigurationError, ToolError, openapi_library
from interp.tools import acall_tool, invoke_tool
from tests.interp.cli.process import gram

KEY = "a-key-of-pets-17"
FORM = "application/x-www-form-urlencoded"
PIPED = {"encoding": {"a": {"style": "pipeDelimited"}}}


def packed(body: bytes) -> bytes:
    """A body as gzip, without the time: the names of the tests are made of it."""
    return gzip.compress(body, mtime=0)


def document(url: str, version: str = "3.0.3", **operation: Any) -> dict[str, Any]:
    """A document with one operation that takes everything, and a plain one."""
    fields = {
        "name": {"type": "string", "nullable": True},
        "parent": {"$ref": "#/components/schemas/Pet"},
        "made": {"type": "string", "readOnly": True},
    }
    pet = {"type": "object", "properties": fields, "required": ["name", "made"]}
    whole = {
        "operationId": "pets/update",
        "summary": "Changes a pet.",
        "description": "All of it.",
        "security": [{"token": []}],
        "parameters": [
            {"$ref": "#/components/parameters/Tags"},
            {"name": "X-Why", "in": "header", "schema": {"type": "string"}},
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}},
        },
        **operation,
    }
    tags = {"name": "tag", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}}
    identity = {"name": "id", "in": "path", "schema": {"type": "string"}}  # required all the same
    return {
        "openapi": version,
        "servers": [{"url": f"{url}/{{version}}", "variables": {"version": {"default": "v1"}}}],
        "paths": {
            "/pets/{id}": {"parameters": [identity], "put": whole},
            "/pets": {"get": {"operationId": "list", "security": [{"query_key": []}]}},
        },
        "components": {
            "schemas": {"Pet": pet},
            "parameters": {"Tags": tags},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "query_key": {"type": "apiKey", "in": "query", "name": "key"},
            },
        },
    }


def test_an_operation_is_a_tool_with_all_its_parameters() -> None:
    tool = openapi_library(document("http://host.example"))["pets_update"]

    assert tool.description == "Changes a pet.\n\nAll of it."
    assert tool.once
    assert set(tool.schema["properties"]) == {"id", "tag", "X-Why", "body"}
    assert tool.schema["required"] == ["id", "body"]
    pet = tool.schema["$defs"]["Pet"]
    assert pet["properties"]["name"] == {"type": ["string", "null"]}
    assert pet["properties"]["parent"] == {"$ref": "#/$defs/Pet"}
    assert pet["required"] == ["name"], "what only answers have is not asked for"


def test_what_3_0_alone_says_of_schemas_counts_in_3_0_alone() -> None:
    content = {"application/json": {"schema": {"type": "string", "nullable": True}}}
    for version, kinds in (("3.0.3", ["string", "null"]), ("3.1.0", "string")):
        given = document("http://h", version, requestBody={"content": content})
        tool = openapi_library(given)["pets_update"]

        assert tool.schema["properties"]["body"]["type"] == kinds


def test_a_call_sends_path_query_header_body_and_key(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PETS", KEY)
    library = openapi_library(document(server.url), keys={"token": "PETS"})
    arguments = {"id": "a/b ?", "tag": ["x", "y z"], "X-Why": "so", "body": {"name": "Ann"}}

    said = invoke_tool(library["pets_update"], arguments)
    again = asyncio.run(acall_tool(library["pets_update"], arguments)).text.value

    assert said == again
    assert said["method"] == "PUT"
    assert said["path"] == "/v1/pets/a%2Fb%20%3F?tag=x&tag=y%20z"
    assert json.loads(said["body"]) == {"name": "Ann"}
    assert server.asked[0]["headers"]["X-Why"] == "so"
    assert server.asked[0]["headers"]["Authorization"] == f"Bearer {KEY}"


def test_a_form_is_sent_as_one(server: Any) -> None:
    styles = {"c": {"style": "deepObject"}, "e": {"explode": False}}
    body = {"content": {FORM: {"schema": {"type": "object"}, "encoding": styles}}}
    library = openapi_library(document(server.url, requestBody=body))
    sent = {"a": "x y", "b": [2, 3], "c": {"d": 4}, "e": [5, 6]}

    assert invoke_tool(library["pets_update"], {"id": "1", "body": sent})["body"] == (
        "a=x%20y&b=2&b=3&c%5Bd%5D=4&e=5,6"
    )


@pytest.mark.parametrize(
    ("kind", "sent_as"), [("text/csv", "text/csv"), ("text/*", "text/plain"), ("text/xml", None)]
)
def test_a_text_is_sent_as_what_it_is(server: Any, kind: str, sent_as: str | None) -> None:
    body = {"content": {kind: {"schema": {"type": "string"}}}}
    tool = openapi_library(document(server.url, requestBody=body))["pets_update"]
    assert ("body" in tool.schema["properties"]) == (sent_as is not None)
    if sent_as:
        assert invoke_tool(tool, {"id": "1", "body": "a,b"})["body"] == "a,b"
        assert server.asked[0]["headers"]["Content-Type"] == sent_as


def test_parameters_of_one_name_are_told_apart_by_their_places() -> None:
    parameters = [{"name": name, "in": "query"} for name in ("id", "body")]
    made = document("http://h", requestBody={"content": {"text/plain": {}}}, parameters=parameters)
    properties = openapi_library(made)["pets_update"].schema["properties"]
    assert [*properties] == ["id", "id_query", "body", "request_body"]


@pytest.mark.parametrize(
    ("security", "given", "sent"),
    [
        ([{"query_key": []}, {"token": []}], ["query_key", "token"], ["query_key"]),
        ([{"query_key": []}, {"token": []}], ["token"], ["token"]),
        ([{"query_key": [], "token": []}], ["query_key", "token"], ["query_key", "token"]),
        ([{}, {"token": []}], ["query_key", "token"], ["token"]),
        ([], ["token"], []),
    ],
)
def test_a_key_is_not_sent_where_another_one_does(
    server: Any, monkeypatch: pytest.MonkeyPatch,
    security: list[Any], given: list[str], sent: list[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("PETS", KEY)
    made = document(server.url, security=security)
    library = openapi_library(made, keys=dict.fromkeys(given, "PETS"))

    invoke_tool(library["pets_update"], {"id": "1"})

    (asked,) = server.asked
    assert (KEY in asked["path"]) == ("query_key" in sent)
    assert ("Authorization" in asked["headers"]) == ("token" in sent)


@pytest.mark.parametrize(
    ("responses", "type_"),
    [
        ({"200": {"content": {"application/json": {"schema": {"type": "array"}}}}}, "array"),
        ({"200": {"content": {"application/json": {"schema": {"type": ["array"]}}}}}, None),
        ({"200": {"content": {"text/csv": {"schema": {"type": "string"}}}}}, None),
        ({"404": {"content": {"application/json": {"schema": {"type": "object"}}}}}, None),
        ({}, None),
    ],
)
def test_a_result_has_the_outermost_type_that_the_document_says(
    responses: Any, type_: str | None
) -> None:
    made = document("http://h", "3.1.0", responses=responses)
    result = openapi_library(made)["pets_update"].result_schema
    assert result == (type_ and {"type": type_})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((404, {}, b"no such pet"), "GET /pets: 404 Not Found: no such pet"),
        ((500, {}, b"x" * 5000), "x" * 1000 + "…"),
        ((302, {"Location": "http://other.example/"}, b"-"), "redirects to http://other.example/"),
        ((200, {"Content-Type": "application/json"}, b"{"), "the answer is not JSON"),
        ((200, {}, b"x" * 20_000), "more than 10,000 bytes"),
        ((200, {"Content-Encoding": "gzip"}, b"x" * 9), "incorrect header check"),
        ((200, {"Content-Encoding": "gzip"}, packed(b"\0" * 10**7)), "than 10,000 bytes"),
        ((200, {}, b"wait"), "no answer in 1 second"),
    ],
)
def test_a_bad_answer_is_told(server: Any, answer: Any, said: str) -> None:
    server.answers["/v1/pets"] = answer
    seconds = 1 if answer[2] == b"wait" else 60
    library = openapi_library(document(server.url), max_bytes=10_000, seconds=seconds)

    with pytest.raises(ToolError, match=re.escape(said)):
        invoke_tool(library["list"], {})

    assert len(server.asked) == 1, "a redirect is not followed"


@pytest.mark.parametrize(
    ("headers", "body", "value"),
    [
        ({"Content-Type": "application/problem+json"}, b'{"a": 1}', {"a": 1}),
        ({"Content-Type": "application/vnd.pets+json; v=2"}, b"[1]", [1]),
        ({"Content-Type": "text/json"}, b"\xef\xbb\xbf1", 1),
        ({"Content-Type": 'application/json; charset="utf-16"'}, '"é"'.encode("utf-16"), "é"),
        ({"Content-Type": "application/x-ndjson"}, b"1\n2\n", "1\n2\n"),
        ({"Content-Type": "application/xml"}, b"<pet/>", "<pet/>"),
        ({"Content-Type": "text/plain; charset=hex"}, b"\xff", "\ufffd"),
        ({"Content-Type": "text/plain; charset=nonsense"}, b"hi", "hi"),
        ({"Content-Type": "image/png"}, b"\x89PNG\0", "[image/png: 5 bytes that are no text]"),
        ({}, b"hi", "hi"),
        ({"Content-Encoding": "gzip"}, packed(b"a" * 10_000), "a" * 10_000),
        ({"Content-Encoding": "deflate"}, zlib.compress(b"a"), "a"),
    ],
)
def test_an_answer_is_json_or_text_unpacked_and_in_its_encoding(
    server: Any, headers: dict[str, str], body: bytes, value: Any
) -> None:
    server.answers["/v1/pets"] = (200, headers, body)

    assert invoke_tool(openapi_library(document(server.url), max_bytes=10_000)["list"], {}) == value


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(ToolError, match="GET /pets: "):
        invoke_tool(openapi_library(document("http://127.0.0.1:1"))["list"], {})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({"id": ".."}, "part of a path"), ({"id": "1", "X-Why": "a\r\nEvil: b"}, "printable ASCII")],
)
def test_what_would_leave_its_place_is_not_sent(server: Any, arguments: Any, said: str) -> None:
    library = openapi_library(document(server.url))

    with pytest.raises(ToolError, match=said):
        invoke_tool(library["pets_update"], {"body": {"name": None}, **arguments})

    assert server.asked == []


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("/a/{x}{y}", {"x": "%2", "y": "e%2e"}),
        ("/a/.{x}", {"x": "%2F"}),
        ("/a/{x}.", {"x": ".;"}),
        ("/a/../{x}{y}", {"x": "1", "y": "2"}),
    ],
)
def test_parts_of_a_path_lead_nowhere_else_together(
    server: Any, path: str, arguments: dict[str, str]
) -> None:
    parameters = [{"name": name, "in": "path", "schema": {}} for name in arguments]
    get = {"operationId": "get", "parameters": parameters}
    api = {"openapi": "3.1.0", "servers": [{"url": server.url}], "paths": {path: {"get": get}}}
    library = openapi_library(api)

    with pytest.raises(ToolError, match=r"\.\."):
        invoke_tool(library["get"], arguments)

    assert server.asked == []


def test_operations_are_chosen_by_their_names_and_only_allowed_hosts_are_called() -> None:
    with pytest.raises(ConfigurationError, match="not among those allowed"):
        openapi_library(document("http://evil.example"), hosts=["good.example"])
    assert openapi_library(document("http://good.example"), hosts=["good.example"])
    assert [*openapi_library(document("http://h"), operations=["list"])] == ["list"]
    assert [*openapi_library(document("http://h"), operations=["pets/update"])] == ["pets_update"]
    with pytest.raises(ConfigurationError, match='no operation "lisst"'):
        openapi_library(document("http://h"), operations=["lisst"])


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        ({"parameters": [{"$ref": "other.json#/x"}]}, "not in this document"),
        ({"parameters": [{"$ref": "#/nowhere"}]}, "leads nowhere"),
        ({"parameters": [{"in": "query", "required": True}]}, "no name or no place"),
        ({"parameters": 5}, "not written as OpenAPI has it"),
        ({"parameters": [{"name": "c", "in": "body", "required": True}]}, "body is nothing"),
        ({"parameters": [{"name": "Host", "in": "header", "required": True}]}, "the connection"),
        ({"parameters": [{"name": "a b", "in": "header", "required": True}]}, "no name of a"),
        ({"parameters": [{"name": "a", "in": "query", "style": "matrix", "required": True}]},
         "has the style matrix in its query, which is not sent"),
        *(({"parameters": [{"name": "a", "required": True, "schema": {"type": "object"}, **how}]},
           f"is an object in its {how['in']}, which is not sent")
          for how in ({"in": "header"}, {"in": "path"}, {"in": "query", "explode": False})),
        ({"requestBody": {"required": True, "content": {"multipart/form-data": {}}}},
         "its body is multipart/form-data, which is not sent"),
        ({"requestBody": {"required": True, "content": {"image/png": {}}}}, "image/png"),
        ({"requestBody": {"required": True, "content": {FORM: PIPED}}}, FORM),
        ({"requestBody": {"content": {"application/json": {"schema": {"type": 5}}}}}, "schema"),
        ({"requestBody": {"content": {"application/json": {"schema": {"properties": 5}}}}},
         "not of type"),
        ({"servers": {"url": "http://h"}}, "its servers are not a list of objects"),
        ({"servers": [{"url": "ftp://h"}], "parameters": [{"name": "a", "in": "cookie"}]},
         "not a whole address"),
        ({"operationId": "list"}, "another operation"),
    ],
)  # fmt: skip
def test_an_operation_with_a_fault_is_left_out_and_told(operation: Any, said: str) -> None:
    told: list[str] = []
    given = document("http://h", **operation)

    assert [*openapi_library(given, tell=told.append)] == ["list"]
    assert [said in each for each in told] == [True]
    with pytest.raises(ConfigurationError, match=r"\$\.paths"):
        openapi_library(given, operations=[operation.get("operationId", "pets/update")])


def test_a_parameter_may_refer_to_a_schema_that_takes_anything() -> None:
    parameter = {"name": "X-A", "in": "header", "schema": {"$ref": "#/components/schemas/Any"}}
    given = document("http://h", "3.1.0", parameters=[parameter])
    given["components"].setdefault("schemas", {})["Any"] = True

    assert set(openapi_library(given)) == {"list", "pets_update"}


def test_keys_are_named_and_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PETS", raising=False)
    with pytest.raises(ConfigurationError, match="PETS is not set"):
        openapi_library(document("http://h"), keys={"token": "PETS"})
    with pytest.raises(ConfigurationError, match='no security scheme "tokn"'):
        openapi_library(document("http://h"), keys={"tokn": "PETS"})


def test_a_document_is_fetched_from_its_address(server: Any) -> None:
    given = json.dumps({**document(server.url), "servers": [{"url": "/v1"}]}).encode()
    server.answers["/api/openapi.json"] = (200, {}, given)
    server.answers["/packed.json"] = (200, {"Content-Encoding": "gzip"}, packed(given))
    server.answers["/moved"] = (301, {"Location": "/api/openapi.json"}, b"-")

    library = openapi_library(f"{server.url}/api/openapi.json")

    assert invoke_tool(library["list"], {})["path"] == "/v1/pets"
    assert "list" in openapi_library(f"{server.url}/packed.json")
    with pytest.raises(ConfigurationError, match="answered 301"):
        openapi_library(f"{server.url}/moved")


def test_the_command_line_takes_documents(server: Any, tmp_path: Path) -> None:
    path, program = tmp_path / "pets.json", tmp_path / "keeper.gram"
    path.write_text(json.dumps(document(server.url)))
    program.write_text('[keeper:Agent {instruction: "Keep.", model: "OpenAI/gpt-4o"}]\n')

    offline = gram("run", str(program), "--openapi", str(path), "--offline", "hi")
    keyless = gram("tools", str(program), "--openapi", f"token=NOT_SET_17 {path}")

    assert (offline.returncode, keyless.returncode) == (2, 4)
    assert "--offline uses no network, and --openapi calls servers" in offline.stderr
    assert "NOT_SET_17 is not set" in keyless.stderr


PASSWORD = "me:a-long-pass+word/17"
ENCODED = b64encode(PASSWORD.encode()).decode()


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PETS", PASSWORD)


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
        ({"type": "apiKey", "in": "header", "name": "X-Key"}, "X-Key", PASSWORD),
        ({"type": "http", "scheme": "Bearer"}, "Authorization", f"Bearer {PASSWORD}"),
        ({"type": "http", "scheme": "basic"}, "Authorization", f"Basic {ENCODED}"),
        ({"type": "oauth2", "flows": {}}, "Authorization", f"Bearer {PASSWORD}"),
    ],
)
@pytest.mark.usefixtures("password")
def test_a_key_is_sent_where_its_scheme_says(
    server: Any, scheme: Any, header: str, value: str
) -> None:
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
@pytest.mark.usefixtures("password")
def test_keys_that_are_not_sent_are_refused(server: Any, scheme: Any) -> None:
    with pytest.raises(ConfigurationError, match="keys of this kind are not sent"):
        called(server, scheme, keys={"query_key": "PETS"})


def test_a_call_without_its_key_says_which_one(server: Any) -> None:
    server.answers["/v1/pets"] = (401, {}, b"who are you?")

    hint = "hint: it was called without a key for query_key"
    with pytest.raises(ToolError, match=rf"401 Unauthorized: who are you\?\n  {hint}"):
        called(server, {"type": "http", "scheme": "bearer"})


@pytest.mark.usefixtures("password")
def test_a_key_that_a_server_repeats_is_hidden_in_every_form(server: Any) -> None:
    said = f"bad: {ENCODED} {PASSWORD} a-long-pass+word/17"
    server.answers["/v1/pets"] = (400, {}, said.encode())

    with pytest.raises(ToolError, match=r"bad: \[redacted\] \[redacted\] \[redacted\]"):
        called(server, {"type": "http", "scheme": "basic"}, keys={"query_key": "PETS"})
