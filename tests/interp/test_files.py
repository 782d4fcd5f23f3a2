"""Files that are attached to messages: what they are, and what is refused before a request."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from gram import ArgumentError, loads_one
from interp import File, Message, ScriptedModel, UserRole, ValidationError, run
from interp.machine import start, start_again

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
AGENT = loads_one('[seer:Agent {instruction: "Look.", model: "OpenAI/gpt-5.6-luna"}]')


@pytest.mark.parametrize(
    ("content", "name", "media_type"),
    [
        (PNG, "chart.txt", "image/png"),
        (b"\xff\xd8\xff\xe0", None, "image/jpeg"),
        (b"GIF89a", None, "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8", None, "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt", None, "audio/wav"),
        (b"ID3\4", None, "audio/mpeg"),
        (b"%PDF-1.7", None, "application/pdf"),
        (b"PK\3\4\0\xff", "a.DOCX", "application/vnd.openxmlformats-officedocument"),
        (b"# Notes", "a.md", "text/markdown"),
        (b"x = 1", "a.unheard-of", "text/plain"),
    ],
)
def test_bytes_or_names_say_what_it_is(content: bytes, name: str | None, media_type: str) -> None:
    assert File(content, name).media_type.startswith(media_type)


def test_a_file_of_a_path_is_read_when_it_is_made(tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(PNG)
    file = File(path)
    path.unlink()
    assert (file.content, file.name, file.kind) == (PNG, "chart.png", "picture")
    assert file == File(PNG, "chart.png") != File(PNG, "other.png")
    assert pickle.loads(pickle.dumps(file)) == file


def test_an_address_is_passed_on_and_says_what_it_is_by_its_path() -> None:
    file = File("https://me:secret@example.com/a.pdf?token=secret")
    assert (file.content, file.media_type) == (None, "application/pdf")
    assert File("http://example.com/view").kind == "picture"
    assert "secret" not in repr(file)


@pytest.mark.parametrize(
    ("content", "given", "told"),
    [
        (b"", {"name": "a.png"}, "a.png is empty"),
        (b"\0" * 30_000_000, {"name": "a.png"}, "a.png has more than 20 MB"),
        (b"\0\xff", {"name": "film.mp4"}, "film.mp4 is video/mp4: models take pictures"),
        (b"\0\xff", {}, "the file is of an unknown type"),
        (b"\0\xff", {"media_type": "no type"}, "the file is no type"),
    ],
)
def test_what_no_model_takes_is_refused(content: bytes, given: Any, told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        File(content, **given)
    assert told in str(caught.value)


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        File(tmp_path / "missing.png")
    with pytest.raises(IsADirectoryError):
        File(tmp_path)
    for other in ("data:image/png;base64,AAAA", "ftp://host/a.png", "http://[host/a.png"):
        with pytest.raises(ValidationError, match=r"address cannot be attached.* https://"):
            File(other)
    with pytest.raises(TypeError, match="source"):
        File(5)  # type: ignore[arg-type]  # that is the mistake


def test_a_message_keeps_its_text_and_its_files() -> None:
    model = ScriptedModel(["A chart."])
    file = File(PNG, "chart.png")
    response = run(AGENT, ["What is this?", file], model=model)
    said = Message(UserRole, "What is this?", attachments=[file])
    assert response.context[0] == said == model.requests[0].messages[0]
    assert said != Message(UserRole, "What is this?")
    assert "chart.png (image/png, 28 bytes)" in repr(said)
    with pytest.raises(ArgumentError, match=r"Message: attachments\[0\] must be a File, got str"):
        Message(UserRole, "What is this?", attachments=["chart.png"])  # type: ignore[list-item]  # that is the mistake


def test_a_run_that_is_begun_again_has_its_files() -> None:
    first = start(AGENT, ["What is this?", File(PNG)]).state
    assert start_again(first).state == first
    assert start_again(first).state.run.attachments == (File(PNG),)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([File(PNG)], "one text, .* found File"),
        ([], "one text, .* found nothing"),
        (["a", "b", File(PNG)], "one text, .* found str, str, File"),
        (["a", Path("chart.png")], "found str, PosixPath"),
        (["  ", File(PNG)], "the user's message is empty but for its files: say what to do"),
    ],
)
def test_a_list_is_one_text_and_files(given: Any, told: str) -> None:
    model = ScriptedModel([])
    with pytest.raises(ValidationError, match=told):
        run(AGENT, given, model=model)
    assert not model.requests


FLOW = loads_one("""
[flow:Workflow |
  [triage:Agent {instruction: "Which?", model: "OpenAI/gpt-5.6-luna"} |
    (:Answer:String {enum: ["chart", "other"]})],
  [seer:Agent {instruction: "Look.", model: "OpenAI/gpt-5.6-luna"}],
  [other:Agent {instruction: "Look.", model: "OpenAI/gpt-5.6-luna"}],
  [writer:Agent {instruction: "Write.", model: "OpenAI/gpt-5.6-luna"}],
  ()-->(triage),
  (triage)-[:WHEN {is: "chart"}]->(seer), (triage)-[:OTHERWISE]->(other),
  (seer)-->(writer), (other)-->(writer)]
""")


def test_the_files_of_a_workflow_go_where_its_input_goes() -> None:
    model = ScriptedModel(["chart", "A chart.", "It is a chart."])
    response = run(FLOW, ["What is this?", File(PNG)], model=model)
    files = [request.messages[-1].attachments for request in model.requests]
    assert files == [(File(PNG),), (File(PNG),), ()]
    assert response.context[0].attachments == (File(PNG),)


def test_the_agents_of_a_loop_get_the_files_once() -> None:
    flow = loads_one("""
    [outer:Workflow |
      [refine:Loop {max: 3, until: "good"} |
        [writer:Agent {instruction: "Write.", model: "OpenAI/gpt-5.6-luna"}],
        [critic:Agent {instruction: "Judge.", model: "OpenAI/gpt-5.6-luna"}],
        ()-->(writer), (writer)-->(critic), (writer)-->()]]
    """)
    model = ScriptedModel(["a", "bad", "b", "good"])

    run(flow, ["What is this?", File(PNG)], model=model)

    said = [[each.attachments for each in request.messages] for request in model.requests]
    assert said == [[(File(PNG),)], [()], [(File(PNG),), (), ()], [(), (), ()]]


def test_files_that_would_go_to_a_tool_are_refused() -> None:
    flow = loads_one("""
    [outer:Workflow |
      [inner:Workflow |
        [count:ToolSpecification {description: "Counts."} | (text::String)==>(::Integer)]]]
    """)
    with pytest.raises(ValidationError, match='"count", a tool, gets the input of "inner"'):
        start(flow, ["Look.", File(PNG)])
