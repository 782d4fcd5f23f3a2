"""Each step of the page that a new user begins with does what the page says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests.interp.cli.process import without_keys
from tests.interp.forked import COMMANDS, PYTEST
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)(?: title=\"(.*?)\")?\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_the_steps_of_the_first_page_do_what_it_says(tmp_path: Path) -> None:
    COMMANDS.written(tmp_path / "bin" / "gram")
    PYTEST.written(tmp_path / "bin" / "pytest", "-p", "no:cacheprovider")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    state = str(tmp_path / "state")
    environment = {**without_keys(), "PATH": path, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": state}
    steps = ["set -e"]
    shown: list[str] = []
    for language, title, body in BLOCK.findall(PAGE):
        if language == "python":
            steps.append(f"cat > {title} <<'END'\n{body}END")
        elif language == "sh" and not title:
            last = body.rstrip("\n").split("\n")
            is_shown = PAGE.split(body, 1)[1].startswith("```\n\n```text")
            steps += last[:-1] if is_shown else last
            if is_shown:
                steps.append(f"{last[-1]} >out.{len(shown)} 2>err.{len(shown)}")
                steps.append(f"cat err.{len(shown)} out.{len(shown)} > shown.{len(shown)}")
                shown.append("")
        elif language == "text":
            shown[-1] = body

    done = subprocess.run(
        ["bash", "-c", "\n".join(steps)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "my-agent"
    printed = [(next(tmp_path.rglob(f"shown.{at}"))).read_text() for at in range(len(shown))]
    assert printed == shown
    assert (folder / "first.run.gram").exists()
