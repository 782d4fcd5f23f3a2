"""Files as they go over the wire, in each dialect."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, get_args

import pytest

from gram import loads_one
from interp import ConfigurationError, File, OpenAIModel, run
from interp.models.providers import Dialect
from tests.interp.model_server import ModelServer

AGENT = loads_one('[seer:Agent {instruction: "Look.", model: "OpenAI/gpt-5.6-luna"}]')
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
WAV = b"RIFF\0\0\0\0WAVEfmt"
PDF = b"%PDF-1.7"
ADDRESS = "https://example.com/chart.png"


IMAGE = f"data:image/png;base64,{b64encode(PNG).decode()}"
DOCUMENT = f"data:application/pdf;base64,{b64encode(PDF).decode()}"
SOUND = {"data": b64encode(WAV).decode(), "format": "wav"}
PAPER = "https://example.com/a.pdf"
FILE = {"filename": "a.pdf", "file_data": DOCUMENT}
SENT: dict[str, list[tuple[File, Any]]] = {
    "tools": [
        (File(PNG, "chart.png"), {"type": "image_url", "image_url": {"url": IMAGE}}),
        (File(ADDRESS), {"type": "image_url", "image_url": {"url": ADDRESS}}),
        (File(PDF), {"type": "file", "file": {**FILE, "filename": "file.pdf"}}),
        (File(WAV), {"type": "input_audio", "input_audio": SOUND}),
    ],
    "responses": [
        (File(PNG, "chart.png"), {"type": "input_image", "image_url": IMAGE}),
        (File(ADDRESS), {"type": "input_image", "image_url": ADDRESS}),
        (File(PDF, "a.pdf"), {"type": "input_file", **FILE}),
        (File(PAPER), {"type": "input_file", "file_url": PAPER}),
    ],
}


@pytest.mark.parametrize(
    ("dialect", "file", "part"),
    [(dialect, *each) for dialect, listed in SENT.items() for each in listed],
)
def test_a_file_is_sent_in_the_form_of_the_dialect(
    model_server: ModelServer, dialect: Dialect, file: File, part: Any
) -> None:
    model_server.will_say("A chart.", "Still one.")
    model = OpenAIModel(model_server.url, "sk-test", dialect=dialect)

    first = run(AGENT, ["What is this?", file], model=model)
    run(AGENT, "Sure?", context=first.context, model=model)

    kind = {"tools": "text", "responses": "input_text"}[dialect]
    said = {"role": "user", "content": [{"type": kind, "text": "What is this?"}, part]}
    asked, again = [each.get("messages") or each["input"] for each in model_server.requests]
    assert said == asked[-1] == again[-3]
    assert again[-1] == {"role": "user", "content": "Sure?"}


REFUSED = [
    ("tools", File(PAPER), "only pictures by their addresses"),
    ("tools", File("https://example.com/a.wav"), "only pictures by their addresses"),
    ("responses", File(WAV), "the Responses API takes no sound"),
    ("functions", File(PNG), "the dialect functions takes no files"),
]


@pytest.mark.parametrize(("dialect", "file", "told"), REFUSED)
def test_what_a_dialect_has_no_form_for_is_told_before_the_request(
    model_server: ModelServer, dialect: Dialect, file: File, told: str
) -> None:
    model = OpenAIModel(model_server.url, "sk-test", dialect=dialect)
    with pytest.raises(ConfigurationError, match=told):
        run(AGENT, ["What is this?", file], model=model)
    assert not model_server.requests


def test_every_dialect_is_looked_at() -> None:
    assert {*SENT, *(each[0] for each in REFUSED)} == {*get_args(Dialect)}
