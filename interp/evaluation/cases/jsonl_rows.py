"""Cases as JSON Lines: an object on each line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from gram import Diagnostic, Source, Span

from ...json_text import read_json
from .row import Row

_BLANKS = re.compile(r"[ \t\r]*")


def jsonl_rows(source: Source, faults: list[Diagnostic]) -> Iterator[Row]:
    """The rows of JSON Lines; blank lines are left out.

    Args:
        source: the text.
        faults: gets the faults of lines that are no JSON object.
    """
    start = 0
    for line in source.text.split("\n"):
        if line.strip("\ufeff \t\r"):
            offset = start + len(line) - len(line.lstrip("\ufeff \t"))
            text = line.lstrip("\ufeff \t").rstrip()
            row = _row(source, Span(offset, offset + len(text)), text, faults)
            if row:
                yield row
        start += len(line) + 1


def _row(source: Source, span: Span, text: str, faults: list[Diagnostic]) -> Row | None:
    def refuse(code: str, message: str, at: int = 0, hint: str | None = None) -> None:
        place = Span(span.start + at, max(span.start + at + 1, span.end if at == 0 else 0))
        faults.append(Diagnostic(code, "error", message, span=place, hint=hint, source=source))

    try:
        value = read_json(text)
    except json.JSONDecodeError as error:
        hint = "write each case as one JSON object on one line"
        refuse("not-json", f"not JSON: {error.msg}", min(error.pos, len(text) - 1), hint)
    except ValueError as error:
        refuse("not-json", f"not JSON: {error}")
    else:
        if isinstance(value, dict):
            return Row(source, span, value, dict(_spans(text, span.start)))
        refuse("not-an-object", f"a case must be a JSON object, found {text[:20]}")
    return None


def _spans(text: str, offset: int) -> Iterator[tuple[str, Span]]:
    """Where the values of an object are, by key; the text has been parsed before."""
    decoder = json.JSONDecoder(parse_float=str, parse_int=str)
    at = 1
    while (at := _after_blanks(text, at)) < len(text) and text[at] != "}":
        if text[at] == ",":
            at = _after_blanks(text, at + 1)
        key, at = decoder.raw_decode(text, at)
        start = _after_blanks(text, _after_blanks(text, at) + 1)  # the colon is between them
        _, at = decoder.raw_decode(text, start)
        yield key, Span(offset + start, offset + at)


def _after_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    assert found
    return found.end()
