"""Commands of the servers that the tests use, and a server on a loopback port."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.interp.forked import PYTHON

HERE = Path(__file__).parent


def relayed(path: Path, *arguments: str) -> list[str]:
    """The command of a server in a file, for which the SDK need not be imported anew.

    The fixture ``forks`` has to be there where it starts.
    """
    return PYTHON.relayed(str(path), *arguments)


GOOD = relayed(HERE / "good_server.py")


def bad(way: str, *more: str) -> list[str]:
    """The command of a server that behaves badly in this way."""
    return relayed(HERE / "bad_server.py", way, *more)


def hanging(mark: Path) -> list[str]:
    """The command of a server that writes its number to a file and never answers."""
    return ["sh", "-c", 'echo $$ >"$0.part" && mv "$0.part" "$0" && exec sleep 300', str(mark)]


def raw(way: str) -> list[str]:
    """The command of a server that the SDK would not let exist."""
    return [sys.executable, str(HERE / "raw_server.py"), way]


@contextmanager
def good_server_over_http() -> Iterator[str]:
    """The address of a good server on a loopback port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*GOOD, str(port)], stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert time.monotonic() < until, "the server did not start"
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()
