from __future__ import annotations

import asyncio
import socket
from typing import NoReturn

import pytest

from interp.evaluation.testing import Network


class RefusedError(BaseException):
    """Somebody wanted to connect."""


def refuse(where: str) -> NoReturn:
    raise RefusedError(where)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", b"localhost", None])
def test_loopback_may_be_open(host: str) -> None:
    with Network(refuse, has_loopback=True).guarded():
        socket.getaddrinfo(host, 80)


@pytest.mark.parametrize(
    "host", ["localhost", "10.0.0.1", "example.invalid", "localhost.evil.invalid"]
)
def test_everything_else_is_refused_and_kept(host: str) -> None:
    network = Network(refuse, has_loopback=host == "localhost.evil.invalid")

    with network.guarded(), pytest.raises(RefusedError, match=host):
        socket.getaddrinfo(host, 80)
    assert network.refused == [f"{host}:80"]


def test_unix_sockets_and_event_loops_are_left_alone() -> None:
    async def nothing() -> None:
        await asyncio.sleep(0)

    with Network(refuse, has_loopback=False).guarded():
        asyncio.run(nothing())
        with socket.socket(socket.AF_UNIX) as unix, pytest.raises(FileNotFoundError):
            unix.connect("/no/such/socket")
