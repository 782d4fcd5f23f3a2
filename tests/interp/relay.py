"""Stands for a command: a fork that has done its imports is the command, on our streams.

To import the SDK of MCP takes a second of CPU time, and our own packages no less. What ends this
process ends the fork, and the other way round.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path


def main() -> None:
    address, *command = sys.argv[1:]
    channel = socket.socket(socket.AF_UNIX)
    channel.connect(address)
    told = channel.makefile("r")
    socket.send_fds(channel, [b"."], [0, 1, 2])
    asked = [command, dict(os.environ), str(Path.cwd()), False, None]
    channel.sendall(json.dumps(asked).encode() + b"\n")
    pid = int(told.readline())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: os.kill(pid, number))
    for stream in (0, 1, 2):
        os.close(stream)
    code = int(told.readline())
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
