"""Documents from their addresses, and what every request here has.

This loads the network library: import it only when a request is about to leave.
"""

from __future__ import annotations

import ssl
from functools import lru_cache
from time import monotonic
from typing import Final

import httpx2

from gram.plurals import counted

from ...errors import ConfigurationError

HEADERS: Final = {"Accept": "application/json, */*;q=0.5", "Accept-Encoding": "identity"}
"""What every request says. What a server packs nevertheless is unpacked by the client."""

_FETCH_SECONDS: Final = 30.0


def fetch(address: str, max_bytes: int) -> bytes:
    """Get a document from its address.

    Raises:
        ConfigurationError: it cannot be fetched.
    """
    end = monotonic() + _FETCH_SECONDS
    try:
        with (
            httpx2.Client(verify=certificates(), timeout=_FETCH_SECONDS) as client,
            client.stream("GET", address, headers=HEADERS, follow_redirects=False) as response,
        ):
            if not response.is_success:
                raise ConfigurationError(f"{address}: the server answered {response.status_code}")
            body = bytearray()
            for piece in response.iter_bytes():
                body += piece
                if len(body) > max_bytes:
                    raise ConfigurationError(f"{address}: more than {counted(max_bytes, 'byte')}")
                if monotonic() > end:
                    raise ConfigurationError(f"{address}: not read in {_FETCH_SECONDS:g} seconds")
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        said = str(error) or type(error).__name__
        raise ConfigurationError(f"{address}: {said}") from None
    return bytes(body)


@lru_cache(maxsize=1)
def certificates() -> ssl.SSLContext:
    """The certificates that are trusted: reading them costs more than a call."""
    return httpx2.create_ssl_context()
