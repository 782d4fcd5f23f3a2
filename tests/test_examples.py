"""Every example runs, and prints what it should."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interp import ToolLibrary, load, recorded, run
from lenses_ext import parse_program, validate_program
from tests.paths import EXAMPLES, ROOT

PRINTED = {
    "hello_world.py": (
        "Hello, Alice! Nice to meet you.\n"
        '(<ToolInvocation sayHello(personName: "Alice") -> "Hello, Alice! Nice to meet you.">,)\n'
    ),
    "ab_greetings.py": "A: Hello, Alice! How lovely to see you.\nB: Hi Alice.\n",
    "compare_tools.py": (
        "better in 2 of 8 cases, p = 0.50\n"
        "true difference: -0.156 to 0.591\n"
        "name and rank differ in 2 cases: with so few, 5 % cannot be reached, whichever way they "
        "go\n"
    ),
    "improve_desk.py": (
        "15 cases for search, 10 for choosing, 35 in the last set; look 1 of 5 at it, each at "
        "0.01\n"
        "shown in 80 %: a gain of 28 points where no case is lost, of 39 where one in twenty is, "
        "of 46 where one in ten is\n"
        "the budget: 275 runs\n"
        "the program took 15 runs, tokens unknown, cost unknown; at that rate, all of it takes 275 "
        "runs, tokens unknown, cost unknown\n"
        "change 1 is proposed; 15 of at most 275 runs are done\n"
        "change 2 is proposed; 19 of at most 275 runs are done\n"
        "change 3 is proposed; 23 of at most 275 runs are done\n"
        "1 candidate did well enough to be run on all cases for search; 38 runs, tokens unknown, "
        "cost unknown\n"
        "better <Comparison of passed: candidate − program +0.686 [+0.519, +0.814], "
        "p = 1.19e-07, 35 cases>\n"
        '  instruction: "Answer the customer. Look the order up before you answer.",  '
        "// this is what may change\n"
    ),
    "newsroom.py": (
        "researcher / 0 / calls a tool\n"
        "researcher / 0 / 0 / a tool returned\n"
        "researcher / 1 / It has no air. A day lasts a month.\n"
        "refine / 0 / writer / 0 / The moon has no air.\n"
        'refine / 0 / editor / 0 / {"verdict": "again", "remarks": "Say how long a day is."}\n'
        "refine / 1 / writer / 0 / The moon has no air, and a day there lasts a month.\n"
        'refine / 1 / editor / 0 / {"verdict": "approved", "remarks": "Good."}\n'
        "The moon has no air, and a day there lasts a month.\n"
    ),
    "review.py": "hello_world.gram: fine\n",
    "skills.py": (
        "refunds: # Refunds\nfindOrder: order 7, bought 12 days ago for 40\nYou get your 40 back.\n"
    ),
    "support_desk.py": (
        'approve refund {"order":"A-17","amount":20}? yes\n'
        "I was billed twice: You get your 20 back.\n"
        "The router is dead: I restarted the router: it works again.\n"
    ),
    "switch_models.py": (
        'hello_world.gram: "OpenAI/gpt-5.6-luna" -> "Ollama/llama4"\n'
        'hello_world.gram: "world" -> "friend"\n'
    ),
}


def test_every_example_is_listed() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(PRINTED)


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_an_example_prints_what_it_should(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(EXAMPLES / "hello_world.gram", tmp_path)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", [name, str(tmp_path)])
    monkeypatch.syspath_prepend(EXAMPLES)

    runpy.run_path(str(EXAMPLES / name), run_name="__main__")

    assert capsys.readouterr() == (PRINTED[name], "")


def test_an_example_is_a_program_of_its_own() -> None:
    command = [sys.executable, str(EXAMPLES / "hello_world.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, PRINTED["hello_world.py"], "")


@pytest.mark.parametrize("name", ["newsroom", "support_desk", "review"])
def test_the_programs_of_workflows_have_no_faults(name: str) -> None:
    document = parse_program((EXAMPLES / f"{name}.gram").read_text(encoding="utf-8"))

    assert [each.with_hint() for each in validate_program(document)] == []


def test_a_recorded_newsroom_replays_to_an_equal_state(tmp_path: Path) -> None:
    example = runpy.run_path(str(EXAMPLES / "newsroom.py"))
    newsroom, library = load(example["PROGRAM"]), ToolLibrary.of([example["search"]])
    file = tmp_path / "newsroom.run.gram"
    response = run(newsroom, "the moon", library, model=example["Cast"](), record=file)

    replayed = run(newsroom, "the moon", library, handler=recorded(file))

    assert replayed == response
    assert "approved" not in replayed.content
    assert replayed.content.endswith("lasts a month.")
