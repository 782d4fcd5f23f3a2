"""Agents as servers: models of an OpenAI-compatible server, and tools of an MCP server."""

from .requests import LOOPBACK, Doors, RefusedError
from .server import CONVERSATION, app_of, serve, serve_stdio
from .serving import Served, Serving, reloading
