from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from gram import Diagnostic, GramDecodeError, Source, loads_one
from interp import Case, File, ValidationError, save_context
from interp.evaluation import ExpectedCall, read_cases
from interp.evaluation.cases.reading import cases_in, csv_rows, jsonl_rows
from interp.machine import AssistantRole, Message, UserRole
from tests.calls import assert_linear

PROGRAM = '[a:Agent {instruction: "Greet", model: "Offline/rehearsal"}]\n'


def written(folder: Path, name: str, text: str | bytes) -> Path:
    (folder / "a.gram").write_text(PROGRAM)
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(folder: Path, name: str, text: str | bytes) -> list[str]:
    """The places and messages of what is wrong with a file."""
    with pytest.raises(ValidationError) as caught:
        read_cases(written(folder, name, text))
    for fault in caught.value.faults:
        assert fault.place.startswith(f"{folder / name}:")
        assert str(fault) in str(caught.value)
    return [f"{each.lineno}:{each.colno} {each.message}" for each in caught.value.faults]


SAME = {
    "c.jsonl": (
        '{"program": "a.gram", "agent": "a"}\n\n'
        '{"name": "greets", "input": "I am Alice", "expected": "Hello, Alice!", '
        '"calls": ["look", {"name": "greet", "arguments": {"name": "Alice"}}], '
        '"checks": ["polite", "short"], "level": "easy", "contains": "Al", '
        '"matches": ["[0-9]+", "x"], "json": {"order.id": 7}, "schema": "s.json", '
        '"not": {"contains": ["sorry", "no"], "calls": ["pay"]}, '
        '"judge": "It is kind, and short", "max_seconds": 2, "max_cost": 0.5, "tags": ["a", "b"], '
        '"cluster": "c1"}\n'
        '{"input": "bye", "calls": []}\n'
    ),
    "c.csv": (
        "name,input,expected,calls,checks,level,program,agent,contains,matches,json.order.id,"
        "schema,not.contains,not.calls,judge,max_seconds,max_cost,tags,cluster\n"
        'greets,I am Alice,"Hello, Alice!",'
        '"[""look"",{""name"":""greet"",""arguments"":{""name"":""Alice""}}]",'
        'polite short,easy,a.gram,a,Al,"[""[0-9]+"", ""x""]",7,s.json,"[""sorry"", ""no""]",pay,'
        '"It is kind, and short",2,0.5,a b,c1\n\n'
        ",bye,,[],,,a.gram,a,,,,,,,,,,,\n"
    ),
    "c.gram": (
        '{program: "a.gram", agent: "a"}\n'
        '[greets:Case {input: "I am Alice", expected: "Hello, Alice!", level: easy,\n'
        '  calls: ["look", {name: "greet", arguments: {name: "Alice"}}],\n'
        '  checks: ["polite", "short"], contains: "Al", matches: ["[0-9]+", "x"],\n'
        '  json: {"order.id": 7}, schema: "s.json", not: {contains: ["sorry", "no"],\n'
        '  calls: ["pay"]}, judge: "It is kind, and short", max_seconds: 2, max_cost: 0.5,\n'
        '  tags: ["a", "b"], cluster: "c1"}]\n'
        '[:Case {input: "bye", calls: []}]\n'
    ),
}


@pytest.mark.parametrize(
    ("name", "text", "part", "value"),
    [
        ("c.jsonl", '{"input": "hi", "cluster": 3}', "cluster", "3"),
        ("c.csv", "input,json.cannot.refund\na,5\n", "json", {"cannot.refund": 5}),
        ("c.csv", "input,matches\nhi,[0-9]+\n", "matches", ("[0-9]+",)),
        ("c.jsonl", '{"input": "one\u2028two\x85three"}\n', "input", "one\u2028two\x85three"),
    ],
)
def test_what_could_be_read_otherwise_is_read_as_it_is_meant(
    tmp_path: Path, name: str, text: str, part: str, value: object
) -> None:
    (case,) = read_cases(written(tmp_path, name, text))
    assert getattr(case, part) == value


