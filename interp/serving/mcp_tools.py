"""Agents as the tools of an MCP server: they are listed, run, and ask people what they may do.

Clients come by HTTP, beside the models, or start this process and speak over its standard streams.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from itertools import count
from typing import Any, Final, TypeAlias, Union

from mcp import types
from mcp.server import Server, ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from gram import Pattern
from gram.words import did_you_mean
from lenses_ext import result_schema
from lenses_ext.language import tool_spec_of
from lenses_ext.weak_cache import memo

from ..machine import AgentResponse, Ask, State, call_text
from ..machine.contracts import WRAPPED, tool_to_json, wrapped
from ..running import Run
from ..shown import visible_text
from .exchanges import Exchange
from .requests import Asked, RefusedError
from .serving import Served, Serving, while_there

Result: TypeAlias = Union[types.CallToolResult, types.InputRequiredResult]
Context: TypeAlias = ServerRequestContext[Any, Any]

RUN: Final = "gram/run"
"""The field of a result's ``_meta`` with the id of the run."""

_NAME: Final = "gram"
_TO_DECIDE: Final = 7 * 24 * 3600.0  # seconds after which an answer to a question is not taken
_DECISION: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "allow": {"type": "boolean", "title": "Allow it"},
        "reason": {"type": "string", "title": "Why not"},
    },
    "required": ["allow"],
}
"""The form in which a person decides."""


def _server_of(serving: Serving) -> Server:
    """The MCP server whose tools are the agents that are served."""

    def input_schema(name: str) -> Mapping[str, Any] | None:
        served = serving.agents.get(name)
        return _tool(served.program).input_schema if served else None

    async def list_tools(_context: Context, _params: object) -> types.ListToolsResult:
        tools = [_tool(each.program) for each in serving.agents.values()]
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> Result:
        agents = serving.agents
        if (served := agents.get(params.name)) is None:
            hint = did_you_mean(params.name, agents) or f"there are {', '.join(agents)}"
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name}; {hint}")
        work = _answer(serving, context, params, served)
        try:
            return await (while_there(context.request, work) if context.request else work)
        except (RefusedError, ClientDisconnect) as error:
            return types.CallToolResult(content=_said(str(error)), is_error=True)

    server = Server(
        _NAME,
        version=version("gram-agents"),
        get_tool_input_schema=input_schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    key = serving.doors.key  # where there is one, a question outlives the process
    secret = sha256(key.encode()).digest() if key else os.urandom(32)
    security = RequestStateSecurity(keys=[secret], ttl=_TO_DECIDE)
    server.middleware.append(RequestStateBoundary(security, default_audience=_NAME))
    return server


async def _answer(
    serving: Serving, context: Context, params: types.CallToolRequestParams, served: Served
) -> Result:
    """Run an agent, or go on with a run that a person was asked about."""
    record, run = serving.record, params.request_state
    if record is None and run is not None:
        raise RefusedError("the run is not kept here: the server was started without --record")
    begin: Callable[[], Run | State] = partial(served.called, params.arguments or {}, record)
    replies: Mapping[str, Any] = params.input_responses or {}
    asked = Asked(params.name, (), streams=True)
    steps, words = count(1), list[str]()

    async def tell(kind: str, *what: Any) -> None:
        """Say that the run goes on; its words when it is known that they are not the answer."""
        message = None
        match kind, what:
            case "said", (text,):
                words.append(text)
                return
            case "parted", ():
                message = "".join(words)
                words.clear()
            case "watched", (how, fields):
                message = f"{how.replace('_', ' ')}: {fields['name']}"
        await context.session.report_progress(next(steps), message=message)

    while True:
        if record is not None and run is not None:
            begin = partial(served.decided, run, partial(_decision, replies), record)
        words.clear()  # that a person is waited for is told as a question
        exchange = Exchange(serving, asked, begin)
        answer, run, asks = await exchange.end(tell), exchange.run, exchange.asks
        is_left_open = any(_place(ask) in replies for ask in asks)
        if not asks or is_left_open or record is None or not _can_be_asked(context):
            return _result(served.program, answer, run, is_open=bool(asks))
        questions = {_place(ask): _question(run, ask) for ask in asks}
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            requests: types.InputRequests = {
                place: types.ElicitRequest(params=each) for place, each in questions.items()
            }
            return types.InputRequiredResult(input_requests=requests, request_state=run)
        replies = {
            place: await context.session.elicit_form(
                each.message, each.requested_schema, context.request_id
            )
            for place, each in questions.items()
        }


class McpOverHttp:
    """An application that answers MCP clients."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._sessions = StreamableHTTPSessionManager(
            _server_of(serving), max_request_body_size=serving.most_bytes
        )

    @asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """What is done beside requests; at the end, runs may end before their sessions do."""
        async with self._sessions.run(), self._serving.living():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whose body has to be there in time."""
        body = await self._serving.body(Request(scope, receive))
        parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def read() -> Message:
            return parts.pop() if parts else await receive()

        await self._sessions.handle_request(scope, read, send)


async def over_stdio(serving: Serving) -> None:
    """Answer the client at the other end of the standard streams, until it closes them."""
    server = _server_of(serving)
    async with stdio_server() as (read, write), serving.living():
        await server.run(read, write, server.create_initialization_options())


def _declared(program: Pattern) -> dict[str, Any] | None:
    """The schema of the answer, None if that is any text."""
    schema = result_schema(tool_spec_of(program)) or {}
    is_any_text = schema.get("type") == "string" and schema.keys() <= {"type", "description"}
    return None if is_any_text else schema or None


@memo
def _tool(program: Pattern) -> types.Tool:
    definition = tool_to_json(tool_spec_of(program), "mcp")
    if (schema := _declared(program)) is not None:
        definition["outputSchema"] = wrapped(schema)
    return types.Tool.model_validate(definition)


def _result(
    program: Pattern, answer: AgentResponse, run: str, *, is_open: bool
) -> types.CallToolResult:
    """The result of a call; where a schema is listed, what is not of it has to be an error."""
    schema, result = _declared(program), types.CallToolResult(content=_said(answer.content))
    result.meta = {RUN: run}
    if is_open or answer.refused:
        result.is_error = answer.refused or schema is not None
    elif schema is not None:
        value = answer.value if answer.is_typed else answer.content
        result.structured_content = value if wrapped(schema) is schema else {WRAPPED: value}
    return result


def _said(text: str) -> list[Any]:
    return [types.TextContent(text=text)]


# --- asking people


def _can_be_asked(context: Context) -> bool:
    capabilities = context.session.client_capabilities
    asks = capabilities.elicitation if capabilities else None
    return asks is not None and (asks.form is not None or asks.url is None)


def _question(run: str, ask: Ask) -> types.ElicitRequestFormParams:
    call = visible_text(call_text(ask.name, ask.args))
    told = " It may have run already." if ask.may_have_run else ""
    message = f"May {call} be called?{told} (Run {run} waits.)"
    return types.ElicitRequestFormParams(message=message, requested_schema=_DECISION)


def _decision(replies: Mapping[str, Any], ask: Ask) -> bool | str | None:
    """What a person has decided about a call; None if that is open."""
    reply = replies.get(_place(ask))
    if not isinstance(reply, types.ElicitResult) or reply.action == "cancel":
        return None
    said = reply.content or {}
    if reply.action == "accept" and said.get("allow") is True:
        return True
    return str(said.get("reason") or "the user does not allow it")


def _place(ask: Ask) -> str:
    return ".".join(map(str, ask.at))
