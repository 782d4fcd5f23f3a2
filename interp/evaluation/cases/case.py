"""A case: one input for an agent, and what is expected of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import field, frozen

from gram import Diagnostic, Pattern
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


@frozen(kw_only=True, repr=False)
class Case:
    """One input for an agent, and what is expected of the run; `judge` compares them.

    Attributes:
        name: its name, which no other case of its file has.
        input: what is said to the agent: a text, or an object of arguments.
        attachments: the files that are attached to the input.
        has_expected: whether a certain answer is expected.
        expected: that answer: a text or another JSON value.
        calls: all tool calls that are expected, in their order; None for any.
        checks: the names of the user's functions that judge the run.
        columns: what else is written in the case, by name.
        program: the file of the program, or None if the file of cases names none.
        agent: the name of its agent, or None.
        row: the case as its file has it, or None; not compared.
    """

    name: str
    input: Json
    attachments: tuple[File, ...] = ()
    has_expected: bool = False
    expected: Json = None
    calls: tuple[ExpectedCall, ...] | None = None
    checks: tuple[str, ...] = ()
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
