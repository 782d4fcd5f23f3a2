"""Every example runs as a program of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import EXAMPLES, ROOT

PRINTED = {
    "hello_world.py": (
        "Hello, Alice! Nice to meet you.\n"
        "(ToolInvocation('sayHello', {'personName': 'Alice'}, "
        "result='Hello, Alice! Nice to meet you.'),)\n"
    ),
    "ab_greetings.py": "A: Hello, Alice! How lovely to see you.\nB: Hi Alice.\n",
    "compare_tools.py": (
        "better in 2 of 8 cases, p = 0.50\n"
        "true difference: -0.156 to 0.591\n"
        "name and rank differ in 2 cases: with so few, 5 % cannot be reached, whichever way they "
        "go\n"
    ),
    "switch_models.py": (
        'hello_world.gram: "OpenAI/gpt-5.6-luna" -> "Ollama/llama4"\n'
        'hello_world.gram: "world" -> "friend"\n'
    ),
}


def test_every_example_is_listed() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(PRINTED)


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_an_example_prints_what_it_should(name: str, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "hello_world.gram", tmp_path)

    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, PRINTED[name], "")
