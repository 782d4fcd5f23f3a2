"""Programs: every function and command that looks at a program says the same of it."""

from __future__ import annotations

import io
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from click.testing import CliRunner

import lenses_ext
from gram import Diagnostic, Document, Pattern, is_reference, loads, only_errors, pattern_at, walk
from interp import Tool, ToolLibrary, ValidationError, create_tool, load
from interp.cli.commands.table import gram
from interp.machine import start
from interp.models.program_checks import check_program
from interp.programs import the_agent, the_tools
from interp.tools import bind_tool
from lenses_ext import new_errors, parse_program, validate_program
from tests.by_day import given_few
from tests.calls import assert_linear
from tests.interp.strategies import ABBREVIATIONS, program_texts
from tests.paths import DATA

_MARKS = re.compile(r"[\^~]")


@frozen
class Case:
    """A program, and what is said of it.

    Attributes:
        faults: the place of each fault in the text, with its code.
        other: the line and column of the other place that the fault is about, or None.
        refused: for each agent, the indices of the faults for which it is refused.
    """

    text: str
    faults: list[tuple[int, str]]
    other: str | None
    hint: str | None
    refused: dict[str, list[int]]

    @classmethod
    def of(cls, row: dict[str, Any]) -> Case:
        """The case that a row of the file writes down."""
        marked = row["text"]
        for short, long in ABBREVIATIONS.items():
            marked = marked.replace(short, long)
        text = _MARKS.sub("", marked)
        places, other = [], None
        for count, mark in enumerate(_MARKS.finditer(marked)):
            if mark[0] == "^":
                places.append(mark.start() - count)
            else:
                before = text[: mark.start() - count]
                other = f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
        faults = list(zip(places, row["check"], strict=True))
        return cls(text, faults, other, row.get("hint"), row["load"])

    @property
    def document(self) -> Document:
        return parse_program(self.text, "p.gram")


ROWS = tomllib.loads((DATA / "programs.toml").read_text(encoding="utf-8"))["case"]
CASES = [pytest.param(Case.of(row), id=row["name"]) for row in ROWS]
WITH_AGENTS = [
    pytest.param(case.values[0], name, id=f"{case.id}: {name}")
    for case in CASES
    for name in case.values[0].refused
]


def told(faults: tuple[Diagnostic, ...]) -> list[tuple[int, str]]:
    """The place of each fault with its code, and its severity where that is not ``error``."""
    return [
        (each.span.start, each.code if each.severity == "error" else f"{each.code} (warning)")
        for each in faults
        if each.span is not None
    ]


def refused(action: Any) -> list[tuple[int, str]]:
    """What an action is refused for; nothing when it is done."""
    try:
        action()
    except ValidationError as error:
        return told(error.faults) or [(-1, str(error))]
    return []


@pytest.mark.parametrize("case", CASES)
def test_check_reports_each_fault_once_with_its_places_and_a_path_to_a_pattern(case: Case) -> None:
    document = case.document
    faults = check_program(document)

    assert told(faults) == case.faults
    assert case.other is None or any(case.other in fault.message for fault in faults)
    assert case.hint is None or [fault.hint for fault in faults] == [case.hint]
    for fault in faults:
        assert fault.filename == "p.gram"
        assert fault.span is not None
        path = tuple(step for step in fault.path if isinstance(step, int))
        around = document.spans(path).pattern
        assert pattern_at(document.patterns, path)
        assert around.start <= fault.span.start <= fault.span.end <= around.end


@pytest.mark.parametrize(("case", "name"), WITH_AGENTS)
def test_an_agent_is_refused_for_what_it_reaches(case: Case, name: str, tmp_path: Path) -> None:
    expected = [case.faults[index] for index in case.refused[name]]
    file = tmp_path / "p.gram"
    file.write_text(case.text, encoding="utf-8")
    document, patterns = case.document, loads(case.text)

    assert refused(lambda: load(file, name)) == expected
    assert refused(lambda: the_agent(document, name, by="run")) == expected
    assert refused(lambda: the_agent(patterns, name, by="run")) == expected
    assert refused(lambda: the_tools(document, name)) == expected
    assert told(only_errors(lenses_ext.agent_diagnostics(document, name))) == expected


