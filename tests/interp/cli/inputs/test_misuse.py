"""What the command line does with odd files, odd values and odd surroundings: one message each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interp.cli.process import gram, refused
from tests.paths import EXAMPLES

HELLO = str(EXAMPLES / "hello_world.gram")
SHARED = "[a:Agent | t2, t1]\n[b:Agent | t1]\n(t1:Tool)\n(t2:Tool)\n(x)\n"


@pytest.fixture
def shared(tmp_path: Path) -> str:
    """Two agents that use tools by name."""
    path = tmp_path / "shared.gram"
    path.write_text(SHARED)
    return str(path)


def test_removing_a_tool_used_by_name_removes_the_name_alone(shared: str) -> None:
    once = gram("del", "--force", shared, "a.tools.t1")
    each = gram("del", "--force", shared, "*.tools.*")

    assert once.stdout == SHARED.replace("t2, t1", "t2")
    assert each.stdout.endswith("(t1:Tool)\n(t2:Tool)\n(x)\n")
    assert "|" not in each.stdout


@pytest.mark.parametrize("path", ["*.tools.*.parameters.z", "*.model.x", "*.tools.sayHello.*", "x"])
def test_nothing_is_added_where_it_does_not_belong(path: str) -> None:
    done = gram("add", HELLO, path, "5")

    assert (done.returncode, done.stdout) == (2, "")


def test_parameters_are_not_removed_one_by_one() -> None:
    done = gram("del", HELLO, "*.tools.*.parameters.*")
    refused(done, 1, 'the parameter "personName" of "sayHello" has to be there')


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["chat", HELLO, "--offline"], "/save ~nosuchuser/x\n", "home directory"),
        (["chat", HELLO, "--offline"], "/save a\0b\n", "null"),
        (["run", HELLO, "hi", "--offline", "--set", "stop=" + "[" * 100_000], "", "sayHello"),
        (
            ["run", HELLO, "hi", "--model", "Ollama/x", "--base-url", "http://\u2024"],
            "",
            "--base-url must start with",
        ),
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
