"""What type checkers find of lenses, tools and answers: they refuse the marked misuse alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from tests.paths import ROOT

FILES = sorted((ROOT / "tests" / "typing").glob("*.py"))
MARKED = {
    (path.name, number): line.split("# E: ")[1]
    for path in FILES
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    if "# E: " in line
}
"""The lines that have to be refused, each with a part of what mypy says."""


def test_mypy_refuses_every_misuse_and_nothing_else() -> None:
    config = ["--strict", "--config-file", str(ROOT / "pyproject.toml")]
    # In a process of its own: mypy raises the limit of recursion of the one that imports it.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *config, *map(str, FILES)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    output = done.stdout
    assert not done.stderr
    found: dict[tuple[str, int], str] = {}
    for row in re.finditer(r"(\w+\.py):(\d+): error: (.*)", output):
        place = row[1], int(row[2])
        found[place] = f"{found.get(place, '')} {row[3]}"
    assert sorted(found) == sorted(MARKED), output
    assert all(message in found[place] for place, message in MARKED.items()), output


def test_basedpyright_refuses_every_misuse_and_nothing_else() -> None:
    checker = [sys.executable, "-m", "basedpyright", "--level", "error", "--outputjson"]
    done = subprocess.run(
        [*checker, "--pythonpath", sys.executable, *map(str, FILES)],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    rows = json.loads(done.stdout)["generalDiagnostics"]

    found = {(row["file"].rpartition("/")[2], row["range"]["start"]["line"] + 1) for row in rows}
    assert sorted(found) == sorted(MARKED)
