"""Agents with arguments, workflows and handing over at the command line, without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interp.cli.process import at, gram, printed, written
from tests.interp.model_server import ModelServer

NEWS = """
[writer:Agent {description: "Writes", instruction: "Write.", model: "Offline/rehearsal"}]
[critic:Agent {description: "Criticises", instruction: "Judge.", model: "Offline/rehearsal"} |
  [:Answer:String {enum: ["approved", "again"]}]]
[news:Loop {description: "Makes news", max: 3, until: {critic: "approved"}} |
  (topic::Text)==>(::Text), writer, critic, (writer)-->(critic), (writer)-->()]
"""


@pytest.fixture
def news(tmp_path: Path) -> str:
    """The file of a loop."""
    return written(tmp_path / "news.gram", NEWS)


@pytest.mark.parametrize(
    "words", [["--input", '{"topic": "the moon"}'], ["--input", "@in.json"], ["the moon"]]
)
def test_a_workflow_is_called_with_arguments_or_a_text(
    news: str, words: list[str], tmp_path: Path
) -> None:
    written(tmp_path / "in.json", '{"topic": "the moon"}')
    done = gram("run", news, *words, cwd=tmp_path)
    printed(done, 0, "(rehearsal, no language model) You said: the moon\n")


@pytest.mark.parametrize("given", ['{"topi": "x"}', "[1]", "{", '{"topic": 1}'])
def test_wrong_arguments_are_refused(news: str, given: str) -> None:
    assert gram("run", news, "--input", given).returncode == 2


def test_progress_says_which_steps_begin_and_end(news: str) -> None:
    done = gram("run", news, "the moon")
    quiet = gram("run", news, "the moon", "-q")

    said = '"(rehearsal, no language model) You said: the moon"'
    assert done.stderr.splitlines() == [
        "writer (0.writer) begins",
        f"writer (0.writer) -> {said}",
        "critic (0.critic) begins",
        'critic (0.critic) -> "approved"',
    ]
    assert quiet.stderr == ""


def test_each_of_two_judges_who_say_the_same_is_told(tmp_path: Path) -> None:
    judges = f"""{NEWS}
[jury:Workflow {{description: "Judges"}} | critic, second, (critic)-->(second)]
[second:Agent {{description: "Judges, too", instruction: "Judge.", model: "Offline/rehearsal"}} |
  [:Answer:String {{enum: ["approved", "again"]}}]]"""
    done = gram("run", written(tmp_path / "a.gram", judges), "--agent", "jury", "Well?")

    told = [line for line in done.stderr.splitlines() if "->" in line]
    assert told == ['critic -> "approved"', 'second -> "approved"']


def test_a_line_of_json_says_when_a_step_begins_and_ends(news: str) -> None:
    lines = gram("run", news, "the moon", "--json", "--stream", "-q").stdout.splitlines()

    told = [json.loads(each) for each in lines]
    assert [(each["type"], each.get("agent"), each.get("at")) for each in told] == [
        ("begin", "writer", [0, "writer"]),
        ("end", "writer", [0, "writer"]),
        ("begin", "critic", [0, "critic"]),
        ("end", "critic", [0, "critic"]),
        ("answer", None, None),
    ]
    assert told[3]["result"] == "approved"


def test_a_loop_that_was_out_of_rounds_is_told_and_traced(tmp_path: Path) -> None:
    text = NEWS.replace('"approved", "again"', '"again", "drop", "cut", "approved"')
    program, file = written(tmp_path / "a.gram", text), str(tmp_path / "a.run.gram")
    done = gram("run", program, "the moon", "--record", file, "--json")
    assert json.loads(done.stdout)["unfinished"] is True
    assert "a loop was out of rounds" in gram("run", program, "the moon").stderr
    assert "done (a loop was out of rounds)" in gram("trace", file).stdout


RESULT_FIRST = """
[w:Workflow | facts, write, check, (facts)-->(write)-->(), (write)-->(check)]
[facts:Agent {instruction: "Find.", model: "OpenAI/m"}]
[write:Agent {instruction: "Write.", model: "OpenAI/m"}]
[check:Agent {instruction: "Check.", model: "OpenAI/m"}]
"""


def test_the_result_is_streamed_once(model_server: ModelServer, tmp_path: Path) -> None:
    program = written(tmp_path / "a.gram", RESULT_FIRST)
    model_server.will_say(*["found", "The article.", "checked"] * 2)
    done = gram("run", program, "x", "--stream", **at(model_server))
    lines = gram("run", program, "x", "--stream", "--json", **at(model_server)).stdout
    assert done.stdout == "The article.\n"
    seen = [json.loads(line) for line in lines.splitlines()]
    assert "".join(each["text"] for each in seen if each["type"] == "text") == "The article."


def test_an_agent_is_shown_as_the_tool_it_is(news: str) -> None:
    shown = json.loads(gram("schema", "--itself", news).stdout)
    assert shown["function"]["name"] == "news"
    assert shown["function"]["parameters"]["required"] == ["topic"]


def test_tools_of_agents_inside_are_shown_with_whether_they_bind(tmp_path: Path) -> None:
    file = written(
        tmp_path / "boss.gram",
        """[boss:Agent {instruction: "Ask.", model: "Offline/rehearsal"} |
          [helper:Agent {description: "Helps", instruction: "Help.", model: "Offline/rehearsal"} |
            [look:Tool {description: "Looks"} | (at::Text)==>(::Text)]]]""",
    )
    tools = written(tmp_path / "t.py", "from interp import tool\n@tool\ndef other() -> str: ...")
    listed, bound = gram("tools", file), gram("tools", file, "--tools", tools)

    assert (listed.returncode, listed.stdout.split()[0]) == (0, "look")
    assert (bound.returncode, bound.stdout.split()[:4]) == (1, ["look", "does", "not", "bind"])


def test_a_workflow_that_failed_shows_its_calls_and_is_not_resumed(tmp_path: Path) -> None:
    file = written(
        tmp_path / "w.gram",
        """[w:Workflow | find, store, (find)-->(store)]
        [find:Tool {description: "Finds"} | (x::String)==>(::String)]
        [store:Tool {description: "Stores"} | (x::String)==>(::String)]""",
    )
    kept, code = str(tmp_path / "w.run.gram"), "from interp import tool\n"
    code += '@tool(description="Finds")\ndef find(x: str) -> str: return x\n'
    code += '@tool(description="Stores")\ndef store(x: str) -> str: raise OSError("full")\n'
    tools = written(tmp_path / "t.py", code)
    done = gram("run", file, "go", "--tools", tools, "--json", "--record", kept)

    calls = json.loads(done.stdout)["calls"]
    assert [(each["tool"], each.get("error")) for each in calls] == [
        ("find", None),
        ("store", 'tool "store" failed: OSError: full'),
    ]
    assert f"the run is kept: gram trace {kept} shows it" in done.stderr
