"""Addresses of servers, as people write them in options, files and variables."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

ADDRESS_RULE: Final = "begins with http:// or https:// and a host"
"""What is to be said of every address."""


def is_address(text: str) -> bool:
    """Whether requests can be sent to what a text says.

    >>> is_address("http://localhost:8000/v1"), is_address("localhost:8000")
    (True, False)
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # brackets that are not closed, a port that is no number
        return False
    if " " in text or not text.isprintable():  # `urlsplit` takes some of them out
        return False
    return parts.scheme in ("http", "https") and host != "" and host.isascii() and port != 0
