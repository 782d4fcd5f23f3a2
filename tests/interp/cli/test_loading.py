"""What a command loads: one that reads or edits files needs no network and runs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

PROGRAM = """\
[a:Agent {description: "D", instruction: "I", model: "OpenAI/gpt-5.6-luna"} |
  [t:ToolSpecification {description: "T"} | (x::Integer)==>(::String)]]
"""
COMMAND = """\
import sys
from interp.cli import main
sys.argv = ["gram", *sys.argv[1:]]
try:
    main()
except SystemExit as stopped:
    assert not stopped.code, stopped.code
print(*sys.modules, file=sys.stderr)
"""
UNNEEDED = {"openai", "httpx", "httpx2", "aiohttp", "pydantic", "lark", "interp.execution"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["get", "a.model"],
        ["get", "a.tools.t.schema"],
        ["set", "a.model", "Ollama/llama4"],
        ["set", "a.tools.t.signature", "()==>(::String)"],
        ["add", "a.note", "new"],
        ["del", "a.description"],
        ["fmt", "--check"],
    ],
    ids=" ".join,
)
def test_commands_on_files_load_no_network_and_nothing_that_runs(
    tmp_path: Path, arguments: list[str]
) -> None:
    name, *others = arguments
    program = tmp_path / "p.gram"
    program.write_text(PROGRAM)

    done = subprocess.run(
        [sys.executable, "-c", COMMAND, name, str(program), *others],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip

    assert not {*done.stderr.splitlines()[-1].split()} & UNNEEDED
