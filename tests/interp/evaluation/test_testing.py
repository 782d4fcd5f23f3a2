"""Runs of tests: recorded and replayed, with a guarded network."""

from __future__ import annotations

import asyncio
import re
import socket
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given, strategies as st

from interp import (
    LimitError,
    Limits,
    ModelError,
    ScriptedModel,
    hello_world_tool_library,
    load,
    load_run,
)
from interp.evaluation.testing import Network, Recording, file_name
from interp.running import BeginOptions, begin
from lenses_ext import parse_program
from tests.interp.model_server import tool_calls
from tests.paths import EXAMPLES

HELLO = load(EXAMPLES / "hello_world.gram")


def run(recording: Recording, *replies: object, **options: object) -> str:
    """The answer of a run with a recording."""
    given: BeginOptions = {"model": ScriptedModel(replies), **options}  # type: ignore[typeddict-item]  # any options
    with recording.around(given) as added:
        return begin(HELLO, "hi", hello_world_tool_library, **added).finish().content


names = st.text(st.characters(exclude_categories=[]), max_size=300)


@given(st.lists(names, min_size=2, max_size=2, unique=True))
def test_names_of_files_are_safe_and_as_different_as_those_of_tests(both: list[str]) -> None:
    one, other = map(file_name, both)
    for made in (one, other):
        assert re.fullmatch(r"[\w.-]+", made)
        assert made.strip(".-") == made or made == "-"
        assert len(made.encode()) < 200
    assert one != other


def test_a_run_that_ends_at_a_limit_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "a.run.gram"
    call = tool_calls(("1", "sayHello", {}))
    for replies in ([call], []):
        with pytest.raises(LimitError):
            run(Recording(path), *replies, limits=Limits(iterations=0))
    assert load_run(path).steps


def test_a_run_that_breaks_off_is_not_recorded_and_keeps_what_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "a.run.gram"
    with pytest.raises(ModelError):
        run(Recording(path), ModelError("no"))
    assert not path.exists()

    run(Recording(path), "one")
    with pytest.raises(ModelError):
        run(Recording(path, "all"), ModelError("no"))
    assert run(Recording(path)) == "one"


TWO = """
[both:Workflow | one, two, (one)-->(two)]
[one:Agent {instruction: "First", model: "OpenAI/m"}]
[two:Agent {instruction: "Second", model: "OpenAI/m"}]
"""


def run_two(recording: Recording, text: str, *replies: str) -> tuple[str, int]:
    """The answer of a workflow of two agents, and how often a model was asked."""
    model = ScriptedModel(replies)
    with recording.around({"model": model}) as added:
        answer = begin(parse_program(text), "hi", agent="both", **added).finish().content
    return answer, len(model.requests)


@pytest.mark.parametrize(("changed", "asked"), [("First", 2), ("Second", 1), ("hi", 0)])
def test_what_still_fits_is_replayed_and_the_rest_is_asked(
    tmp_path: Path, changed: str, asked: int
) -> None:
    path = tmp_path / "a.run.gram"
    run_two(Recording(path), TWO, "draft", "text")
    before = path.read_bytes()
    program = TWO.replace(changed, "Other")

    found = run_two(Recording(path, "changed"), program, *["draft", "anew"][2 - asked :])

    assert found == ("anew" if asked else "text", asked)
    assert (path.read_bytes() == before) == (not asked)
    assert run_two(Recording(path, "none"), program) == (found[0], 0)


class RefusedError(BaseException):
    """Somebody wanted to connect."""


def refuse(where: str) -> NoReturn:
    raise RefusedError(where)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", b"localhost", None])
def test_loopback_may_be_open(host: str) -> None:
    with Network(refuse, has_loopback=True).guarded():
        socket.getaddrinfo(host, 80)


@pytest.mark.parametrize(
    "host", ["localhost", "10.0.0.1", "example.invalid", "localhost.evil.invalid"]
)
def test_everything_else_is_refused_and_kept(host: str) -> None:
    network = Network(refuse, has_loopback=host == "localhost.evil.invalid")
    with network.guarded(), pytest.raises(RefusedError, match=host):
        socket.getaddrinfo(host, 80)
    assert network.refused == [f"{host}:80"]


def test_unix_sockets_and_event_loops_are_left_alone() -> None:
    async def nothing() -> None:
        await asyncio.sleep(0)

    with Network(refuse, has_loopback=False).guarded():
        asyncio.run(nothing())
        with socket.socket(socket.AF_UNIX) as unix, pytest.raises(FileNotFoundError):
            unix.connect("/no/such/socket")
