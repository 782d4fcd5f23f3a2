"""``gram init``: write a first agent, with its tools, a test and what to do next."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from gram import write_atomically

from ..failures import NO
from ..terminal.output import show, tell

_PROGRAM: Final = """\
// An agent: what it is told to do, its model, and the tools that it may call.
[assistant:Agent {
  description: "Answers questions about texts",
  instruction: "Answer questions about texts. Call `countWords` to count words.",
  model: "OpenAI/gpt-5.6-luna"
} |
  // Its Python is in tools.py: the same name, description and parameters.
  [countWords:ToolSpecification {description: "Counts the words of a text"} |
    (text::String)==>(::Integer)]
]
"""

_TOOLS: Final = '''\
"""The Python of the tools that agent.gram declares."""

from interp import tool


@tool
def countWords(text: str) -> int:
    """Counts the words of a text"""
    return len(text.split())
'''

_TEST: Final = '''\
"""A test of the agent, without a key and without the network: run pytest here."""


def test_the_agent_counts_words_with_its_tool(gram_agent):
    agent = gram_agent("agent.gram", tools="tools.py", model="Offline/rehearsal")

    response = agent.run("Count the words of 'to be or not to be'")

    assert response.content == "6"
    assert [call.tool_name for call in response.tools_used] == ["countWords"]
'''

_README: Final = """\
# A first agent

- `agent.gram` is the agent: what it is told to do, its model, its tools.
- `tools.py` is the Python of its tools.
- `test_agent.py` tests both without a key or the network, on a stand-in for a model.

## Try it

Without a key, on a stand-in for a model that follows fixed rules:

```sh
gram run agent.gram --tools tools.py --offline "Count the words of 'to be or not to be'"
gram chat agent.gram --tools tools.py --offline
```

With a model: `gram models` lists the providers and the key that each of them wants.

```sh
export OPENAI_API_KEY=…
gram run agent.gram --tools tools.py "How many words has 'to be or not to be'?"
gram run agent.gram --tools tools.py --model Ollama/llama3.2 "the same, by a model of your own"
```

If that fails, `gram doctor agent.gram` says what is wrong with the set-up.

## Change it

```sh
gram set agent.gram assistant.model Anthropic/claude-sonnet-5 -i
gram check agent.gram
gram tools agent.gram --tools tools.py
pip install -q pytest && pytest
```

To test with the model itself, leave out `model=` and add `gram_recording` to what the test takes:
its run is recorded once, and replayed ever after without a key.

Another tool is another function with `@tool` and a docstring in `tools.py`, and its declaration in
`agent.gram`: `gram tools agent.gram --tools tools.py` names the functions that have none, and the
command that adds them. `--offline` also runs tools that `agent.gram` declares and `tools.py` lacks.
"""

FILES: Final[Mapping[str, str]] = {
    "agent.gram": _PROGRAM,
    "tools.py": _TOOLS,
    "test_agent.py": _TEST,
    "README.md": _README,
}
"""The files by name; the README of them is written for the commands of this version."""


@click.command("init")
@click.argument("folder", metavar="[DIR]", default=".")
def command(folder: str) -> None:
    """Write a first agent into DIR (here by default), which is made if it does not exist.

    It is a small program, its tools, a test and a README; all of it runs offline. A file that
    exists is never replaced.
    """
    where = Path(folder)
    if existing := [name for name in FILES if (where / name).exists()]:
        tell(f"{', '.join(existing)} in {where} would be replaced; nothing is written")
        sys.exit(NO)
    where.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        write_atomically(where / name, text)
        show(str(where / name))
    there = "" if folder == "." else f"cd {shlex.quote(folder)} && "
    example = "gram run agent.gram --tools tools.py --offline \"Count the words of 'a b c'\""
    tell(f"Try it without a key: {there}{example}")
    tell(f"What to do next is in {where / 'README.md'}")
