"""Environments for what we are compared with: one for each, made when it is first needed.

They are kept in ``.benchmarks/`` at the project's root; delete it to get newer versions.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENVIRONMENTS = ROOT / ".benchmarks"


def python_with(name: str, packages: Sequence[str]) -> str:
    """The path of a Python that has some packages, in an environment of this name."""
    folder = ENVIRONMENTS / name
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    is_complete = folder / "complete"
    if not is_complete.exists():
        print(f"making an environment with {', '.join(packages)} …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
        is_complete.touch()
    return str(python)


def version_in(python: str, package: str) -> str:
    """The version of a package in the environment of a Python."""
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    found = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    return found.stdout.strip()
