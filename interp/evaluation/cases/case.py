"""A case: one input for an agent, and what is expected of the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final

from attrs import field, frozen

from gram import ArgumentError, Diagnostic, Pattern
from lenses_ext.language import written_signature

from ...files import File
from ...json_text import Json, write_json
from ...machine import Given, call_text
from ...reprs import short_repr, shortened
from .row import Row

_MOST_SHOWN: Final = 100  # characters of the calls in a repr


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
        return self.name if self.arguments is None else call_text(self.name, self.arguments)


class _AnyAnswer(Enum):
    ANY_ANSWER = "any answer"


ANY_ANSWER: Final = _AnyAnswer.ANY_ANSWER
"""What a case expects that names no answer; None is an answer, the JSON null."""


def calls_of(given: object) -> tuple[ExpectedCall, ...]:
    """The calls that a case expects: names of tools, calls, and calls as JSON objects.

    Raises:
        ValueError: one is none of these.
    """
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise ValueError(f"must be an array, found {_shown(given)}; [] expects no calls")
    return tuple(map(_call, given))


def _call(given: object) -> ExpectedCall:
    if isinstance(given, ExpectedCall):
        return given
    if isinstance(given, str) and given.strip():
        return ExpectedCall(given)
    if isinstance(given, Mapping) and set(given) <= {"name", "arguments"}:
        name, arguments = given.get("name"), given.get("arguments")
        if isinstance(name, str) and name.strip() and isinstance(arguments, Mapping | None):
            return ExpectedCall(name, arguments)
    wanted = 'names of tools, or {"name": …, "arguments": {…}}'
    raise ValueError(f"must have {wanted}, found {_shown(given)}")


def names_of(given: object) -> tuple[str, ...]:
    """The names of checks: several, or one alone.

    Raises:
        ValueError: one is no name.
    """
    names = (given,) if isinstance(given, str) else given
    if isinstance(names, list | tuple) and all(isinstance(each, str) and each for each in names):
        return tuple(names)
    raise ValueError(f"must be an array of names, found {_shown(given)}")


def _shown(given: object) -> str:
    return shortened(
        repr(given) if isinstance(given, tuple | ExpectedCall) else write_json(given), 40
    )


def _expected_calls(given: object) -> tuple[ExpectedCall, ...] | None:
    try:
        return None if given is None else calls_of(given)
    except ValueError as error:
        raise ArgumentError(f"Case: calls {error}") from None


def _named_checks(given: object) -> tuple[str, ...]:
    try:
        return names_of(given)
    except ValueError as error:
        raise ArgumentError(f"Case: checks {error}") from None


@frozen(kw_only=True, repr=False)
class Case:
    """One input for an agent, and what is expected of the run; `judge` compares them.

    >>> Case(name="greets", input="I am Al", expected="Hello, Al!", calls=["sayHello"])
    <Case greets: 'I am Al'; expects 'Hello, Al!'; calls sayHello>

    Attributes:
        name: its name, which no other case of its file has.
        input: what is said to the agent: a text, or an object of arguments.
        attachments: the files that are attached to the input.
        expected: the answer that is expected: a text or another JSON value; `ANY_ANSWER` for any.
        calls: all tool calls that are expected, in their order: names of tools, or calls; None for
            any.
        checks: the names of the user's functions that judge the run.
        columns: what else is written in the case, by name.
        program: the file of the program, or None if the file of cases names none.
        agent: the name of its agent, or None.
        row: the case as its file has it, or None; not compared.
    """

    name: str
    input: Json
    attachments: tuple[File, ...] = ()
    expected: Json = ANY_ANSWER
    calls: tuple[ExpectedCall, ...] | None = field(default=None, converter=_expected_calls)
    checks: tuple[str, ...] = field(default=(), converter=_named_checks)
    columns: Mapping[str, Json] = field(factory=dict)
    program: str | None = None
    agent: str | None = None
    row: Row | None = field(default=None, eq=False)

    def __repr__(self) -> str:
        said = [short_repr(self.input)]
        if self.has_expected:
            said.append(f"expects {short_repr(self.expected)}")
        if self.calls is not None:
            calls = ", ".join(map(str, self.calls)) or "nothing"
            said.append(f"calls {shortened(calls, _MOST_SHOWN)}")
        if self.checks:
            said.append(f"checks {', '.join(self.checks)}")
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
    def has_expected(self) -> bool:
        """Whether a certain answer is expected."""
        return self.expected is not ANY_ANSWER

    @property
    def expects_nothing(self) -> bool:
        """Whether any answer passes."""
        return not self.has_expected and self.calls is None and not self.checks

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