@pytest.mark.parametrize(("case", "name"), WITH_AGENTS[::4])
def test_the_commands_agree(case: Case, name: str, tmp_path: Path) -> None:
    expected = [case.faults[index] for index in case.refused[name]]
    file = tmp_path / "p.gram"
    file.write_text(case.text, encoding="utf-8")

    def command(*arguments: str) -> None:
        result = CliRunner().invoke(gram, arguments)
        if result.exception is not None:
            raise result.exception

    for arguments in (["tools"], ["schema"]):
        assert refused(lambda a=arguments: command(*a, str(file), "--agent", name)) == expected
    if expected:
        assert refused(lambda: command("run", str(file), "hello", "--agent", name)) == expected


@pytest.mark.parametrize("case", CASES[::4])
def test_gram_check_fails_where_an_error_is_reported(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "p.gram"
    file.write_text(case.text, encoding="utf-8")
    result = CliRunner().invoke(gram, ["check", "--json", str(file)])
    assert [each["code"] for each in json.loads(result.stdout)] == [
        code.removesuffix(" (warning)") for _, code in case.faults
    ]
    assert result.exit_code == any("warning" not in code for _, code in case.faults)


@pytest.mark.parametrize(
    ("case", "name"), [each for each in WITH_AGENTS if not each.values[0].refused[each.values[1]]]
)
def test_an_agent_that_is_not_refused_is_valid_once_it_is_resolved(case: Case, name: str) -> None:
    agent = lenses_ext.resolve(case.document, name)
    assert not only_errors(lenses_ext.validate_agent_pattern(agent))
    assert load(io.StringIO(case.text), name) == agent
    assert the_agent(agent, by="run") == agent


@pytest.mark.parametrize("case", CASES)
def test_validate_program_reports_what_check_does_of_agents_and_tools(case: Case) -> None:
    found = told(validate_program(case.document))
    assert found == told(validate_program(loads(case.text)))
    assert set(found) <= set(case.faults)
    wanted = {case.faults[index] for indices in case.refused.values() for index in indices}
    assert wanted <= set(found)


@pytest.mark.parametrize("case", CASES)
def test_an_edit_beside_a_fault_adds_none(case: Case) -> None:
    document = case.document
    edited = lenses_ext.over(
        lenses_ext.each_agent & lenses_ext.agent_instruction,
        lambda text: f"{text} and more",
        document,
    )
    longer = parse_program(f"// a line more\n{case.text} (more:Note)")
    assert new_errors(document, document) == ()
    assert new_errors(document, edited) == ()
    assert new_errors(document, longer) == ()


def test_of_two_equal_errors_the_new_one_is_found() -> None:
    one, two = '[a:Agent {instruction: "x", model: "A/b"} | t]', "\n[b:Agent | t]"
    codes = [each.code for each in new_errors(parse_program(one), parse_program(one + two))]
    assert codes == ["missing-instruction", "missing-model", "undefined-reference"]


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        # one that is renamed is none; another value that is wrong as well is one
        ("[a:Agent | [t:Tool | (::Text)]]", "[b:Agent | [s:Tool | (::Text)]]", []),
        ('(a:Agent {instruction: "x", model: "1"})', '(a:Agent {instruction: "x", model: "2"})',
         ["model-name"]),
    ],
)  # fmt: skip
def test_an_error_is_new_where_it_was_not_before(before: str, after: str, new: list[str]) -> None:
    found = new_errors(parse_program(before), parse_program(after))
    assert [fault.code for fault in found] == new


def test_the_tools_of_a_file_without_an_agent_are_those_at_its_top() -> None:
    text = '[t:Tool {description: "d"} | (u::U)==>(::Text)] [g | (s:Tool)] [U:Object | (n::Text)]'
    with pytest.raises(ValidationError, match="missing-description"):
        the_tools(parse_program(text))
    (tool,) = the_tools(parse_program(text.replace("[g | (s:Tool)]", "")))
    assert tool.value.identity == "t"
    with pytest.raises(ValidationError, match="no-agent"):
        the_tools(parse_program(text), "a")


