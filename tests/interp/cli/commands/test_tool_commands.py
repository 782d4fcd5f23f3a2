"""``gram tools`` and ``gram schema``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gram import loads_one
from lenses_ext import agent_tool_specs, view
from tests.interp.cli.process import HELLO, gram, has, refused, rows, written
from tests.paths import EXAMPLES

TOOLS = str(EXAMPLES / "hello_world.py")
SCHEMA = {
    "type": "object",
    "properties": {"personName": {"type": "string", "default": "world"}},
    "required": [],
}


def test_tools_says_why_one_does_not_bind(tmp_path: Path) -> None:
    code = "from interp import tool\n\n@tool\ndef sayHello(personName: int = 1) -> str:\n"
    about = '    """Returns a friendly greeting message for the given name"""\n'
    path = written(tmp_path / "tools.py", code + about)
    done = gram("tools", HELLO, "--tools", path, "--json")

    (row,) = json.loads(done.stdout)
    told = f'{HELLO}:7:3: tool "sayHello" differs: default of `personName`: spec "world", '
    assert (done.returncode, row["binds"], row["implementation"]) == (1, False, f"{path}:3")
    assert row["problem"].startswith(f"{told}implementation 1 (implemented at {path}:3); ")
    assert row["problem"].count("\n") == 1, "the type differs, too"


def test_tools_writes_the_gram_of_python_and_of_json(tmp_path: Path) -> None:
    from_python = gram("tools", TOOLS, "--print-gram").stdout
    path = written(tmp_path / "tools.json", gram("schema", HELLO, "--as", "spec").stdout)
    from_json = gram("tools", path, "--print-gram").stdout
    (spec,) = view(agent_tool_specs, loads_one(Path(HELLO).read_text()))
    assert loads_one(from_json) == spec
    assert loads_one(from_python).value == spec.value


def test_schema_prints_function_definitions() -> None:
    (shown,) = json.loads(gram("schema", HELLO).stdout)
    about = "Returns a friendly greeting message for the given name"
    function = {"name": "sayHello", "description": about, "parameters": SCHEMA}
    assert shown == {"type": "function", "function": function}


@pytest.mark.parametrize(("text", "message"), rows("wrong lists of tools"))
def test_a_list_that_cannot_be_read_is_one_message(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path / "tools.json", text)
    done = gram("tools", path, "--print-gram")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{path}: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


CHANGED = """\
from interp import tool


@tool(description="Greets somebody.")
def sayHello(personName: str = "world") -> str:
    return f"Hello, {personName}!"


@tool
def wave() -> str:
    \'\'\'Waves.\'\'\'
    return "o/"
"""


@pytest.fixture
def changed(tmp_path: Path) -> tuple[str, str]:
    """A program, and tools whose words are not those that it was written for."""
    program = written(tmp_path / "hello.gram", Path(HELLO).read_text("utf-8"))
    return program, written(tmp_path / "tools.py", CHANGED)


def test_an_update_is_shown_and_is_written_when_it_is_told_to(changed: tuple[str, str]) -> None:
    program, tools = changed
    before = Path(program).read_text()
    shown = gram("tools", program, "--tools", tools, "--update")
    assert "Greets somebody." in shown.stdout
    assert Path(program).read_text() == before
    gram("tools", program, "--tools", tools, "--update", "-i")
    assert "Greets somebody." in Path(program).read_text()
    assert gram("tools", program, "--tools", tools).returncode == 0


def test_an_update_takes_the_words_of_parameters_and_leaves_types_that_bind(tmp_path: Path) -> None:
    tool = '[g:Tool {description: "G"} | (n::Integer {minimum: 1, description: "n"})==>(::Any)]'
    program = written(tmp_path / "a.gram", f'[a:Agent {{instruction: "A", model: "X/m"}} | {tool}]')
    code = 'from interp import tool\n\n@tool\ndef g(n: int, s: str = "") -> str:\n    """G'
    tools = written(tmp_path / "tools.py", code + '\n\n    Args:\n        n: How often.\n    """\n')

    shown = gram("tools", program, "--tools", tools, "--update", "-i")

    assert shown.returncode == 0
    words = tool.replace('minimum: 1, description: "n"', 'minimum: 1, description: "How often."')
    assert words in Path(program).read_text()


def test_an_update_leaves_what_is_written_as_it_is_written(tmp_path: Path) -> None:
    types = "(t::Text) // t\n  ==>(u::User)==>(::Text),\n  // u\n"
    types += "  [User:Object | (id::Int), (of::Bool)]"
    head = '[a:Agent {instruction: "A", model: "X/m"} | [g:Tool {description: "G"} | '
    program = written(tmp_path / "a.gram", f"{head}{types}]]")
    code = "from typing import TypedDict\nfrom interp import tool\nclass User(TypedDict):\n"
    code += (
        '    id: int\n    of: bool\n@tool\ndef g(t: str, u: User) -> str:\n    """G\n\n    Args:\n'
    )
    words = '        t: What.\n    """\n'
    tools = written(tmp_path / "tools.py", code + words)
    gram("tools", program, "--tools", tools, "--update", "-i")
    typed = types.replace("t::Text", 't::Text {description: "What."}')
    assert Path(program).read_text() == f"{head}{typed}]]"

    changed = code.replace("bool", "float").replace("u: User", "u: User, n: int = 1") + words
    Path(tools).write_text(changed)
    gram("tools", program, "--tools", tools, "--update", "-i")
    typed = typed.replace("==>(::", "==>(n::Integer {default: 1})==>(::").replace("Bool", "Number")
    typed = typed.replace("u::User", "u::U").replace("User:", "U:")
    assert Path(program).read_text() == f"{head}{typed}]]"
    assert gram("tools", program, "--tools", tools).returncode == 0


