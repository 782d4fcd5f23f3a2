"""A case: what is said to an agent and what is expected of the run, and its row in a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from hashlib import sha256
from math import inf
from typing import Any, Final

from attrs import Converter, field, frozen

from gram import ArgumentError, Diagnostic, Pattern, Source, Span
from gram.words import did_you_mean
from lenses_ext.language import written_signature
from lenses_ext.schemas import ANNOTATIONS, KEYWORDS, schema_validator

from ... import machine
from ...errors import ValidationError
from ...files import File
from ...json_text import Json, write_json
from ...machine import ConversationContext, empty_context
from ...machine.contracts import require_schema
from ...shown import short_repr, shortened


@frozen
class ExpectedCall:
    """A tool call that a case expects.

    Attributes:
        name: the name of the tool.
        arguments: all arguments that the tool has to get, defaults included; None for any.
    """

    name: str
    arguments: Mapping[str, Json] | None = None

    def __str__(self) -> str:
        return self.name if self.arguments is None else machine.call_text(self.name, self.arguments)

    def to_json(self) -> Json:
        """The call as files of cases write it."""
        if self.arguments is None:
            return self.name
        return {"name": self.name, "arguments": self.arguments}


class _AnyAnswer(Enum):
    ANY_ANSWER = "any answer"


ANY_ANSWER: Final = _AnyAnswer.ANY_ANSWER
"""What a case expects that names no answer; None is an answer, the JSON null."""


def found(given: object) -> str:
    """A value as messages show it."""
    try:
        return shortened(write_json(given), 40)
    except (TypeError, ValueError):
        return shortened(repr(given), 40)


def _calls(given: object) -> tuple[ExpectedCall, ...]:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise ValueError(f"must be an array, found {found(given)}; [] expects no calls")
    return tuple(map(_call, given))


def _call(given: object) -> ExpectedCall:
    if isinstance(given, ExpectedCall):
        return given
    if isinstance(given, str) and given.strip():
        return ExpectedCall(given)
    if isinstance(given, Mapping) and given.keys() <= {"name", "arguments"}:
        name, arguments = given.get("name"), given.get("arguments")
        if isinstance(name, str) and name.strip() and isinstance(arguments, Mapping | None):
            return ExpectedCall(name, arguments)
    wanted = 'names of tools, or {"name": …, "arguments": {…}}'
    raise ValueError(f"must have {wanted}, found {found(given)}")


def names_of(given: object) -> tuple[str, ...]:
    """The names of checks or tags: several, or one alone.

    Raises:
        ValueError: one is no name.
    """
    names: Any = (given,) if isinstance(given, str) else given
    if isinstance(names, list | tuple) and all(
        isinstance(each, str) and each.strip() for each in names
    ):
        return tuple(names)
    raise ValueError(f"must be a text that is not empty, or an array of them, found {found(given)}")


def _texts(given: object) -> tuple[str, ...]:
    if not (texts := names_of(given)):
        raise ValueError("must have a text, found []")
    return texts


def _patterns(given: object) -> tuple[str, ...]:
    patterns = _texts(given)
    for each in patterns:
        _require_linear({"pattern": each}, each)
    return patterns


def _require_linear(schema: Mapping[str, Json], text: str) -> None:
    """Refuse regular expressions whose time may grow faster than the text that is searched."""
    try:
        require_schema(schema)
        schema_validator(dict(schema), linear=True)
    except (ValueError, ValidationError):
        why = "they are searched in linear time, and look neither around nor back"
        try:
            re.compile(text)
        except re.error as error:
            why = str(error)
        told = f"has no regular expression as Rust has them, found {found(text)}: {why}"
        raise ValueError(told) from None


def _subset(given: object) -> Mapping[str, Json]:
    if isinstance(given, Mapping) and given:
        return given
    wanted = 'an object of paths and values, such as {"order.id": 7}'
    raise ValueError(f"must be {wanted}, found {found(given)}")


def _schema(given: object) -> Mapping[str, Json]:
    try:
        text = require_schema(given)  # type: ignore[arg-type]  # it refuses what is no object
    except ValidationError as error:
        raise ValueError(f"is {error}") from None
    assert isinstance(given, Mapping)
    if not given.keys() & KEYWORDS - ANNOTATIONS:
        raise ValueError(f"has no keyword that refuses an answer, found {found(given)}")
    _require_linear(given, text)
    return given


def _opposite(given: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f'must be an object such as {{"contains": "sorry"}}, found {found(given)}')
    read = {}
    for name, value in given.items():
        if name == "not" or name not in READERS:
            known = [each for each in READERS if each != "not"]
            hint = did_you_mean(str(name), known) or f"it may have {', '.join(known)}"
            raise ValueError(f"has no {found(name)}; {hint}")
        try:
            read[name] = READERS[name](value)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
        if read[name] == ():
            raise ValueError(f"{name} names nothing that may not be")
    return read


def _at_most(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < inf:
        raise ValueError(f"must be a number from 0 on, found {found(given)}")
    return given


READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "expected": lambda given: given,
    "contains": _texts,
    "matches": _patterns,
    "json": _subset,
    "schema": _schema,
    "calls": _calls,
    "judge": _texts,
    "not": _opposite,
    "max_seconds": _at_most,
    "max_tokens": _at_most,
    "max_cost": _at_most,
    "max_calls": _at_most,
    "checks": names_of,
}
"""What a case may expect, in the order in which it is judged, and how each is read.

