"""Agents as servers: models of an OpenAI-compatible server, and tools of an MCP server."""

from .app import CONVERSATION, app_of
from .doors import LOOPBACK, Doors
from .refusals import RefusedError
from .reloading import reloading
from .served import Served
from .server import serve, serve_stdio
from .serving import Serving