@pytest.mark.parametrize("name", SAME)
def test_the_three_forms_say_the_same(tmp_path: Path, name: str) -> None:
    (tmp_path / "s.json").write_text('{"type": "object"}')
    program = str(tmp_path / "a.gram")

    greets, bye = read_cases(written(tmp_path, name, SAME[name]))

    assert greets == Case(
        name="greets", input="I am Alice", expected="Hello, Alice!", checks=("polite", "short"),
        calls=(ExpectedCall("look"), ExpectedCall("greet", {"name": "Alice"})), contains="Al",
        matches=["[0-9]+", "x"], json={"order.id": 7}, schema={"type": "object"},
        not_={"contains": ["sorry", "no"], "calls": ["pay"]}, judge="It is kind, and short",
        max_seconds=2, max_cost=0.5, tags=["a", "b"], cluster="c1",
        columns={"level": "easy"}, program=program, agent="a",
    )  # fmt: skip
    assert bye == Case(name="bye", input="bye", calls=(), program=program, agent="a")
    assert greets.place.startswith(str(tmp_path / name))


def test_columns_are_in_the_order_in_which_a_gram_file_has_them(tmp_path: Path) -> None:
    names = [f"own{n}" for n in (7, 2, 9, 4, 1, 8, 3)]
    text = f'[:Case {{input: "hi", {", ".join(f"{name}: 1" for name in names)}}}]'
    (case,) = read_cases(written(tmp_path, "c.gram", text))
    assert [*case.columns] == names


def test_cases_beside_an_agent_are_cases_of_its_file(tmp_path: Path) -> None:
    file = written(tmp_path, "b.gram", PROGRAM + '[:Case {input: "hi"}]')
    assert [case.program for case in read_cases(file)] == [str(file)]


def test_a_case_without_a_name_is_named_by_its_input(tmp_path: Path) -> None:
    lines = [{"input": "hi"}, {"name": "hi", "input": "x"}, {"input": "a  b\nc"}, {"input": "hi"}]
    lines += [{"input": "x" * 80}, {"input": {"a": [1]}}]
    cases = read_cases(written(tmp_path, "c.jsonl", "\n".join(map(json.dumps, lines))))
    names = [case.name for case in cases]
    assert names == ["hi (2)", "hi", "a b c", "hi (3)", "x" * 60 + "…", '{"a":[1]}']
    assert cases[-1].message == '{"a":[1]}'


def test_cases_that_begin_alike_are_named_in_linear_time() -> None:
    def text(lines: int) -> Source:
        rows = (json.dumps({"input": f"{'x' * 80}{{}} {n}"}) for n in range(lines))
        return Source("\n".join(rows), "c.jsonl")

    assert_linear(cases_in, text, 100)
    assert [each.name for each in cases_in(text(3))][1:] == [f"{'x' * 60}… ({n})" for n in (2, 3)]


def test_an_object_is_the_arguments_of_a_program_with_a_signature_else_it_is_written() -> None:
    agent = loads_one('(a:Agent {instruction: "x", model: "A/b"})')
    called = loads_one('[a:Agent {instruction: "x", model: "A/b"} | (n::Integer)==>(::Text)]')
    case = Case(name="c", input={"n": 1})
    assert case.given_to(called) == {"n": 1}
    assert case.given_to(agent) == '{"n":1}'
    assert Case(name="c", input="n").given_to(called) == "n"


@pytest.mark.parametrize("name", ["c.jsonl", "c.csv", "c.gram"])
def test_neither_a_byte_order_mark_nor_the_breaks_of_windows_are_part_of_a_case(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "s.json").write_text('{"type": "object"}')
    text = SAME[name] if name == "c.gram" else SAME[name].replace("\n", "\r\n")
    file = written(tmp_path, name, b"\xef\xbb\xbf" + text.encode())
    assert [case.name for case in read_cases(file)] == ["greets", "bye"]


NO_INPUT = "the case has no input"
CSV_HEAD = "name,input,calls\n"


