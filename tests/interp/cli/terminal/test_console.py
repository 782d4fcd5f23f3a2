"""What is shown at a terminal: text that cannot move the cursor; results in files."""

from __future__ import annotations

import ast
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from gram.display import visible
from interp import hello_world_tool_library, load, run
from interp.machine import question_text
from interp.shown import visible_text
from tests.interp.cli.process import HELLO, at, gram, refused, rows, told
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import ModelServer, tool_calls
from tests.paths import ROOT

HARMFUL = [
    "\x00", "\x07", "\x08", "\x0b", "\x1b", "\x7f", "\x85", "\x9b", "\r", "\u2028", "\u2029",
    "\u202a", "\u202e", "\u2066", "\u2069", "\U000e0041",
]  # fmt: skip
HIDDEN = ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\ufe0f", "\u3164", "\u2800", "\u00a0"]


def test_harmful_characters_are_escaped_everywhere() -> None:
    for char in HARMFUL:
        escape = char.encode("unicode_escape").decode()
        assert visible(f"a{char}b") == visible_text(f"a{char}b") == f"a{escape}b"


def test_a_question_shows_what_answers_may_leave_invisible() -> None:
    for char in (*HIDDEN, "\n", "\t"):
        assert visible(char) == char
        assert visible_text(char) == char.encode("unicode_escape").decode()


@pytest.mark.parametrize(
    "text", ["é ñ 漢字 한글", "می‌خواهم", "क्‍ष", "👩‍💻 ❤️", "line\r\nline\n\tindented"]
)
def test_letters_of_all_scripts_and_emoji_stay_in_answers(text: str) -> None:
    assert visible(text) == text


@given(st.text())
def test_a_question_has_only_visible_characters(text: str) -> None:
    shown = visible_text(text)
    assert all(char == " " or unicodedata.category(char)[0] not in "CZ" for char in shown)


@given(st.text())
def test_what_is_shown_can_be_shown_again(text: str) -> None:
    assert visible(visible(text)) == visible(text)


HOSTILE = {
    "personName": "A\x1b[2J",
    "x\x1b[H\u202e": 1,
    "a: 1)? [y/N]": 2,
    "b": "x" + " " * 100 + "Run nothing? [y/N]: ",
    "c": "x. " * 60 + "Run nothing? [y/N]: ",
    "d\u200b": ["\u3164\u2800", "\n| amount: 1"],
}


def test_an_argument_cannot_fake_the_question(model_server: ModelServer) -> None:
    model_server.will_say(tool_calls(("c1", "sayHello", json.dumps(HOSTILE))), "Bye.")

    with Terminal("run", HELLO, "hello", "--approve", "ask", **at(model_server)) as terminal:
        first, *behind_marks, last = terminal.until("never]: ").splitlines()

    assert first == "Run sayHello for hello_world_agent"
    assert behind_marks[0] == r'| personName: "A\u001b[2J"'
    assert [each.partition(":")[0] for each in behind_marks[1:]] == [
        r'| "x\u001b[H\u202e"', '| "a', "| b", "| c", r'| "d\u200b"',
    ]  # fmt: skip
    assert not any("  " in each for each in behind_marks)
    assert last == "[y/N/always/never]: "


def test_a_question_that_scrolls_away_names_the_tool_again(model_server: ModelServer) -> None:
    many = {"personName": "Al", **{f"key{number}": number for number in range(40)}}
    model_server.will_say(tool_calls(("c1", "sayHello", json.dumps(many))), "Bye.")
    with Terminal("run", HELLO, "hi", "--approve", "ask", **at(model_server)) as terminal:
        asked = terminal.until("]: ")
    assert asked.splitlines()[-1] == "sayHello for hello_world_agent [y/N/always/never]: "


def test_a_pile_of_accents_does_not_cover_other_lines() -> None:
    assert visible_text("क्षि é ẫ") == "क्षि é ẫ"
    assert visible_text("a" + "\u0336" * 5) == "a" + "\u0336" * 3 + r"\u0336\u0336"


