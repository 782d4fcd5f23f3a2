"""The encoding of the lines of a server: whole lines, and none over the limit."""

from __future__ import annotations

import codecs
import json

import pytest
from hypothesis import given, strategies as st

from interp.tools.mcp.limited_lines import LINES, LONGEST_MESSAGE


def decoder(errors: str = "strict") -> codecs.IncrementalDecoder:
    """A new decoder of lines."""
    return codecs.getincrementaldecoder(LINES)(errors)


@given(st.text(), st.data())
def test_a_text_comes_out_as_it_went_in_wherever_it_is_cut(text: str, data: st.DataObject) -> None:
    written, read = text.encode(), decoder()
    pieces = []
    while written:
        cut = data.draw(st.integers(1, len(written)))
        pieces.append(read.decode(written[:cut]))
        written = written[cut:]

    assert all(piece == "" or piece.endswith("\n") for piece in pieces)
    assert "".join([*pieces, read.decode(b"", True)]) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":"', b'"}'),
        (b'{ "id": 7, "result": "', b'"}'),
        (b'{"result":"', b'","jsonrpc":"2.0","id":7}'),
        (b'{"result":"', b'", "id": 7, "jsonrpc": "2.0"}\r'),
    ],
)
def test_a_line_that_is_too_long_becomes_an_error_of_its_request(
    before: bytes, after: bytes
) -> None:
    read = decoder()

    assert read.decode(before) == ""
    for _ in range(LONGEST_MESSAGE // 1_000_000 + 1):
        assert read.decode(b"x" * 1_000_000) == ""
    answer = json.loads(read.decode(after + b"\n"))

    assert (answer["id"], answer["error"]["code"]) == (7, -32700)
    assert read.decode(b"next\n") == "next\n"


def test_a_long_line_that_names_no_request_is_no_json() -> None:
    line = b"x" * (LONGEST_MESSAGE + 1) + b"\n"

    assert decoder().decode(line) == "[a line of 16,777,217 bytes]\n"


def test_a_line_of_exactly_the_limit_is_read() -> None:
    line = b"x" * LONGEST_MESSAGE

    assert decoder().decode(line + b"\n") == f"{line.decode()}\n"


def test_what_is_not_utf_8_is_replaced_in_its_line_alone() -> None:
    assert decoder("replace").decode(b"a\xffb\nc\n") == "a\ufffdb\nc\n"
