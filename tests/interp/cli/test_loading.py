"""Which of our modules a command loads."""

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
finally:
    print(*sys.modules, file=sys.stderr)
"""
RUNTIME = {"contracts", "execution", "machine", "models", "records", "tools"}


def modules_of(*arguments: str) -> set[str]:
    """The modules that are loaded when a command has run."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["get", "a.model"],
        ["get", "a.tools.t.schema"],
        ["set", "a.model", "Ollama/llama4"],
        ["set", "a.tools.t.signature", "()==>(::String)"],
        ["add", "a.note", "new"],
        ["del", "a.description"],
    ],
    ids=" ".join,
)
def test_getting_and_editing_load_nothing_of_the_runtime(
    tmp_path: Path, arguments: list[str]
) -> None:
    name, *others = arguments
    program = tmp_path / "p.gram"
    program.write_text(PROGRAM)

    loaded = modules_of(name, str(program), *others)

    rooms = {module.split(".")[1] for module in loaded if module.startswith("interp.")}
    assert not rooms & RUNTIME
    assert not loaded & {"openai", "httpx", "pydantic"}
