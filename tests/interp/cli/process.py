"""Runs the command line as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT


def gram(
    *arguments: str, stdin: str = "", cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command and give what it printed; the environment has no keys."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.endswith(("_API_KEY", "_BASE_URL"))
    }
    return subprocess.run(
        [sys.executable, "-c", "from interp.cli import main; main()", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**kept, "PYTHONPATH": str(ROOT), **environment},
        timeout=60,
        check=False,
    )