A reader gives the value in the form in which it is kept; it raises a ValueError that says what
the value must be.
"""


@frozen(eq=False)
class Row:
    """One row of a table, line of JSON or pattern: its values by column, and where they are."""

    source: Source
    span: Span
    values: Mapping[str, Json] = field(factory=dict)
    spans: Mapping[str, Span] = field(factory=dict)

    @property
    def place(self) -> str:
        """``file:line:col`` of the row."""
        return self.source.place(self.span.start)

    def fault(
        self, code: str, message: str, column: str | None = None, hint: str | None = None
    ) -> Diagnostic:
        """A fault at a column, or at the row itself; ``code`` names the rule."""
        span = self.spans.get(column, self.span) if column else self.span
        return Diagnostic(code, "error", message, span=span, hint=hint, source=self.source)


_BESIDE = ("name", "input", "attach", "after", "tags", "cluster", "program", "agent")
COLUMNS: Final = (*READERS, *_BESIDE)
"""The columns that have a meaning; all others are free."""


def _read(given: Any, attribute: Any) -> Any:
    """Reads an argument of `Case`; None stays None."""
    name = attribute.name.removesuffix("_")
    try:
        return None if given is None else READERS.get(name, names_of)(given)
    except ValueError as error:
        raise ArgumentError(f"Case: {name} {error}") from None


def _written(default: Any = None) -> Any:
    return field(default=default, converter=Converter(_read, takes_field=True))


def _conversation(messages: Iterable[machine.Message]) -> ConversationContext:
    return machine.conversation_of(messages, by="Case")


@frozen(kw_only=True, repr=False)
class Case:
    """One input for an agent, and what is expected of the run; `judge` compares them.

    >>> Case(name="greets", input="I am Al", expected="Hello, Al!", calls=["sayHello"])
    <Case greets: 'I am Al'; judged by expected, calls>

    What is None is not expected.

    Attributes:
        name: its name, which no other case of its file has.
        input: what is said to the agent: a text, or an object of arguments.
        attachments: the files that are attached to the input.
        after: the conversation that goes before it.
        expected: the answer that is expected: a text or another JSON value; `ANY_ANSWER` for any.
        contains: texts that the answer has.
        matches: regular expressions that are found in the answer.
        json: what the answer has as JSON: values by their paths.
        schema: the JSON Schema that the answer fits.
        calls: all tool calls that are expected, in their order: names of tools, or calls.
        judge: rubrics, by which an agent judges the run.
        not_: expectations by their names, of which none may hold; ``not`` in files.
        max_seconds: how long the run may take.
        max_tokens: how many tokens it may use.
        max_cost: what it may cost in US dollars.
        max_calls: how many calls of tools it may make.
        checks: the names of the user's functions that judge the run.
        tags: words by which cases are chosen.
        cluster: what it has in common with other cases, whose results are likely to be alike.
        columns: what else is written in the case, by name.
        program: the file of the program, or None if the file of cases names none.
        agent: the name of its agent, or None.
        row: the case as its file has it, or None; not compared.
    """

    name: str
    input: Json
    attachments: tuple[File, ...] = ()
    after: ConversationContext = field(default=empty_context, converter=_conversation)
    expected: Json = ANY_ANSWER
    contains: tuple[str, ...] | None = _written()
    matches: tuple[str, ...] | None = _written()
    json: Mapping[str, Json] | None = _written()
    schema: Mapping[str, Json] | None = _written()
    calls: tuple[ExpectedCall, ...] | None = _written()
    judge: tuple[str, ...] | None = _written()
    not_: Mapping[str, Any] | None = _written()
    max_seconds: float | None = _written()
    max_tokens: float | None = _written()
    max_cost: float | None = _written()
    max_calls: float | None = _written()
    checks: tuple[str, ...] = _written(())
    tags: tuple[str, ...] = _written(())
    cluster: str | None = None
    columns: Mapping[str, Json] = field(factory=dict)
    program: str | None = None
    agent: str | None = None
    row: Row | None = field(default=None, eq=False)

    def __repr__(self) -> str:
        judged = f"; judged by {', '.join(self.expectations)}" if self.expectations else ""
        return f"<Case {self.name}: {short_repr(self.input)}{judged}>"

    def __hash__(self) -> int:
        return hash(self.name)  # values of JSON have no hash

    @property
    def message(self) -> str:
        """What is said to the agent, as text; an object of arguments is written as JSON."""
        return self.input if isinstance(self.input, str) else write_json(self.input)

    def given_to(self, program: Pattern) -> machine.Given:
        """What a run of a program is begun with: an object of arguments if it declares some."""
        if isinstance(self.input, Mapping) and written_signature(program) is not None:
            return self.input
        return [self.message, *self.attachments] if self.attachments else self.message

    @property
    def beside(self) -> tuple[str, ...]:
        """What is given beside the input, as texts to compare: files, and messages before it."""
        files = (f"{each!r} {sha256(each.content or b'').hexdigest()}" for each in self.attachments)
        return (*files, *(f"{each.role}: {each.content}" for each in self.after))

    @property
    def expectations(self) -> dict[str, Any]:
        """What is expected, by the names of columns, in the order in which it is judged."""
        found = {name: getattr(self, "not_" if name == "not" else name) for name in READERS}
        found["checks"] = self.checks or None
        nothing = {"expected": ANY_ANSWER}
        return {name: value for name, value in found.items() if value is not nothing.get(name)}

    def named(self, name: str) -> list[tuple[str, Any]]:
        """What an expectation names, also where that may not be, each with its column."""
        unwanted = (self.not_ or {}).get(name, ())
        own = getattr(self, name) or ()
        return [*((name, each) for each in own), *(("not", each) for each in unwanted)]

    @property
    def rubrics(self) -> tuple[str, ...]:
        """All rubrics by which the run is judged, also those that may not hold."""
        return tuple(each for _, each in self.named("judge"))

    @property
    def has_expected(self) -> bool:
        """Whether a certain answer is expected."""
        return self.expected is not ANY_ANSWER

    @property
    def expects_nothing(self) -> bool:
        """Whether any answer passes."""
        return not self.expectations

    @property
    def place(self) -> str:
        """``file:line:col`` of the case; empty if it was not read from a file."""
        return self.row.place if self.row else ""

    def fault(self, code: str, message: str, column: str, hint: str | None = None) -> Diagnostic:
        """A fault of the case, at one of its columns; ``code`` names the rule."""
        if self.row:
            return self.row.fault(code, message, column, hint)
        return Diagnostic(code, "error", f"case {self.name}: {message}", hint=hint)
