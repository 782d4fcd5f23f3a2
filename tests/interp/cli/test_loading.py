"""What is loaded before anything is done, counted: modules, classes, garbage collections."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.paths import ROOT

PROGRAM = """\
[a:Agent {description: "D", instruction: "I", model: "OpenAI/gpt-5.6-luna"} |
  [t:ToolSpecification {description: "T"} | (x::Integer)==>(::String)]]
"""
FLOW = PROGRAM + "[w:Workflow | a]\n"
HANDOVER = PROGRAM + '[b:Agent {instruction: "I", model: "Offline/m"} | (b)-[:HANDOFF]->(a)]\n'
COMMAND = """\
import gc, sys
collected = []
gc.callbacks.append(lambda phase, _: phase == "start" and collected.append(1))
from interp.cli import main
sys.argv = ["gram", *sys.argv[1:]]
try:
    main()
except SystemExit as stopped:
    assert not stopped.code, stopped.code
"""
SHOWN = """
import json
modules = list(sys.modules)
classes = [
    f"{module}.{each.__name__}"
    for module in modules
    for each in vars(sys.modules[module]).values()
    if isinstance(each, type) and each.__module__ == module and "__attrs_attrs__" in vars(each)
]
print(json.dumps([modules, classes, len(globals().get("collected", ()))]), file=sys.stderr)
"""
RUNTIME = {"contracts", "execution", "machine", "models", "records", "tools"}


class Loaded(NamedTuple):
    """What has been loaded when a command has run.

    Attributes:
        modules: the names of all modules.
        classes: those of our classes that attrs makes, anew at each start.
        collections: how often Python has looked for garbage.
    """

    modules: set[str]
    classes: list[str]
    collections: int

    @classmethod
    def of(cls, printed: str) -> Loaded:
        """What a process has printed at its end."""
        modules, classes, collections = json.loads(printed.splitlines()[-1])
        ours = [each for each in classes if each.split(".")[0] in OURS]
        return cls(set(modules), ours, collections)

    @property
    def ours(self) -> set[str]:
        """The modules that are ours."""
        return {each for each in self.modules if each.split(".")[0] in OURS}


OURS = {"gram", "lenses_ext", "interp"}


def loaded_by(*arguments: str) -> Loaded:
    """Run a command, and see what it has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", f"{COMMAND}{SHOWN}", *arguments],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    return Loaded.of(done.stderr)


def modules_of(*arguments: str) -> set[str]:
    """The modules that are loaded when a command has run."""
    return loaded_by(*arguments).modules


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


@pytest.mark.parametrize(
    ("arguments", "modules", "classes"),
    [
        (["check"], 116, 19),
        (["get", "a.model"], 114, 20),
        (["set", "a.model", "A/b"], 128, 21),
        (["fmt", "--check"], 53, 9),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else None,
)
def test_commands_start_with_few_modules_classes_and_collections(
    tmp_path: Path, arguments: list[str], modules: int, classes: int
) -> None:
    name, *others = arguments
    program = tmp_path / "p.gram"
    program.write_text(PROGRAM)

    loaded = loaded_by(name, str(program), *others)

    assert len(loaded.ours) <= modules, sorted(loaded.ours)
    assert len(loaded.classes) <= classes, loaded.classes
    assert loaded.collections <= 20


FOR_FLOWS = {"arrow_rules", "flow_checks", "flow_rules", "flow_types"}


@pytest.mark.parametrize("arguments", [["check"], ["get", "a.model"], ["set", "a.model", "A/b"]])
def test_what_is_for_workflows_is_not_loaded_for_other_programs(
    tmp_path: Path, arguments: list[str]
) -> None:
    name, *others = arguments
    program = tmp_path / "p.gram"
    program.write_text(PROGRAM)

    loaded = modules_of(name, str(program), *others)

    assert "lenses_ext.workflows" not in loaded
    assert "lenses_ext.schemas.comparison" not in loaded
    assert not {f"lenses_ext.programs.{each}" for each in FOR_FLOWS} & loaded


@pytest.mark.parametrize("text", [FLOW, HANDOVER], ids=["a workflow", "a handoff"])
def test_what_is_for_workflows_is_loaded_where_there_are_some(tmp_path: Path, text: str) -> None:
    program = tmp_path / "p.gram"
    program.write_text(text)

    loaded = modules_of("check", str(program))

    assert {f"lenses_ext.programs.{each}" for each in FOR_FLOWS} <= loaded


def test_no_check_or_look_loads_what_edits(tmp_path: Path) -> None:
    program = tmp_path / "p.gram"
    program.write_text(PROGRAM)

    for arguments in (["check", str(program)], ["get", str(program), "a.model"]):
        loaded = modules_of(*arguments)

        assert not {"gram.editing", "difflib", "tempfile", "lark"} & loaded


BUILDING = """\
import sys
from interp import create_agent_pattern, create_tool_specification, run
look = create_tool_specification("look", "Looks", "(x::Integer)==>(::String)")
create_agent_pattern("a", "An agent", "A/b", "Look.", [look])
"""


def test_building_an_agent_loads_nothing_that_runs_or_checks_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{BUILDING}{SHOWN}"],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    loaded = Loaded.of(done.stderr)

    interp = {module for module in loaded.ours if module.startswith("interp.")}
    assert interp == {"interp.running", "interp.specification"}
    assert not {"gram.checks", "gram.editing", "lenses_ext.programs"} & loaded.modules
    assert len(loaded.ours) <= 82, sorted(loaded.ours)
    assert len(loaded.classes) <= 15, loaded.classes
