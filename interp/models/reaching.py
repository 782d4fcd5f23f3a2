"""How a server is reached: by connections of ours, or through the proxies that are set."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.request import getproxies

if TYPE_CHECKING:
    import ssl

    from .transports import AsyncTransport, Transport


def transport(*, secure: bool) -> Transport | None:
    """A transport for one server, or None where proxies are set: `httpx2` knows about these.

    This loads the network library: call it only when a request is about to leave.

    Args:
        secure: whether it is reached by https. Without, no certificates are read, which takes
            longer than many runs.
    """
    from .transports import Transport

    return None if getproxies() else Transport(_context() if secure else None)


def async_transport(*, secure: bool) -> AsyncTransport | None:
    """The same for a client that does not block."""
    from .transports import AsyncTransport

    return None if getproxies() else AsyncTransport(_context() if secure else None)


def _context() -> ssl.SSLContext:
    import httpx2

    context = httpx2.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