WRONG: dict[str, list[tuple[str, ...]]] = {
    "c.txt": [("x", "1:1 the ending of the file is not one of .jsonl, .csv, .gram")],
    "c.jsonl": [
        ("", "1:1 there are no cases in the file"),
        ('{"program": "a.gram"}', "1:1 there are no cases in the file"),
        (
            '{"name": "x"}\n{"input": ""}',
            f"1:1 {NO_INPUT}",
            '2:11 input must be a text that is not empty, found ""',
        ),
        ('{"input": "a"}\n{"input": "b"', "2:13 not JSON: Expecting ',' delimiter"),
        ('{"input": "a", "input": "b"}', '1:1 not JSON: key "input" is given twice'),
        ('{"input": "a", "n": NaN}', "1:1 not JSON: NaN is not JSON"),
        (
            '{"input": 7, "calls": "f", "checks": [1], "agent": null}',
            "1:11 input must be a text that is not empty, found 7",
            '1:23 calls must be an array, found "f"; [] expects no calls',
            "1:38 checks must be a text that is not empty, or an array of them, found [1]",
            "1:52 agent must be a text that is not empty, found null",
        ),
        (
            '{"input": "a", "calls": [{"tool": "f"}]}',
            (
                '1:25 calls must have names of tools, or {"name": …, "arguments": {…}}, '
                'found {"tool":"f"}'
            ),
        ),
        ('{"input": "a", "expcted": "b"}', "1:27 expcted is not expected"),
        (
            '{"input": "a", "not.calls": ["b"], "json.id": 1, "not_": {}}',
            "1:29 not.calls is no column, but a part of not",
            "1:47 json.id is no column, but a part of json",
            "1:58 not_ is no column, but a part of not",
        ),
        (
            '{"input": "a", "schema": "no.json"}',
            "1:26 schema {folder}/no.json: there is no such file",
        ),
        (
            '{"name": "x", "input": "a"}\n{"input": "b", "name": "x"}',
            "2:24 x is the name of another case, at {file}:1:1",
        ),
        ('{"input": "a", "program": "no.gram"}', "1:27 there is no file {folder}/no.gram"),
    ],
    "c.csv": [
        ("\ufeff\n", "1:1 there are no cases in the file"),
        ("name,question\nx,y\n", f"2:1 {NO_INPUT}"),
        ("input,contain,note\na,b,c\n", "2:3 contain is not contains"),
        ('input,json,json.a\nx,"{""a"":2}",1\n', "2:15 json says a already"),
        (
            "input,json\na,[1\n",
            "2:3 json is not JSON: Expecting ',' delimiter: line 1 column 3 (char 2)",
        ),
        (
            "input,max_cost,matches\na,much,a(\n",
            '2:3 max_cost must be a number from 0 on, found "much"',
            '2:8 matches has no regular expression as Rust has them, found "a(": missing ), '
            "unterminated subpattern at position 1",
        ),
        (CSV_HEAD + "x,a,b,c\n", "2:1 the row has 4 cells, and the first line names 3 columns"),
        ("input;n\na;b\n", "1:1 the columns have to be separated by commas"),
        ('input\n"a"b\n', "2:1 a quote that is not closed, or text after one"),
        ("input,input\na,b\n", "1:7 column input is there twice"),
        ("input,\na,b\n", "1:7 column 2 has no name"),
        (CSV_HEAD + '"x\ny",,\n', f"2:1 {NO_INPUT}"),
    ],
    "c.gram": [
        (PROGRAM, "1:1 there are no cases in the file"),
        (
            '[:Case {input: "a", not: {contain: "x"}}]',
            '1:26 not has no "contain"; did you mean contains?',
        ),
        ('[x:Case {input: "a", name: "y"}]', "1:28 the case has two names, x and y"),
        ("[:Case {input: 5kg}]", "1:16 a measurement (5kg) is not a JSON value; quote it"),
        ('[:Case {input: "a"} | (b)]', "1:23 a Case has no elements"),
        ('[:Cases {input: "a"}]', "1:3 the label Cases is not Case"),
    ],
}


@pytest.mark.parametrize(
    ("name", "text", "faults"),
    [(name, text, faults) for name, rows in WRONG.items() for text, *faults in rows],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, name: str, text: str, faults: list[str]
) -> None:
    file = str(tmp_path / name)
    told = [each.replace("{file}", file).replace("{folder}", str(tmp_path)) for each in faults]
    assert refused(tmp_path, name, text) == told


