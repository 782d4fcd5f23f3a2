"""Keys: none reaches what is written or shown of a run, and innocent text is never changed."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import assume, given, settings, strategies as st

from gram import dumps, loads_one
from interp import (
    AgentResponse,
    Case,
    ModelError,
    RecordedRun,
    ScriptedModel,
    Telemetry,
    ToolLibrary,
    ab,
    begin,
    judge,
    load_run,
    response,
    run,
    timeline,
    tool,
)
from interp.cli.output import show_json_line
from interp.cli.trace import lines
from interp.evaluation.strategies import check_runs
from interp.evaluation.testing import CaseResult, junit_xml
from interp.redaction import REDACTED, hide
from interp.views import run_page
from tests.interp.evaluation.experiments.worlds import arm, right, wrong
from tests.interp.execution.test_recording import AGENT, CALLS
from tests.interp.execution.test_telemetry import Spans

KEYS = st.text("abcXYZ019-_./+=<>&\"'`\\{}:é", min_size=8, max_size=20).filter(
    lambda key: any(map(str.isalpha, key))
)
"""Not of digits alone, which times and sizes have too."""
WORDS = st.text("abXY01 -\"'`\\\n{}é", max_size=12)
TALKER = loads_one(dumps(AGENT).replace("(:Integer)", "(:Any)"))


def everything_that_leaves(said: str, folder: Path) -> Iterator[str]:
    """All that is written and shown where a text is said by everybody, of a run that fails too."""

    @tool
    def add(x: int) -> object:
        """Adds one."""
        if x == 1:
            raise ValueError(said)
        return {"text": said, said: [said]}

    for name, last in (("done", said), ("failed", ModelError(said))):
        path, spans = folder / f"{name}.run.gram", Spans()
        telemetry = Telemetry(spans.provider, content=True)
        model = ScriptedModel([CALLS, said, last])
        options = {"model": model, "record": path, "telemetry": telemetry}
        begun = begin(TALKER, f"x{said}", ToolLibrary.of(add), **options)
        with suppress(ModelError):
            begun.finish()
        yield from of_a_run(path)
        yield from in_a_notebook(begun)
        yield from (each.to_json() for each in spans.ended)
    yield from of_a_case(said, response(begun.state), load_run(path))


def of_a_run(path: Path) -> Iterator[str]:
    """The file of a run, and what is shown of it."""
    kept = load_run(path)
    kept.check()
    yield path.read_text(encoding="utf-8")
    yield from (text for line in lines(timeline(kept)) for text in _texts(line))
    yield run_page(kept)
    yield from map(repr, kept.entries)
    for shown in (kept, timeline(kept)):
        yield from in_a_notebook(shown)


def in_a_notebook(shown: Any) -> Iterator[str]:
    """What a notebook shows of something."""
    yield from shown._repr_mimebundle_().values()


def of_a_case(said: str, answered: AgentResponse, kept: RecordedRun) -> Iterator[str]:
    """What is said of a case that failed."""
    case = Case(name=said, input=said, has_expected=True, expected=f"not {said}")
    result = CaseResult(case, answered, judge(case, answered), None, 0.1, kept)
    yield junit_xml({said: [case]}, [result], lambda _: said)
    yield from in_a_notebook(answered)
    yield from in_a_notebook(answered.context)


def of_an_experiment(said: str, folder: Path) -> Iterator[str]:
    """The files, the page and the table of an experiment."""
    cases = [Case(name=said, input=said, has_expected=True, expected=said)]
    arms = {"A": arm(right), said: arm(wrong)}
    found = ab(cases, arms, out=folder / "x", seed=1, progress=False)
    found.write_html(folder / "report.html")
    for path in folder.rglob("*"):
        yield path.name
        yield path.read_text(encoding="utf-8") if path.is_file() else ""
    yield from in_a_notebook(found)


def of_a_broken_invariant(said: str, folder: Path) -> Iterator[str]:
    """The smallest run that breaks an invariant."""
    path = folder / "failing.run.gram"
    with pytest.raises(AssertionError):
        check_runs(TALKER, lambda _: False, failing=path, inputs=st.just(said))
    yield from of_a_run(path)


def _texts(line: object) -> list[str]:
    return [line] if isinstance(line, str) else [part for part, _ in line]  # type: ignore[attr-defined]  # parts with styles


def assert_hidden(key: str, texts: Iterable[str]) -> None:
    """Check that a key is in no text, however it is spelled there."""
    spellings = {key, json.dumps(key)[1:-1], json.dumps(json.dumps(key))[3:-3], repr(key)[1:-1]}
    for text in texts:
        assert not [each for each in spellings if each in text]


@settings(max_examples=20)
@given(KEYS, WORDS, WORDS)
def test_no_key_reaches_a_file_a_page_or_a_terminal(key: str, before: str, after: str) -> None:
    assume(key not in REDACTED and key.strip() == key)
    hidden = hide(key)
    with tempfile.TemporaryDirectory() as folder:
        assert_hidden(key, everything_that_leaves(f"{before}{key}{after}", Path(folder)))

    assert hidden.values == {key}


@pytest.mark.parametrize("key", ["sk<a&'b>9zQm2", 'sk"q\\w`e{r}t', "12345678"])
@pytest.mark.parametrize("texts", [of_an_experiment, of_a_broken_invariant])
def test_no_key_is_in_experiments_and_in_runs_that_break_an_invariant(
    texts: Callable[[str, Path], Iterator[str]], key: str, tmp_path: Path
) -> None:
    hidden = hide(key)

    assert_hidden(key, texts(f"it is {key}.", tmp_path))
    assert hidden.values == {key}


@given(KEYS, WORDS.filter(str.strip))
def test_innocent_text_is_recorded_as_it_is(key: str, said: str) -> None:
    assume(key not in said)
    hidden = hide(key)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.gram"
        response = run(AGENT, said, _counting(), model=ScriptedModel([CALLS, said]), record=path)
        kept = load_run(path).state.context

    assert hidden.values
    assert kept == response.context


def _counting() -> ToolLibrary:
    @tool
    def add(x: int) -> int:
        """Adds one."""
        return x + 1

    return ToolLibrary.of(add)


@pytest.mark.parametrize("key", ["Assistant", "arguments", "ModelReplied", "seconds: 0"])
def test_a_key_that_is_a_word_of_the_notation_spoils_no_file(key: str, tmp_path: Path) -> None:
    path, hidden = tmp_path / "run.gram", hide(key)
    run(AGENT, "go", _counting(), model=ScriptedModel([CALLS, f"it is {key}"]), record=path)

    assert hidden.values
    assert load_run(path).state.context[-1].content == f"it is {REDACTED}"


@pytest.mark.parametrize("key", ["testcase", "12345678", "failures"])
def test_a_key_that_is_a_word_of_what_is_written_spoils_no_json_and_no_xml(
    key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hidden = hide(key)
    case = Case(name=key, input="go")

    report = ET.fromstring(junit_xml({"f": [case]}, [], repr))
    show_json_line({"failures": 12345678, "testcase": [key], "result": {key: 1}})

    assert hidden.values
    assert [each.get("name") for each in report.iter("testcase")] == [REDACTED]
    shown = json.loads(capsys.readouterr().out)
    assert set(shown) == {"failures", "testcase", "result"}
    assert (shown["testcase"], shown["result"]) == ([REDACTED], {REDACTED: 1})


class Structure(HTMLParser):
    """The tags of a page, their classes, and what scripts and styles say."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[object] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kind = dict(attrs).get("class") or ""
        if not kind.startswith("g-"):  # the program, coloured as it is read without keys
            self.found.append((tag, [name for name, _ in attrs], kind))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            self.found.append(data)


def test_keys_that_are_words_of_a_page_spoil_no_page(tmp_path: Path) -> None:
    """All words of its markup at once: what people and models say is replaced before that."""
    cases = [Case(name=str(each), input=f"case {each}") for each in range(3)]
    arms = {"A": arm(right), "B": arm(wrong)}
    found = ab(cases, arms, [_is_loud], out=tmp_path / "x", seed=1, progress=False)
    kept = load_run(next(tmp_path.rglob("*.run.gram")))

    def pages() -> list[str]:
        return [found.to_html(), found._repr_mimebundle_()["text/html"], run_page(kept)]

    plain = pages()
    hidden = hide(*re.findall(r"[\w#:;.=\"-]{8,}", "".join(plain)))
    again = pages()

    assert len(hidden.values) > 100
    assert [Structure(each).found for each in again] == [Structure(each).found for each in plain]


def _is_loud(answer: AgentResponse) -> bool:
    return answer.content.isupper()
