"""Connections to servers of models and tools, which are kept for the next request."""

from .connections import async_client_of, client_of, close_connections
from .reaching import async_transport, transport

__all__ = [
    "async_client_of",
    "async_transport",
    "client_of",
    "close_connections",
    "transport",
]