def test_a_fault_of_all_cases_is_told_once(tmp_path: Path) -> None:
    text = '{"program": "no.gram"}\n{"input": "a"}\n{"input": "b"}\n'
    assert refused(tmp_path, "c.jsonl", text) == [f"1:13 there is no file {tmp_path}/no.gram"]


@pytest.mark.parametrize("content", [b"\xff\xfe{\x00", b'{"input": "\xe9"}'])
def test_text_that_is_not_utf_8_or_no_gram_is_told(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(GramDecodeError, match=r"c\.jsonl:(1:\d+:)? .*not UTF-8"):
        read_cases(written(tmp_path, "c.jsonl", content))
    with pytest.raises(GramDecodeError, match=r"c\.gram:1:"):
        read_cases(written(tmp_path, "c.gram", "[:Case {input: "))


cells = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=1, max_size=5))
def test_csv_is_read_as_it_was_written(rows: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([["a", "b", "c"], *rows])
    faults: list[Diagnostic] = []

    read = list(csv_rows(Source(text.getvalue()), faults))

    assert (faults, [list(row.values.values()) for row in read]) == ([], rows)
    for row in read:
        spans = [text.getvalue()[span.start : span.end] for span in row.spans.values()]
        assert [each[1:-1].replace('""', '"') if each[:1] == '"' else each for each in spans] == [
            *row.values.values()
        ]


texts = st.text(max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(texts, below, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.dictionaries(texts, values, max_size=3), max_size=3), st.booleans())
def test_values_of_json_lines_are_found_where_they_are(rows: list[Any], ascii_only: bool) -> None:
    text = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows)
    faults: list[Diagnostic] = []

    read = list(jsonl_rows(Source(text), faults))

    assert (faults, [row.values for row in read]) == ([], rows)
    for row in read:
        for key, span in row.spans.items():
            assert json.loads(text[span.start : span.end]) == row.values[key]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.jsonl", '{"input": "Look", "attach": ["x.gif", "https://example.com/b.png"]}\n'),
        ("c.csv", "input,attach\nLook,x.gif https://example.com/b.png\n"),
        ("c.gram", '(:Case {input: "Look", attach: ["x.gif", "https://example.com/b.png"]})'),
    ],
)
def test_a_case_has_files(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "x.gif").write_bytes(b"GIF89a")
    (case,) = read_cases(written(tmp_path, name, text))
    files = (File(b"GIF89a", "x.gif"), File("https://example.com/b.png"))
    assert case.attachments == files
    assert case.given_to(loads_one(PROGRAM)) == ["Look", *files]


def test_a_case_may_come_after_a_conversation(tmp_path: Path) -> None:
    said = [Message(UserRole, "Hi"), Message(AssistantRole, "Hello")]
    save_context(tmp_path / "talk.gram", said)
    (tmp_path / "c.jsonl").write_text('{"input": "and then?", "after": "talk.gram"}\n')
    (tmp_path / "wrong.csv").write_text("input,after\na,gone.gram\nb,wrong.csv\n")

    (case,) = read_cases(tmp_path / "c.jsonl")

    assert [*case.after] == said
    with pytest.raises(ValidationError) as raised:
        read_cases(tmp_path / "wrong.csv")
    gone, wrong = map(str, raised.value.faults)
    assert "wrong.csv:2:3: error[no-file] there is no file" in gone
    assert "wrong.csv:3:3: error[ill-formed]" in wrong


def test_files_that_cannot_be_attached_are_told_with_their_places(tmp_path: Path) -> None:
    (tmp_path / "empty.gif").touch()
    text = (
        '{"input": "a", "attach": "missing.gif"}\n{"input": "a", "attach": ["empty.gif"]}\n'
        '{"input": "a", "attach": 5}\n{"input": {"a": 1}, "attach": "https://example.com/b.png"}\n'
    )

    missing, empty, wrong, arguments = refused(tmp_path, "c.jsonl", text)

    assert missing.startswith("1:")
    assert "there is no file" in missing
    assert "empty.gif is empty" in empty
    assert "attach must be a text that is not empty, or an array of them" in wrong
    assert "attach goes with an input that is a text" in arguments
