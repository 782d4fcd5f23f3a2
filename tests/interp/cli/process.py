"""Runs the command line as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.interp.cli.forked import COMMANDS
from tests.interp.forking import run_forked
from tests.interp.model_server import ModelServer
from tests.paths import ROOT

COMMAND = [sys.executable, "-c", "from interp.cli import main; main()"]
KEY = "sk-known-key-0123456789"


def gram(
    *arguments: str, stdin: str = "", cwd: str | Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command without a terminal and give what it printed; the environment has no keys."""
    environment = {**without_keys(), "PYTHONPATH": str(ROOT), **environment}
    return run_forked(COMMANDS, arguments, given=stdin, cwd=cwd, environment=environment)


def gram_from_its_start(
    *arguments: str, stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command as `gram` does, in a Python that is started for it."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        env={**without_keys(), "PYTHONPATH": str(ROOT), **environment},
        timeout=60,
        check=False,
        start_new_session=True,
    )


UNCOMPILED = {"PYTHONDONTWRITEBYTECODE": "1"}
"""For commands that may not write large files: Python would keep half of what it compiles."""


def at(server: ModelServer) -> dict[str, str]:
    """The environment in which a server is found, with a key."""
    return {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY}


def without_keys() -> dict[str, str]:
    """The environment without keys and addresses of models."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.endswith(("_API_KEY", "_BASE_URL"))
    }
