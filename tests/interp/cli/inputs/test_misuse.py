"""What the command line does with odd files, odd values and odd surroundings: one message each."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.interp.cli.process import HELLO, gram, refused

USAGE, NO_GRAM, NO_MODEL = 2, 3, 4  # exit codes
WRONG = [
    ("nope", USAGE, "No such command"),
    ("xyzzy", USAGE, "gram --help lists the commands"),
    ("chek HELLO", USAGE, "did you mean check"),
    ("help formt", USAGE, "did you mean fmt"),
    ("help runs lits", USAGE, "list"),
    ("help run a.gram", USAGE, "gram run has no commands in it"),
    ("check --jsn HELLO", USAGE, "--json"),
    ("check --fix -", USAGE, "--fix"),
    ("run nowhere.gram hi", USAGE, "gram: nowhere.gram: No such file or directory"),
    ("run examples hi", USAGE, "Is a directory"),
    ("run HELLO '  '", USAGE, "a message is empty"),
    ("run HELLO", USAGE, "Missing argument"),
    ("run hi HELLO", USAGE, "there is no file 'hi': write the program first: HELLO"),
    ("run HELLO hi --agent x", USAGE, 'the program has no agent "x"'),
    ("run HELLO hi --offline --tools x.py", USAGE, "gram: x.py: No such file"),
    ("run HELLO hi --offline --model A/b", USAGE, "cannot be used together"),
    ("run HELLO hi --offline --base-url http://x", USAGE, "cannot be used together"),
    ("run HELLO hi --model b", NO_MODEL, "write provider/name, such as OpenAI/b"),
    ("run HELLO hi", NO_MODEL, "or use --offline"),
    ("run HELLO hi --limit iteration=1", USAGE, 'no limit "iteration"; did you mean iterations?'),
    ("run HELLO hi --limit iterations=x", USAGE, "an integer of at least 0, found 'x'"),
    ("run HELLO hi --limit iterations", USAGE, "--limit iterations: write NAME=VALUE"),
    ("run HELLO hi --set temperature", USAGE, "write NAME=VALUE"),
    ("run HELLO hi --set temprature=1", USAGE, "did you mean temperature?"),
    ("run HELLO hi --set temperature=9", USAGE, "temperature is a number from 0 to 2, found 9"),
    ("run HELLO hi --base-url localhost:80", USAGE, "--base-url must start with"),
    ("run HELLO hi --base-url http://x:99999", USAGE, "--base-url must start with"),
    ("run HELLO hi --base-url http://\u2024", USAGE, "--base-url must start with"),
    ("run HELLO hi --record -", USAGE, "--record needs the name of a file, and - is"),
    ("run HELLO hi --record ''", USAGE, "--record is empty"),
    ("run HELLO hi --conversation al -c", USAGE, "give -c for the last conversation, or"),
    ("run HELLO hi --no-record -c", USAGE, "--no-record keeps nothing, so nothing can be gone on"),
    ("run HELLO hi --record a.gram#2", USAGE, "a.gram#2 is one turn: write a.gram"),
    ("run HELLO hi --record a.gram --conversation al", USAGE, "--conversation is for stores"),
    ("run HELLO - -", USAGE, "only once"),
    ("run - -", USAGE, "only once"),
    ("run HELLO @nowhere.txt", USAGE, "to begin a text with @, write @@"),
    ("chat - --offline", USAGE, "the program cannot come from standard input"),
    ("get one two", USAGE, "neither one nor two"),
    ("set - a.b -", USAGE, "cannot be both the program and the value"),
    ("add HELLO *.tools.*.parameters.z 5", USAGE, ""),
    ("add HELLO *.model.x 5", USAGE, ""),
    ("add HELLO *.tools.sayHello.* 5", USAGE, ""),
    ("add HELLO x 5", USAGE, ""),
    ("del HELLO *.tools.*.parameters.*", 1, '"personName" of "sayHello" has to be there'),
    ("graph /nowhere.gram", USAGE, "No such file"),
    ("graph examples", USAGE, "name a file"),
    ("graph HELLO --agent hello_world", NO_GRAM, "did you mean hello_world_agent"),
    ("graph HELLO --run HELLO", NO_GRAM, "not the record of a run"),
    ("graph HELLO -o /nowhere/x.svg", USAGE, "/nowhere"),
    ("graph HELLO --as png", USAGE, "mermaid"),
    ("merge a.gram b.gram", USAGE, ""),
    ("merge -i --across a b c", USAGE, ""),
    ("merge -L one a b c", USAGE, ""),
    ("models --offered http://127.0.0.1:1/v1", NO_MODEL, "127.0.0.1:1"),
    ("models --offered Nobody", NO_MODEL, "Nobody"),
    ("models --offered 127.0.0.1:1", NO_MODEL, "127.0.0.1:1"),
    ("models --offered ''", NO_MODEL, ""),
    ("tools", USAGE, ""),
    ("tools HELLO --json --print-gram", USAGE, ""),
    ("tools --print-gram", USAGE, ""),
    ("tools --update a.gram", USAGE, ""),
    ("tools --print-gram --update --mcp x", USAGE, ""),
    ("tools --update -i - --mcp x", USAGE, ""),
    ("completion tcsh", USAGE, "tcsh"),
]


@pytest.mark.parametrize(("line", "code", "message"), WRONG)
def test_wrong_use_is_one_message_with_what_to_do(line: str, code: int, message: str) -> None:
    words = (HELLO if each == "HELLO" else each for each in shlex.split(line))
    done = gram(*words)
    refused(done, code, message.replace("HELLO", HELLO))
    assert done.stderr


@pytest.mark.parametrize(
    ("to", "text", "code", "message"),
    [
        ((), "", USAGE, "standard input needs --to json or --to gram"),
        (("--to", "gram"), "[1", NO_GRAM, "<stdin>:1:3: error[syntax] not JSON: Expecting"),
        (("--to", "gram"), "[1]", NO_GRAM, "<stdin>: $[0]: expected an object, found"),
        (("--to", "json"), "(a", NO_GRAM, "<stdin>:1:3: error[syntax] unexpected end of the text"),
    ],
)
def test_what_cannot_be_converted_is_told(
    to: tuple[str, ...], text: str, code: int, message: str
) -> None:
    refused(gram("convert", "-", *to, stdin=text), code, message)


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["chat", HELLO, "--offline"], "/save ~nosuchuser/x\n", "home directory"),
        (["chat", HELLO, "--offline"], "/save a\0b\n", "null"),
        (["run", HELLO, "hi", "--offline", "--set", "stop=" + "[" * 100_000], "", "sayHello"),
    ],
)
def test_odd_values_are_told_without_a_traceback(
    arguments: list[str], stdin: str, message: str
) -> None:
    done = gram(*arguments, stdin=stdin)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_circle_of_links_is_an_unusable_file(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    refused(gram("check", str(loop)), 2, str(loop))


def test_keys_do_not_show_in_what_editing_says(tmp_path: Path) -> None:
    key = "sk-plain-12345678"
    found = gram("get", HELLO, key, OPENAI_API_KEY=key)
    refused = gram("set", HELLO, "hello_world_agent.model", key, OPENAI_API_KEY=key)
    assert key not in found.stderr + refused.stderr
    assert "[redacted]" in refused.stderr


def test_a_diff_ends_lines_where_other_programs_do(tmp_path: Path) -> None:
    path = tmp_path / "p.gram"
    path.write_bytes("(a {t: 'x\u2028y'})\n(b {n: 1})\n".encode())
    done = gram("set", "--diff", str(path), "b.n", "2")
    assert [line for line in done.stdout.split("\n") if line.startswith(("+", "-"))][2:] == [
        "-(b {n: 1})",
        "+(b {n: 2})",
    ]


def test_a_file_without_tools_is_told() -> None:
    refused(gram("tools", HELLO, "--tools", str(Path(__file__))), 4, "has no tools")
