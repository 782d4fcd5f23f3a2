"""Whole runs of an agent with operations as its tools, at real servers on loopback."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from gram import Pattern, loads_one
from interp import ToolLibrary, openapi_library, run, tool_spec_from_function
from lenses_ext import write_program
from tests.interp.cli.process import at, forked as gram
from tests.interp.model_server import ModelServer, tool_calls
from tests.interp.tools.openapi.test_openapi_library import KEY, document

ONE_CALL = tool_calls(("c1", "list", {}))
TWO_CALLS = tool_calls(("c1", "list", {}), ("c2", "list", {}))


def keeper(library: ToolLibrary) -> Pattern:
    """An agent with all tools of a library."""
    specs = ", ".join(write_program(tool_spec_from_function(each)) for each in library.values())
    about = 'instruction: "Keep pets.", model: "OpenAI/gpt-4o"'
    return loads_one(f"[keeper:Agent {{{about}}} | {specs}]")


@pytest.fixture
def library(server: Any, monkeypatch: pytest.MonkeyPatch) -> ToolLibrary:
    monkeypatch.setenv("PETS", KEY)
    return openapi_library(document(server.url), keys={"query_key": "PETS"})


def test_a_run_calls_the_server_over_one_connection_and_shows_no_key(
    library: ToolLibrary, server: Any, model_server: ModelServer, tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    model_server.will_say(ONE_CALL, ONE_CALL, ONE_CALL, "Two pets.")

    answer = run(keeper(library), "Pets?", library, record=tmp_path / "run.gram")

    assert answer.content == "Two pets."
    assert [each["path"] for each in server.asked] == [f"/v1/pets?key={KEY}"] * 3
    assert server.connections == 1
    assert "Cookie" not in server.asked[-1]["headers"]
    assert KEY not in (tmp_path / "run.gram").read_text()
    assert KEY not in json.dumps(model_server.requests)
    assert KEY not in caplog.text


@pytest.fixture
def folder(server: Any, tmp_path: Path) -> Path:
    """A document, a program with one of its operations, and a case."""
    pets = document(server.url)
    (tmp_path / "pets.json").write_text(json.dumps(pets))
    program = write_program(keeper(openapi_library(pets, operations=["list"])))
    for name in ("a.gram", "b.gram"):
        (tmp_path / name).write_text(program)
    (tmp_path / "cases.jsonl").write_text('{"program": "a.gram", "input": "Pets?"}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("words", "stdin", "runs"),
    [
        (("chat", "a.gram"), "Pets?\n", 1),
        (("test", "cases.jsonl"), "", 1),
        (("ab", "a.gram", "b.gram", "--cases", "cases.jsonl", "--jobs", "1"), "", 2),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
def test_every_command_that_runs_programs_calls_operations(
    words: tuple[str, ...], stdin: str, runs: int, folder: Path, server: Any,
    model_server: ModelServer,
) -> None:  # fmt: skip
    model_server.will_say(*[ONE_CALL, "Two pets."] * runs)

    done = gram(
        *words, "--openapi", "query_key=PETS pets.json",
        stdin=stdin, cwd=folder, PETS=KEY, **at(model_server),
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert [each["path"] for each in server.asked] == [f"/v1/pets?key={KEY}"] * runs
    assert KEY not in done.stdout + done.stderr


def test_a_run_is_resumed_and_replayed_with_live_operations(
    folder: Path, server: Any, model_server: ModelServer
) -> None:
    model_server.will_say(*[ONE_CALL, "Two pets."] * 2, TWO_CALLS, "Live pets.")
    asked = ("run", "a.gram", "Pets?", "--record", "r.gram", "--approve", "ask")
    pets = ("--openapi", "query_key=PETS pets.json")
    environment = {"PETS": KEY, **at(model_server)}

    waiting = gram(*asked, *pets, "--debug", cwd=folder, **environment)
    assert (waiting.returncode, server.asked) == (6, [])
    going_on = ("resume", "r.gram", "--approve", "all", "--debug", *pets)
    resumed = gram(*going_on, cwd=folder, **environment)
    assert resumed.stdout == "Two pets.\n", resumed.stderr
    assert resumed.stdout == gram("replay", "r.gram", cwd=folder).stdout
    assert [each["path"] for each in server.asked] == [f"/v1/pets?key={KEY}"]
    assert KEY not in waiting.stderr + resumed.stderr + (folder / "r.gram").read_text()

    gram("run", "a.gram", "Pets?", "--record", "s.gram", *pets, cwd=folder, **environment)
    program = folder / "a.gram"
    program.write_text(program.read_text().replace("Keep pets.", "Keep all pets."))
    live = ("--program", "a.gram", "--live", "model", "--live", "tools")
    replayed = gram("replay", "s.gram", *live, *pets, cwd=folder, **environment)

    assert replayed.stdout == "Live pets.\n", replayed.stderr
    assert len(server.asked) == 3, "the first call is answered by the recording"


def test_settings_are_written_before_the_document(server: Any, tmp_path: Path) -> None:
    (tmp_path / "my pets.json").write_text(json.dumps(document("/v1")))

    def printed(given: str) -> Any:
        return gram("tools", "--print-gram", "--openapi", given, cwd=tmp_path)

    assert "hint: give the whole address, server=https://" in printed("my pets.json").stderr
    assert printed("my pets.json").stderr.count("not a whole address") == 1
    one = printed(f"server={server.url} operations=list my pets.json")
    assert one.stdout.count("ToolSpecification") == 1
    elsewhere = printed(f"server={server.url} hosts=pets.example my pets.json")
    assert "is not among those allowed" in elsewhere.stderr
    wrong = printed("srver=http://h my pets.json")
    assert (wrong.returncode, elsewhere.returncode) == (4, 4)
    assert 'no security scheme "srver"' in wrong.stderr


def test_a_fetched_document_may_not_name_another_host(server: Any, tmp_path: Path) -> None:
    server.answers["/pets.json"] = (200, {}, json.dumps(document("http://evil.example")).encode())
    address = f"{server.url}/pets.json"

    refused = gram("tools", "--print-gram", "--openapi", address)
    trusted = gram("tools", "--print-gram", "--openapi", f"hosts=evil.example {address}")

    assert "hint: if you trust it, hosts=evil.example" in refused.stderr
    assert trusted.returncode == 0
