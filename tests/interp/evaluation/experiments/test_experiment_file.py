"""Experiments as files: what they say is what Python makes, and what is wrong with them is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gram import GramDecodeError, parse
from interp import ConfigurationError, ValidationError, ab, hello_world_tool_library, tool
from interp.evaluation import Arm, Budget, load_experiment, read_experiment
from interp.evaluation.experiments.experiment_file import edit_at, experiment_faults
from lenses_ext import agent_instruction
from tests.paths import EXAMPLES

HEAD = '(:Experiment {cases: "cases.csv", program: "hello.gram", model: "Offline/rehearsal"})\n'
WHOLE = """
(:Experiment {
  cases: "cases.csv", program: "hello.gram", model: "Offline/rehearsal",
  metrics: ["passed", "calls"], primary: "calls", repeats: 2, seed: 5, pilot: 1,
  budget: {tokens: 1000, cost: 2.5, minutes: 3, runs: 200}
})
[library:Factor {levels: ["warm", "cool"]}]
[tone:Factor |
  (plain:Arm),
  (brief:Arm {prompt: "@brief.txt", settings: {temperature: 0}, limits: {iterations: 2}})]
(`hello_world_agent.description`:Factor {levels: ["Greets", "Says hello"]})
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hello.gram").write_text((EXAMPLES / "hello_world.gram").read_text())
    (tmp_path / "brief.txt").write_text("Be brief.\n")
    names = ("Ada", "Bob", "Cyd", "Dan", "Eve", "Fay", "Gil", "Hal")
    rows = "".join(f"I'm {name},Hi {name}\n" for name in names)
    (tmp_path / "cases.csv").write_text(f"input,expected\n{rows}")
    (tmp_path / "gram.toml").write_text("")
    return tmp_path


def greeting(said: str) -> Any:
    @tool(name="sayHello", description="Returns a friendly greeting message for the given name")
    def greets(personName: str = "world") -> str:  # noqa: N803  # the program's name
        """Greets."""
        return f"{said} {personName}"

    return lambda: [greets]


TOOLS = {"warm": greeting("Dear"), "cool": greeting("Hi")}


SAID = Arm(tools=hello_world_tool_library)


def written(folder: Path, text: str) -> Path:
    (folder / "x.gram").write_text(text)
    return folder / "x.gram"


def test_a_file_is_the_same_experiment_as_the_call_in_python(folder: Path) -> None:
    rows = (folder / "cases.csv").read_text().splitlines(keepends=True)
    (folder / "cases.csv").write_text("".join(rows[:4]))
    read = read_experiment(written(folder, WHOLE), TOOLS)

    from_file = ab(**read, out=folder / "file")
    from_python = ab(
        folder / "cases.csv",
        {"x": Arm()},
        ["passed", "calls"],
        primary="calls",
        base=Arm(folder / "hello.gram", model="Offline/rehearsal"),
        factors={
            "library": {name: Arm(tools=tools) for name, tools in TOOLS.items()},
            "tone": {
                "plain": Arm(),
                "brief": Arm(
                    edits=[agent_instruction.set("Be brief.")],
                    settings={"temperature": 0},
                    limits={"iterations": 2},  # type: ignore[arg-type]  # it is converted
                ),
            },
            "hello_world_agent.description": {
                text: Arm(edits=[edit_at("hello_world_agent.description", text)])
                for text in ("Greets", "Says hello")
            },
        },
        repeats=2,
        seed=5,
        pilot=1,
    )

    assert from_file.plan.hash == from_python.plan.hash
    assert from_file.is_complete
    assert from_file.comparisons == from_python.comparisons
    assert read["budget"] == Budget(tokens=1000, cost=2.5, minutes=3, runs=200)
    assert load_experiment(folder / "file").comparisons == from_file.comparisons
    assert experiment_faults(parse((folder / "file/plan.gram").read_text(), "plan.gram")) == ()


def test_arms_cases_and_the_program_may_be_in_the_file_itself(folder: Path) -> None:
    text = HEAD.replace('cases: "cases.csv", program: "hello.gram", ', "")
    hello = (folder / "hello.gram").read_text()
    cases = "".join(f'[{name}:Case {{input: "I am {name}"}}]\n' for name in ("Al", "Bo"))

    file = written(folder, f"{text}(a:Arm)\n(b:Arm)\n{cases}{hello}")
    read = read_experiment(file, base=SAID)

    assert [each.name for each in read["cases"]] == ["Al", "Bo"]
    assert ab(**read).plan.arms == ("a", "b")


