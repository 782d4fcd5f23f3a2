"""What a command loads: one that reads or edits files needs no network and runs nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT

PROGRAM = """\
[a:Agent {description: "D", instruction: "I", model: "OpenAI/gpt-5.6-luna"} |
  [t:ToolSpecification {description: "T"} | (x::Integer)==>(::String)]]
"""
COMMANDS = """\
import json, sys
from interp.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["gram", *arguments]
    try:
        main()
    except SystemExit as stopped:
        assert not stopped.code, arguments
    print(arguments[0], *sys.modules, file=sys.stderr)
"""
UNNEEDED = {"openai", "httpx", "httpx2", "aiohttp", "pydantic", "lark", "interp.execution"}


def test_commands_on_files_load_no_network_and_nothing_that_runs(tmp_path: Path) -> None:
    program = tmp_path / "p.gram"
    program.write_text(PROGRAM)
    file = str(program)
    commands = [
        ["check", file],
        ["get", file, "a.model"],
        ["get", file, "a.tools.t.schema"],
        ["set", file, "a.model", "Ollama/llama4"],
        ["set", file, "a.tools.t.signature", "()==>(::String)"],
        ["add", file, "a.note", "new"],
        ["del", file, "a.description"],
        ["fmt", "--check", file],
    ]

    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(commands)],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip

    loaded = [line.split() for line in done.stderr.splitlines() if " interp.cli " in line]
    assert [name for name, *_ in loaded] == [name for name, *_ in commands]
    assert {name: found for name, *modules in loaded if (found := UNNEEDED & {*modules})} == {}
