"""What recording a run costs, beside writing and reading the same as JSON.

``python -m benchmarks.records`` prints microseconds of processor time an entry, and the seconds of
reading a run file of 10,000 events beside those of reading its text to trees.
"""

from __future__ import annotations

import gc
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gram import loads, loads_one
from interp import (
    AssistantRole,
    Limits,
    Message,
    ScriptedModel,
    ToolLibrary,
    Usage,
    load_run,
    run,
    tool,
)
from interp.execution import Folded
from interp.history.records import RunFile
from interp.machine import ModelReplied, ToolReturned, start

AGENT = loads_one("""
[counter:Agent {instruction: "Count.", model: "A/b"} |
  [add:Tool {description: "Adds one."} | (x::Integer)==>(::Integer)]]
""")
UNLIMITED = Limits(
    iterations=10**6, tool_calls=10**6, calls_per_tool=10**6, tokens=10**9,
    input_tokens=10**9, output_tokens=10**9, run_seconds=None, tool_seconds=None,
)  # fmt: skip


@tool
def add(x: int) -> int:
    """Adds one."""
    return x + 1


def seconds(function: Callable[[], Any], times: int, rounds: int) -> float:
    """The least processor time of one call, in some rounds of some calls."""
    found = []
    for _ in range(rounds):
        gc.collect()
        began = time.process_time()
        for _ in range(times):
            function()
        found.append((time.process_time() - began) / times)
    return min(found)


def writing(folder: Path) -> None:
    """Entries of three sizes, beside `json.dumps` and `write` of what they hold."""
    state, (effect,), _ = start(AGENT, "go")
    file = RunFile(folder / "written.run.gram")
    file.begin(state, [])
    plain = os.open(folder / "written.json", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    print(f"{'entry':>16} {'JSON':>8} {'ours':>8}  ratio")
    with file.held():
        for size in (100, 2000, 20_000):
            text = ('word and "quoted"\n line ' * 1000)[:size]
            reply = ModelReplied(
                (3,), Message(AssistantRole, text), Usage(10, 5), False, "stop", "b-1"
            )
            result = ToolReturned((3, 0), json.dumps({"text": text}))
            said = {"type": "ModelReplied", "at": [3], "content": text, "finish": "stop"}
            said |= {"usage": {"input_tokens": 10, "output_tokens": 5}, "served": "b-1"}
            given = {"type": "ToolReturned", "at": [3, 0], "result": {"text": text}}
            for name, content, event, answered in (
                ("reply", said, reply, effect),
                ("result", given, result, None),
            ):
                folded = Folded(event, answered, state)
                content["seconds"] = 0.512345

                def as_json(content: Any = content) -> None:
                    os.write(plain, (json.dumps(content) + "\n").encode())

                def entry(folded: Folded = folded) -> None:
                    file.append(folded, 0.512345)

                theirs, ours = (seconds(each, 300, 15) * 1e6 for each in (as_json, entry))
                print(f"{name:>8} {size:>7} {theirs:8.1f} {ours:8.1f}  {ours / theirs:.1f}")
    os.close(plain)


def reading(folder: Path) -> None:
    """A run file of 10,000 events."""
    file = folder / "read.run.gram"
    model = ScriptedModel(_replies(5000))
    run(AGENT, "go", ToolLibrary.of(add), model=model, limits=UNLIMITED, record=file)
    text = file.read_text(encoding="utf-8")
    trees = seconds(lambda: loads(text), 1, 3)
    whole = seconds(lambda: load_run(file), 1, 3)
    print(f"reading: trees {trees:.2f} s, run {whole:.2f} s, ratio {whole / trees:.2f}")


def _replies(count: int) -> Iterator[Any]:
    for number in range(count):
        call = {"name": "add", "arguments": f'{{"x": {number}}}'}
        yield {"content": "", "tool_calls": [{"id": f"c{number}", "function": call}]}
    yield "done"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        writing(Path(folder))
        reading(Path(folder))
