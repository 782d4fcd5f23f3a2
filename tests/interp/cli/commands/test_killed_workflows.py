"""Workflows whose process is killed, and that are resumed: what had ended is not done again."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.interp.cli.process import forked as gram, printed

TOOLS = '''
import os, signal
from pathlib import Path
from interp import tool

LOG = Path(__file__).with_name("log")

def did(what, *, dies=False):
    with LOG.open("a") as log:
        log.write(what + "\\n")
    if dies and os.environ.get("DIES"):
        os.kill(os.getpid(), signal.SIGKILL)

@tool
def items() -> list:
    """items"""
    did("items")
    return [1, 2, 3, 4]

@tool
def work(n: int) -> int:
    """work"""
    did(f"work {n}", dies=n == 3)
    return n * n

def step(name, number):
    @tool(name=name, description=name)
    def run(x: str) -> str:
        did(name, dies=name == "second")
        return x + number
    return run

steps = [step("first", "1"), step("second", "2"), step("third", "3")]
'''
SPECS = """
[items:Tool {description: "items"} | ()==>(::Array)]
[work:Tool {description: "work"} | (n::Integer)==>(::Integer)]
""" + "".join(
    f'[{each}:Tool {{description: "{each}"}} | (x::String)==>(::String)]\n'
    for each in ("first", "second", "third")
)
BRANCHES = "[w:Workflow | (x::String)==>(::Any), first, second, third]"
EACH = "[w:Workflow | (items)-[:EACH {at_once: 2}]->(work)]"
LOOP = (
    '[w:Loop {max: 2, until: {third: "never"}} | (x::String)==>(::String), '
    "(first)-->(second)-->(third)]"
)
INNER = "[w:Workflow | (x::String)==>(::Any), first, [in:Workflow | (third)-->(second)]]"


@pytest.mark.parametrize(
    ("flow", "approve", "answer", "done"),
    [
        (BRANCHES, [], '{"first":"x1","second":"x2","third":"x3"}', ""),
        (EACH, [], "[1,4,9,16]", "items, work 1, work 2, work 3, work 3, work 4"),
        (LOOP, [], "x123123", "first second second third first second third"),
        (INNER, ["--approve", "ask"], '{"first":"x1","in":"x32"}', ""),
    ],
    ids=["branches", "each", "loop", "approval in a branch"],
)
def test_a_killed_run_goes_on(
    tmp_path: Path, flow: str, approve: list[str], answer: str, done: str
) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "w.gram").write_text(flow + SPECS)
    file, tools = str(tmp_path / "w.run.gram"), ["--tools", str(tmp_path / "tools.py")]
    begun = ["run", str(tmp_path / "w.gram"), "x", "--agent", "w", "--record", file, *tools]
    if approve:
        assert gram(*begun, *approve).returncode == 6
        begun = ["resume", file, *tools, "--approve", "all"]

    killed = gram(*begun, DIES="yes")
    assert killed.returncode == -signal.SIGKILL
    resumed = gram("resume", file, *tools, *(["--approve", "all"] if approve else []))

    printed(resumed, 0, answer)
    told = (tmp_path / "log").read_text().split("\n")[:-1]
    if flow == EACH:
        told.sort()
        for beside in ("work 1", "work 2", "work 4"):  # under way when work 3 killed all
            if told.count(beside) == 2 and len(told) == 7:
                told.remove(beside)
    if done:
        assert told == (done.split(", ") if "," in done else done.split())
    else:  # branches are worked on at once: how far the others were is not known
        assert (set(told), told.count("second")) == ({"first", "second", "third"}, 2)
    assert gram("replay", file).stdout == resumed.stdout
