"""What mypy refuses of optics, and what it takes them for."""

from __future__ import annotations

import re

from mypy import api

from tests.paths import ROOT

MISUSED = ROOT / "tests" / "typing" / "optics_misused.py"


def test_mypy_refuses_every_misuse_and_nothing_else() -> None:
    lines = MISUSED.read_text(encoding="utf-8").splitlines()
    expected = {
        number: line.split("# E: ")[1] for number, line in enumerate(lines, 1) if "# E: " in line
    }
    config = str(ROOT / "pyproject.toml")

    output, problems, _ = api.run(["--strict", "--config-file", config, str(MISUSED)])

    assert not problems
    found: dict[int, str] = {}
    for row in re.finditer(r"optics_misused.py:(\d+): error: (.*)", output):
        number = int(row[1])
        found[number] = f"{found.get(number, '')} {row[2]}"
    assert sorted(found) == sorted(expected), output
    assert all(message in found[number] for number, message in expected.items()), output