@pytest.mark.parametrize(("cases", "pilot"), [(6, 0), (7, 1), (8, 2), (20, 3)])
def test_a_pilot_leaves_cases_enough(folder: Path, cases: int, pilot: int) -> None:
    (folder / "cases.csv").write_text("input\n" + "".join(f"say {n}\n" for n in range(cases)))
    assert read_experiment(written(folder, HEAD + "(a:Arm)"))["pilot"] == pilot


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (HEAD.replace("cases:", "case:"), "1:21", "did you mean cases"),
        (HEAD.replace('"cases.csv"', '"no.csv"'), "1:22", "there is no file .*no.csv"),
        (HEAD.replace('"cases.csv"', '"../c.csv"'), "1:22", "outside the project"),
        (HEAD.replace("cases:", 'metrics: ["pased"], cases:'), "1:24", "did you mean passed"),
        (HEAD.replace("cases:", 'primary: "calls", cases:'), "1:24", "not among the metrics"),
        (HEAD.replace("cases:", "repeats: 0, cases:"), "1:24", "must be at least 1"),
        (HEAD.replace("cases:", "pilot: 8, cases:"), "1:22", "fewer cases than all 8 cases"),
        (HEAD.replace("cases:", "budget: {tokn: 1}, cases:"), "1:1", "no property tokn"),
        (HEAD.replace("cases:", "budget: {cost: 0}, cases:"), "1:23", "must be a number above 0"),
        (HEAD.replace('cases: "cases.csv", ', ""), "1:1", "the experiment has no cases"),
        (HEAD + HEAD, "2:1", "another experiment is in this file"),
        (HEAD + "(model:Factor)", "2:2", "needs two levels, found 0"),
        (HEAD + '(model:Factor {levels: ["A/b", "A/b"]})', "2:1", "A/b is there twice"),
        (HEAD + '(model:Factor {levels: ["A/b", "c"]})', "2:1", "names no provider"),
        (HEAD + "[a:Factor | (x:Arm), (y:Armm)]", "2:25", "expected Arm, found Armm"),
        (HEAD + "(a:Armm)", "2:4", "did you mean Arm"),
        (HEAD + "(:Arm)", "2:2", "needs a name"),
        (HEAD + 2 * '(prompt:Factor {levels: ["a", "b"]})\n', "3:2", "a name of its own"),
        (HEAD + "(a:Arm {settings: {temprature: 1}})", "2:1", "did you mean temperature"),
        (HEAD + "(a:Arm {edits: {`no.such`: 1}})", "2:1", "an edit failed: .*no.such"),
        (HEAD + "(a:Arm {edits: {`*.model`: 1}})", "2:1", "the model of .* expected models, found"),
        (HEAD + '(a:Arm {tools: "x.py"})', "2:16", "no property tools"),
        (HEAD + '(a:Arm {prompt: "@no.txt"})', "2:17", "there is no file .*no.txt"),
        (HEAD + '(a:Arm {prompt: "@.env"})', "2:17", "one of .txt or .md"),
        (HEAD + "(a:Arm {x: 1})\n(b:Arm)\n(:Arm)\n(f:Factor)", "2:12", r"(?s)4:2.*5:2.*found 0"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_place(
    folder: Path, text: str, place: str, message: str
) -> None:
    file = written(folder, text)
    with pytest.raises(ValidationError, match=message) as refused:
        read_experiment(file)
    assert str(refused.value).startswith(f"{file}:{place}: error")
    assert experiment_faults(parse(text, str(file)))


def short(run: Any) -> bool:
    return len(run.content) < 7


def test_a_function_that_is_given_may_be_named_and_may_decide(folder: Path) -> None:
    said = 'metrics: ["calls", "short"], primary: "short", cases:'
    text = HEAD.replace("cases:", said) + '(a:Arm)\n(b:Arm {prompt: "Hi."})'
    file = written(folder, text)

    found = read_experiment(file, base=SAID, metrics=[short, "passed"])

    assert (found["metrics"], found["primary"]) == (["calls", short, "passed"], "short")
    assert experiment_faults(parse(text, str(file))) == ()
    with pytest.raises(ValidationError, match=r"--metric FILE\.py:short"):
        read_experiment(file)
    assert ab(**found, jobs=1).plan.primary == "short"


def test_cases_are_judged_with_the_experiment(folder: Path) -> None:
    (folder / "cases.csv").write_text("inputt\nx\n")
    (fault,) = experiment_faults(parse(HEAD, str(folder / "x.gram")))
    assert fault.filename is not None
    assert fault.filename.endswith("cases.csv")


def test_libraries_are_given_by_the_names_that_are_used(folder: Path) -> None:
    file = written(folder, HEAD + '(a:Arm {library: "warm"})')
    with pytest.raises(ValidationError, match="did you mean wram"):
        read_experiment(file, {"wram": TOOLS["warm"]})
    with pytest.raises(ConfigurationError, match="no arm has the library cool; it names warm"):
        read_experiment(file, TOOLS)
    assert experiment_faults(parse(file.read_text(), str(file))) == ()


def test_what_is_no_experiment_is_refused(folder: Path) -> None:
    with pytest.raises(ValidationError, match="there is no "):
        read_experiment(folder / "hello.gram")
    with pytest.raises(GramDecodeError):
        read_experiment(written(folder, "(:Experiment"))
    with pytest.raises(FileNotFoundError):
        read_experiment(folder / "nowhere.gram")