# --- programs of any kind


@given_few(program_texts())
def test_of_any_program_everything_says_the_same(text: str) -> None:
    document = parse_program(text, "p.gram")
    faults = check_program(document)
    errors = told(only_errors(faults))

    about = {(*(step for step in each.path if isinstance(step, int)), each.message)
             for each in faults}  # fmt: skip
    assert len(about) == len(faults)  # but a type can be ambiguous for each of two tools
    assert new_errors(document, document) == ()
    names = dict.fromkeys(each.value.identity for each in lenses_ext.find_agents(document))
    needed: set[tuple[int, str]] = set()
    for name in names:
        reasons = refused(lambda name=name: the_agent(document, name, by="run"))
        needed.update(reasons)
        assert set(reasons) <= set(errors)
        assert reasons == refused(lambda name=name: the_agent(document.patterns, name, by="run"))
        assert reasons == refused(lambda name=name: load(io.StringIO(text), name))
        if not reasons:
            agent = lenses_ext.resolve(document, name)
            assert not only_errors(lenses_ext.validate_agent_pattern(agent))
            assert the_agent(agent, by="run") is agent
            assert start(agent, "Hi.") == start(document, "Hi.", agent=name)
            for spec in lenses_ext.view(lenses_ext.agent_tool_specs, agent):
                assert bind_tool(spec, ToolLibrary.of(implemented(spec)))
            assert not [each for _, each in walk(agent) if _is_open(each)]
    assert needed <= set(told(only_errors(validate_program(document)))) <= set(errors)


def implemented(spec: Pattern) -> Tool:
    """A tool that is as a specification, or an agent, says."""
    description = spec.value.properties["description"]
    return create_tool(
        spec.value.identity, description, lenses_ext.view(lenses_ext.tool_spec_schema, spec), print
    )


def _is_open(pattern: Pattern) -> bool:
    return lenses_ext.is_agent(pattern) and any(map(is_reference, pattern.elements))


FAULTY = """
[a:Agent {instruction: "x", model: "Offline/rehearsal", model: "Offline/other"} | nothing]
[b:Agent {instruction: "x", model: "Offline/rehearsal"} | t]
[b:Agent {instruction: "y", model: "Offline/rehearsal"}]
[t:Tool {description: "d"} | (p::Txet)==>(::Text)]
"""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["set", "a.instruction", "Wait."], None),
        (["set", "a.name", "c"], None),
        (["set", "t.description", "Does it."], None),
        (["add", "a.tools", '[u:Tool {description: "d"} | (::Text)]'], None),
        (["del", "a.tools.nothing"], None),
        (["del", "b.tools.t"], None),
        (["set", "a.name", "b"], "duplicate-definition"),
        (["set", "t.name", "u"], "undefined-reference"),
        (["set", "b.instruction", ""], "empty-instruction"),
        (["add", "b.tools", '[t:Tool {description: "d"} | (::Text)]'], "duplicate-tool"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else str(each),
)
def test_an_edit_is_refused_for_the_errors_that_it_adds_and_for_no_others(
    arguments: list[str], code: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "p.gram"
    file.write_text(FAULTY, encoding="utf-8")
    name, *rest = arguments
    result = CliRunner().invoke(gram, [name, str(file), *rest])
    assert result.exit_code == (1 if code else 0), result.output
    assert code is None or f"  error[{code}] " in result.output


def test_a_check_that_finds_faults_grows_with_the_program_and_no_faster() -> None:
    def agents(count: int) -> str:
        agent = '[a{0}:Agent {{instruction: "Hi.", model: "{1}{0}"}} | (t{0}:Tool)]\n'
        return "".join(agent.format(n, "" if n % 2 else "OpenAI/m") for n in range(count))

    assert check_program(parse_program(agents(2)))
    assert_linear(lambda text: check_program(parse_program(text)), agents)