@given(
    st.dictionaries(st.text(), st.text() | st.text("ab \n|?:", min_size=30), min_size=1),
    st.integers(20, 100),
)
def test_lines_of_an_argument_are_behind_a_mark_and_fit(args: dict[str, str], width: int) -> None:
    first, *lines = question_text("pay", args, ["bank"], width=width).split("\n")
    assert first == "pay for bank"
    starts = [each for each in lines if not each.startswith("|     ")]
    assert len(starts) == len(args)
    assert all(each.startswith("| ") and len(each) <= width for each in lines)
    assert all(unicodedata.category(char)[0] not in "CZ" or char == " " for char in "".join(lines))
    assert not any("  " in each.removeprefix("|     ") for each in lines)


def test_where_a_terminal_is_narrow_no_line_of_an_argument_begins_without_a_mark() -> None:
    wide = question_text("pay", {"to": "漢" * 30}, ["bank"], width=40).split("\n")
    assert all(len(line) + line.count("漢") <= 40 for line in wide)


def test_a_long_call_is_shown_whole_when_asked_for(model_server: ModelServer) -> None:
    name = "b" * 3000
    model_server.will_say(tool_calls(("c1", "sayHello", json.dumps({"personName": name}))), "Bye.")
    with Terminal("run", HELLO, "hello", "--approve", "ask", **at(model_server)) as terminal:
        assert name not in terminal.until("v to view it whole]: ")
        terminal.type("v\n")
        assert name in terminal.until("never]: ")
        terminal.type("y\n")
        assert terminal.leaves() == 0


def test_a_pipe_gets_the_text_as_it_is() -> None:
    text = '(a {k: "\x1b[1m\u202e"})'
    assert gram("fmt", "-", stdin=text).stdout == f"{text}\n"


def test_commands_print_through_output_alone() -> None:
    """Nothing else in the command line writes to a stream, so nothing is shown unescaped."""
    for path in sorted((ROOT / "interp" / "cli").rglob("*.py")):
        if path.name == "console.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in {"print", "click.echo", "click.secho", "sys.stdout.write"}, (
                    path
                )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a program, a recorded run of it, and cases."""
    (tmp_path / "a.gram").write_bytes(Path(HELLO).read_bytes())
    (tmp_path / "cases.jsonl").write_text('{"program": "a.gram"}\n{"input": "I am Al"}\n')
    file = tmp_path / "a.run.gram"
    agent = load(HELLO)
    run(agent, "hi", hello_world_tool_library, model="Offline/rehearsal", record=file)
    (tmp_path / "link").symlink_to(file)
    return tmp_path


@pytest.mark.parametrize("words", rows("overwritten"))
def test_a_result_is_never_written_over_what_is_read(folder: Path, words: list[str]) -> None:
    before = {each: each.read_bytes() for each in folder.iterdir()}
    refused(gram(*words, cwd=folder), 2, "is read, and would be overwritten: name another file")
    assert {each: each.read_bytes() for each in folder.iterdir()} == before


def test_a_report_that_cannot_be_written_is_told_before_anything_runs(folder: Path) -> None:
    words = ["ab", "a.gram", "--cases", "cases.jsonl", "--offline", "--html", "none/a.html"]
    done = gram(*words, cwd=folder)
    assert (done.returncode, done.stderr) == (2, "gram: none: No such directory\n")
    assert not [*folder.glob("*.ab")]


def test_a_dash_is_standard_output(folder: Path) -> None:
    page = gram("trace", "a.run.gram", "--html", "-", cwd=folder)
    drawing = gram("graph", "a.gram", "--as", "svg", "-o", "-", cwd=folder)
    assert page.stdout.startswith("<!doctype html>")
    assert drawing.stdout.startswith("<svg")
    assert not (folder / "-").exists()


@pytest.mark.parametrize(("words", "said"), rows("no files"))
def test_what_needs_a_file_says_so(folder: Path, words: list[str], said: str) -> None:
    refused(gram(*words, cwd=folder), 2, said)
    assert not (folder / "-").exists()


def test_a_run_of_another_program_is_told(folder: Path) -> None:
    other = (
        Path(HELLO).read_text().replace("hello_world_agent", "other").replace("sayHello", "greet")
    )
    (folder / "other.gram").write_text(other)
    done = gram("graph", "other.gram", "--run", "a.run.gram", cwd=folder)
    told(done, 0, "a.run.gram is a run of hello_world_agent, and came to nothing")
