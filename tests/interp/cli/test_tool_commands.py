"""``gram tools`` and ``gram schema``."""

from __future__ import annotations

import json
from pathlib import Path

from gram import loads_one
from lenses_ext import agent_tool_specs, view
from tests.interp.cli.process import gram
from tests.paths import EXAMPLES

HELLO = str(EXAMPLES / "hello_world.gram")
TOOLS = str(EXAMPLES / "hello_world.py")
SCHEMA = {
    "type": "object",
    "properties": {"personName": {"type": "string", "default": "world"}},
    "required": [],
}


def test_tools_shows_what_binds() -> None:
    done = gram("tools", HELLO, "--tools", TOOLS)

    assert done.returncode == 0
    assert done.stdout.split() == [
        "sayHello", "binds", "(personName::Text", "{default:", '"world"})==>(::String)',
    ]  # fmt: skip


def test_tools_says_why_one_does_not_bind(tmp_path: Path) -> None:
    path = tmp_path / "tools.py"
    path.write_text(
        "from interp import tool\n\n@tool\ndef sayHello(personName: int = 1) -> str:\n"
        '    """Returns a friendly greeting message for the given name"""\n    return "hi"\n'
    )

    done = gram("tools", HELLO, "--tools", str(path), "--json")

    (row,) = json.loads(done.stdout)
    assert done.returncode == 1
    assert row["binds"] is False
    assert row["implementation"] == f"{path}:3"
    lines = row["problem"].splitlines()
    assert len(lines) == 2
    for line, difference in zip(
        lines,
        (
            '$.properties.personName.default: spec "world", implementation 1',
            '$.properties.personName.type: spec "string", implementation "integer"',
        ),
        strict=True,
    ):
        assert line.startswith(
            f'{HELLO}:7:3: tool "sayHello" differs: {difference} (implemented at {path}:3); '
        )


def test_tools_writes_the_gram_of_python_and_of_json(tmp_path: Path) -> None:
    from_python = gram("tools", TOOLS, "--print-gram").stdout
    path = tmp_path / "tools.json"
    path.write_text(gram("schema", HELLO, "--as", "spec").stdout)
    from_json = gram("tools", str(path), "--print-gram").stdout

    (spec,) = view(agent_tool_specs, loads_one(Path(HELLO).read_text()))
    assert loads_one(from_json) == spec
    assert loads_one(from_python).value == spec.value


def test_tools_wants_a_file_and_one_way_to_show_it() -> None:
    assert gram("tools").returncode == 2
    assert gram("tools", HELLO, "--json", "--print-gram").returncode == 2


def test_schema_prints_function_definitions() -> None:
    assert json.loads(gram("schema", HELLO).stdout) == [
        {
            "type": "function",
            "function": {
                "name": "sayHello",
                "description": "Returns a friendly greeting message for the given name",
                "parameters": SCHEMA,
            },
        }
    ]


def test_schema_prints_strict_and_mcp_definitions() -> None:
    (strict,) = json.loads(gram("schema", "--strict", HELLO).stdout)
    (mcp,) = json.loads(gram("schema", "--as", "mcp", HELLO).stdout)

    assert strict["function"]["strict"] is True
    assert strict["function"]["parameters"] == {
        "type": "object",
        "properties": {"personName": {"type": ["string", "null"]}},
        "required": ["personName"],
        "additionalProperties": False,
    }
    assert mcp["inputSchema"] == SCHEMA