def test_an_update_reaches_a_tool_with_a_type_of_its_file(tmp_path: Path) -> None:
    agent = '[a:Agent {instruction: "A", model: "X/m"} | g]\n'
    text = agent + '[g:Tool {description: "G"} | (n::Id {minimum: 1})==>(::Id)]\n[Id:Integer]\n'
    program = written(tmp_path / "a.gram", text)
    code = 'from interp import tool\n@tool\ndef g(n: int) -> int:\n    """Other\n\n    Args:\n'
    tools = written(tmp_path / "tools.py", code + '        n: Which.\n    """\n    return n\n')
    assert gram("tools", program, "--tools", tools, "--update", "-i").returncode == 0
    changed = text.replace('"G"', '"Other"').replace("minimum", 'description: "Which.", minimum')
    assert Path(program).read_text() == changed


def test_a_run_that_changed_words_stop_names_what_takes_them(changed: tuple[str, str]) -> None:
    program, tools = changed
    stopped = gram("run", program, "hi", "--offline", "--tools", tools)
    takes = f"gram tools {program} --tools {tools} --update shows what they say now; -i takes it"
    refused(stopped, 3, takes)


@pytest.fixture
def undescribed(tmp_path: Path) -> tuple[str, str]:
    """A program, and tools one of which has no docstring: the one that the program declares."""
    program = '[a:Agent {description: "d", instruction: "i", model: "x/y"} |\n  [g:'
    program += 'ToolSpecification {description: "Says g"} | (n::Integer)==>(::String)]]\n'
    code = "from interp import tool\n\n@tool\ndef g(n: int) -> str:\n    return 'g'\n"
    return written(tmp_path / "a.gram", program), written(tmp_path / "tools.py", code)


@pytest.mark.parametrize("line", rows("with a missing docstring"))
def test_a_missing_docstring_is_told(line: str, undescribed: tuple[str, str]) -> None:
    program, tools = undescribed
    before = Path(program).read_text()
    done = gram(*line.replace("PROGRAM", program).split(), "--tools", tools)
    assert done.returncode != 0
    told = f'{tools}:3: tool "g" has no docstring; write what it does in one, below its def'
    assert told in done.stdout + done.stderr
    assert Path(program).read_text() == before


def test_a_tool_without_docstring_is_not_offered(undescribed: tuple[str, str]) -> None:
    told = gram("tools", HELLO, "--tools", undescribed[1]).stderr
    assert 'tool "g" has no docstring' in told
    assert "gram add" not in told


@pytest.mark.parametrize("given", ["", " ", "\\n\\t "])
def test_an_update_leaves_texts_that_code_lacks(given: str, undescribed: tuple[str, str]) -> None:
    program, tools = undescribed
    Path(program).write_text(
        Path(program).read_text().replace("n::Integer", 'n::Integer {description: "How often"}')
    )
    code = f"from interp import tool\n\n@tool(description='{given}')\ndef g(n: bool) -> str: ...\n"
    Path(tools).write_text(code)

    gram("tools", program, "--tools", tools, "--update", "-i")

    written = Path(program).read_text()
    has(written, 'description: "Says g"', 'n::Boolean {description: "How often"}')


def test_an_update_that_would_be_invalid_is_refused(tmp_path: Path) -> None:
    tool = 'ToolSpecification {description: "F"} | (x::Integer)==>(::Integer)]'
    before = f"[flow:Workflow | (x::Integer)==>(::Integer), [f:{tool}, [g:{tool}, (f)-->(g)]\n"
    program = written(tmp_path / "flow.gram", before)
    code = 'from interp import tool\n\n@tool\ndef f(x: int) -> str:\n    """F"""\n    return ""\n'
    path = written(tmp_path / "tools.py", code)

    done = gram("tools", program, "--tools", path, "--update", "-i")

    assert done.returncode != 0
    assert f"{program}: not updated, it would be invalid: " in done.stderr
    assert Path(program).read_text() == before


# --- tools that have no Python yet


def test_a_rehearsal_makes_up_what_is_returned_without_code(undescribed: tuple[str, str]) -> None:
    program, _ = undescribed
    text = Path(program).read_text()
    Path(program).write_text(text.replace("==>(::String)", "==>(::Integer {minimum: 5})"))
    said = gram("run", program, "call g with 3", "--offline")
    assert (said.returncode, said.stdout) == (0, "5\n")
    assert "g has no Python yet: the rehearsal makes up what it returns\n" in said.stderr
    assert "g(n: 3) -> 5\n" in said.stderr


def test_cases_are_rehearsed_without_python(undescribed: tuple[str, str], tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    row = {"program": undescribed[0], "toolsUsed": ["g"]}
    cases.write_text("".join(json.dumps({**row, "input": f"g {n}"}) + "\n" for n in range(2)))
    done = gram("test", str(cases), "--offline")
    assert done.returncode == 0, done.stdout
    assert done.stderr.count("g has no Python yet") == 1


def test_tools_of_one_name_in_two_agents_need_two_names(tmp_path: Path) -> None:
    text = '[a:Agent {instruction: "I", model: "x/y"} |\n[g:Tool {description: "One"} | (::Text)]'
    inner = text.replace("a:", "b:").replace("One", "Other")
    program = written(tmp_path / "a.gram", f"{text},\n{inner}]]")
    assert gram("check", program).returncode == 0
    told = f'{program}:4:1: tool "g" has other words or types at {program}:2:1, and a library has '
    for given in ([], ["--offline"]):
        done = gram("run", program, "hi", *given)
        refused(
            done, 3, f"{told}one tool of each name: rename one of them, or let them be the same\n"
        )
        assert done.stderr.count("\n") == 1
