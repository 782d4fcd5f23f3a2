"""Keys: none reaches what is written or shown of a run, and innocent text is never changed."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, strategies as st

from gram import dumps, loads_one
from interp import ModelError, ScriptedModel, ToolLibrary, load_run, run, timeline, tool
from interp.cli.trace import lines
from interp.redaction import REDACTED, hide
from interp.views import run_page
from tests.interp.execution.test_recording import AGENT, CALLS

KEYS = st.text("abcXYZ019-_./+=<>&\"'`\\{}:é", min_size=8, max_size=20)
WORDS = st.text("abXY01 -\"'`\\\n{}é", max_size=12)
TALKER = loads_one(dumps(AGENT).replace("(:Integer)", "(:Any)"))


def recorded_text(said: str, path: Path) -> str:
    """What is written and shown of a run in which a text is said by everybody."""

    @tool
    def add(x: int) -> object:
        """Adds one."""
        if x == 1:
            raise ValueError(said)
        return {"text": said, said: [said]}

    model = ScriptedModel([CALLS, said, ModelError(said)])
    run(TALKER, f"x{said}", ToolLibrary.of(add), model=model, record=path)
    kept = load_run(path)
    shown = "".join(text for line in lines(timeline(kept)) for text in _texts(line))
    return path.read_text(encoding="utf-8") + shown + run_page(kept)


def _texts(line: object) -> list[str]:
    return [line] if isinstance(line, str) else [part for part, _ in line]  # type: ignore[attr-defined]  # parts with styles


@given(KEYS, WORDS, WORDS)
def test_no_key_reaches_a_file_a_page_or_a_terminal(key: str, before: str, after: str) -> None:
    assume(key not in REDACTED and key.strip() == key)
    hidden = hide(key)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.gram"
        text = recorded_text(f"{before}{key}{after}", path)
        load_run(path).check()

    assert hidden.values == {key}
    for spelled in (key, json.dumps(key)[1:-1], json.dumps(json.dumps(key))[3:-3]):
        assert spelled not in text


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
