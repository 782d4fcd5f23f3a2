"""Files that are attached to messages at the command line and in a chat."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from interp import File, load_run
from tests.interp.cli.process import HELLO, at, gram, refused, rows
from tests.interp.model_server import ModelServer

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
ADDRESS = "https://example.com/b.png"


@pytest.fixture
def chart(tmp_path: Path) -> str:
    """The path of a picture."""
    path = tmp_path / "chart.png"
    path.write_bytes(PNG)
    return str(path)


def last_said(server: ModelServer, request: int = -1) -> Any:
    """The content of the last message of a request."""
    return server.requests[request]["messages"][-1]["content"]


def linked(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


SENT, LINKED = linked(f"data:image/png;base64,{b64encode(PNG).decode()}"), linked(ADDRESS)


def test_the_first_message_has_files(model_server: ModelServer, chart: str, tmp_path: Path) -> None:
    model_server.will_say("A chart.", "Yes.")
    session = str(tmp_path / "s.gram")
    words = ("What is this?", "Sure?", "--attach", chart, "--attach", ADDRESS)

    done = gram("run", HELLO, *words, "-c", "--record", session, **at(model_server))

    assert done.stdout == "A chart.\nYes.\n"
    said = {"type": "text", "text": "What is this?"}
    assert last_said(model_server, 0) == [said, SENT, LINKED]
    assert last_said(model_server) == "Sure?"
    kept = load_run(session).state.context
    assert kept[0].attachments == (File(chart), File(ADDRESS))
    assert kept[2].attachments == ()


def test_standard_input_is_no_context(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.will_say("A note.")
    record = tmp_path / "a.run.gram"
    words = ("What is this?", "--attach", "-", "--record", str(record))
    gram("run", HELLO, *words, stdin="Buy milk.", **at(model_server))
    text, part = last_said(model_server)
    assert text == {"type": "text", "text": "What is this?"}
    assert part["file"]["filename"] == "file.txt"
    assert load_run(record).first.context[0].attachments == (File(b"Buy milk."),)


@pytest.mark.parametrize(("words", "told"), rows("not attached"))
def test_what_cannot_be_attached_is_wrong_usage(
    model_server: ModelServer, tmp_path: Path, chart: str, words: tuple[str, ...], told: str
) -> None:
    (tmp_path / "empty.png").touch()
    (tmp_path / "film.mp4").write_bytes(b"\0\xff")
    (tmp_path / "big.png").write_bytes(b"\0" * 30_000_000)
    refused(gram("run", HELLO, *words, cwd=tmp_path, **at(model_server)), 2, told)
    assert not model_server.requests


def test_files_go_with_a_message_and_its_retry(model_server: ModelServer, chart: str) -> None:
    model_server.will_say("A chart.", "Still one.", "Yes.")
    lines = f"/attach {chart}\nWhat is this?\n/retry\nSure?\n"
    done = gram("chat", HELLO, stdin=lines, **at(model_server))
    assert done.stdout == "A chart.\nStill one.\nYes.\n"
    assert "attached to the next message: chart.png (image/png, 28 bytes)" in done.stderr
    said = [{"type": "text", "text": "What is this?"}, SENT]
    assert [last_said(model_server, index) for index in range(3)] == [said, said, "Sure?"]


def test_a_message_shows_its_files(model_server: ModelServer, chart: str, tmp_path: Path) -> None:
    model_server.will_say("A chart.")
    kept = ("--record", str(tmp_path / "runs.db"))
    words = ("What is this?", "--attach", chart, "--conversation", "talk", *kept)
    gram("run", HELLO, *words, **at(model_server))

    shown = gram("conversations", "show", "talk", *kept)
    found = json.loads(gram("conversations", "show", "talk", "--json", *kept).stdout)

    assert "user: What is this? <File chart.png (image/png, 28 bytes)>" in shown.stdout
    (attached,) = found[0]["attachments"]
    assert (attached["name"], attached["address"]) == ("chart.png", None)
    assert len(attached["sha256"]) == 64
