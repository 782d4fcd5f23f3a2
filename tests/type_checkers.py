"""What type checkers refuse in the files of ``tests/typing``: each misuse is marked ``# E:``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from mypy import api

from tests.paths import ROOT


def marked(path: Path) -> dict[int, str]:
    """The lines that have to be refused, each with a part of what mypy says."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {
        number: line.split("# E: ")[1] for number, line in enumerate(lines, 1) if "# E: " in line
    }


def mypy_errors(path: Path) -> dict[int, str]:
    """What mypy says of each line that it refuses, strictly."""
    config = str(ROOT / "pyproject.toml")
    output, problems, _ = api.run(["--strict", "--config-file", config, str(path)])
    assert not problems
    found: dict[int, str] = {}
    for row in re.finditer(rf"{path.name}:(\d+): error: (.*)", output):
        number = int(row[1])
        found[number] = f"{found.get(number, '')} {row[2]}"
    return found


def basedpyright_errors(path: Path) -> set[int]:
    """The lines that basedpyright refuses."""
    checker = [sys.executable, "-m", "basedpyright", "--level", "error", "--outputjson"]
    done = subprocess.run(
        [*checker, "--pythonpath", sys.executable, str(path)],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    rows = json.loads(done.stdout)["generalDiagnostics"]
    return {row["range"]["start"]["line"] + 1 for row in rows}
