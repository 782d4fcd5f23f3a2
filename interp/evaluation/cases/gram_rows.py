"""Cases as gram: patterns labelled ``Case``, alone in a file or beside the agents they are for.

.. code-block:: text

    {program: "hello.gram"}
    [greets:Case {input: "I am Alice", expected: "Hello, Alice!", calls: ["sayHello"]}]

The identity of a pattern is the case's name. A file with agents of its own is the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import evolve

from gram import Diagnostic, Document, Pattern, Source, Span, write_value
from gram.suggestions import did_you_mean
from lenses_ext import find_agents, parse_program
from lenses_ext.schemas import NotJson, to_json_value

from ...json_text import Json
from .cells import COLUMNS
from .row import Row

CASE = "Case"


def gram_rows(source: Source, faults: list[Diagnostic]) -> Iterator[Row]:
    """The rows of a gram file: first what holds for all cases, if it says so, then the cases.

    Args:
        source: the text.
        faults: gets the faults of patterns that are no cases.

    Raises:
        GramDecodeError: the text is not gram.
    """
    document = parse_program(source.text, source.filename)
    if head := _head(document):
        yield head
    for pattern in document.patterns:
        if CASE in pattern.value.labels:
            yield _row(document, pattern, faults)
            continue
        for label in sorted(pattern.value.labels):
            if near := did_you_mean(label, [CASE]):
                message = f"the label {label} is not {CASE}"
                faults.append(Diagnostic.of("unknown-label", message, pattern, "labels", hint=near))


def _head(document: Document) -> Row | None:
    """What a document says for all its cases: its header, and that it is the program itself."""
    if document.header is not None:
        row = _row(document, document.header, [])
        named = {key: row.values[key] for key in ("program", "agent") if key in row.values}
    else:
        row, named = Row(document.source, Span(0, 0), {}, {}), {}
    if find_agents(document):
        named.setdefault("program", Path(document.filename or "").name)
    return evolve(row, values=named) if named else None


def _row(document: Document, pattern: Pattern, faults: list[Diagnostic]) -> Row:
    values: dict[str, Json] = {}
    spans: dict[str, Span] = {}
    for key, value in pattern.value.properties.items():
        spans[key] = Diagnostic.of("", "", pattern, key).span or Span(0, 0)
        try:
            values[key] = to_json_value(value)
        except NotJson as error:
            if key in COLUMNS:
                faults.append(Diagnostic.of("not-json", str(error), pattern, key))
            values[key] = write_value(value)
    if pattern.value.identity and "name" in values:
        message = f"the case has two names, {pattern.value.identity} and {values['name']}"
        faults.append(Diagnostic.of("two-names", message, pattern, "name"))
    if pattern.value.identity:
        values["name"] = pattern.value.identity
        spans["name"] = Diagnostic.of("", "", pattern, "identity").span or Span(0, 0)
    for element in pattern.elements:
        hint = "write what is expected as properties: expected, calls, checks"
        faults.append(
            Diagnostic.of("unexpected-element", "a Case has no elements", element, hint=hint)
        )
    whole = Diagnostic.of("", "", pattern).span or Span(0, 0)
    return Row(document.source, whole, values, spans)
