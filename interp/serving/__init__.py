"""Agents as servers: models of an OpenAI-compatible server."""

from .app import CONVERSATION, Serving
from .doors import LOOPBACK, Doors
from .exchanges import Served
from .refusals import RefusedError
from .reloading import reloading
from .server import serve
