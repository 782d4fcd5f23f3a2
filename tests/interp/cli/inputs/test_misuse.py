"""What the command line does with odd files, odd values and odd surroundings: one message each."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.interp.cli.process import HELLO, gram, refused, rows


@pytest.mark.parametrize(("line", "code", "message"), rows("wrong use"))
def test_wrong_use_is_one_message_with_what_to_do(line: str, code: int, message: str) -> None:
    words = (HELLO if each == "HELLO" else each for each in shlex.split(line))
    done = gram(*words)
    refused(done, code, message.replace("HELLO", HELLO))
    assert done.stderr


@pytest.mark.parametrize(("to", "text", "code", "message"), rows("not converted"))
def test_no_conversion_is_told(to: tuple[str, ...], text: str, code: int, message: str) -> None:
    refused(gram("convert", "-", *to, stdin=text), code, message)


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["chat", HELLO, "--offline"], "/save ~nosuchuser/x\n", "home directory"),
        (["chat", HELLO, "--offline"], "/save a\0b\n", "null"),
        (["run", HELLO, "hi", "--offline", "--set", "stop=" + "[" * 100_000], "", "sayHello"),
    ],
)
def test_odd_values_give_no_traceback(arguments: list[str], stdin: str, message: str) -> None:
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
    lines = [line for line in done.stdout.split("\n") if line.startswith(("+", "-"))]
    assert lines[2:] == ["-(b {n: 1})", "+(b {n: 2})"]
