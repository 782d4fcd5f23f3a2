"""A case: one input for an agent and what is expected of the run; and its row in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from attrs import field, frozen

from gram import ArgumentError, Diagnostic, Pattern, Source, Span
from lenses_ext.language import written_signature

from ...files import File
from ...json_text import Json, write_json
from ...machine import ConversationContext, Given, Message, conversation_of, empty_context
from ...shown import short_repr, shortened
from .expectations import ANY_ANSWER, READERS, ExpectedCall, names_of


@frozen(eq=False)
class Row:
    """One row of a table, line of JSON or pattern.

    Attributes:
        source: the text it is in.
        span: where it is.
        values: its values by column.
        spans: where the values are.
    """

    source: Source
    span: Span
    values: Mapping[str, Json]
    spans: Mapping[str, Span]

    @property
    def place(self) -> str:
        """``file:line:col`` of the row."""
        return self.source.place(self.span.start)

    def fault(
        self, code: str, message: str, column: str | None = None, hint: str | None = None
    ) -> Diagnostic:
        """A fault at a column, or at the row itself.

        Args:
            code: the name of the rule.
            message: what is wrong.
            column: the column that is wrong, or None.
            hint: how to mend it.
        """
        span = self.spans.get(column, self.span) if column else self.span
        return Diagnostic(code, "error", message, span=span, hint=hint, source=self.source)


_MOST_SHOWN: Final = 100  # characters of the calls in a repr


def _read(name: str, read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What reads an argument of `Case`; None stays None."""

    def convert(given: Any) -> Any:
        try:
            return None if given is None else read(given)
        except ValueError as error:
            raise ArgumentError(f"Case: {name} {error}") from None

    return convert


def _is_expected(name: str, value: Any) -> bool:
    if name == "expected":
        return value is not ANY_ANSWER
    return value is not None and (name != "checks" or bool(value))


def _written(name: str, default: Any = None) -> Any:
    return field(default=default, converter=_read(name, READERS.get(name, names_of)))


def _conversation(messages: Iterable[Message]) -> ConversationContext:
    return conversation_of(messages, by="Case")


@frozen(kw_only=True, repr=False)
class Case:
    """One input for an agent, and what is expected of the run; `judge` compares them.

    >>> Case(name="greets", input="I am Al", expected="Hello, Al!", calls=["sayHello"])
    <Case greets: 'I am Al'; expects 'Hello, Al!'; calls sayHello>

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
    contains: tuple[str, ...] | None = _written("contains")
    matches: tuple[str, ...] | None = _written("matches")
    json: Mapping[str, Json] | None = _written("json")
    schema: Mapping[str, Json] | None = _written("schema")
    calls: tuple[ExpectedCall, ...] | None = _written("calls")
    judge: tuple[str, ...] | None = _written("judge")
    not_: Mapping[str, Any] | None = _written("not")
    max_seconds: float | None = _written("max_seconds")
    max_tokens: float | None = _written("max_tokens")
    max_cost: float | None = _written("max_cost")
    max_calls: float | None = _written("max_calls")
    checks: tuple[str, ...] = _written("checks", ())
    tags: tuple[str, ...] = _written("tags", ())
    cluster: str | None = None
    columns: Mapping[str, Json] = field(factory=dict)
    program: str | None = None
    agent: str | None = None
    row: Row | None = field(default=None, eq=False)

    def __repr__(self) -> str:
        said = [short_repr(self.input)]
        for name, value in self.expectations.items():
            if name == "expected":
                said.append(f"expects {short_repr(value)}")
            elif name in ("calls", "checks"):
                each = ", ".join(map(str, value)) or "nothing"
                said.append(f"{name} {shortened(each, _MOST_SHOWN)}")
            else:
                said.append(f"{name} {short_repr(value)}")
        return f"<Case {self.name}: {'; '.join(said)}>"

    @property
    def message(self) -> str:
        """What is said to the agent, as text; an object of arguments is written as JSON."""
        return self.input if isinstance(self.input, str) else write_json(self.input)

    def given_to(self, program: Pattern) -> Given:
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
        return {name: value for name, value in found.items() if _is_expected(name, value)}

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
        """A fault of the case, at one of its columns.

        Args:
            code: the name of the rule.
            message: what is wrong.
            column: the column that is wrong.
            hint: how to mend it.
        """
        if self.row:
            return self.row.fault(code, message, column, hint)
        return Diagnostic(code, "error", f"case {self.name}: {message}", hint=hint)
