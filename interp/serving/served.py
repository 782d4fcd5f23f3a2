"""An agent or workflow that is served: how a run of it begins, or goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Protocol, cast

from attrs import frozen

from gram import Pattern
from lenses_ext import tool_spec_schema, view
from lenses_ext.language import tool_spec_of, written_signature

from ..execution import Approver
from ..history.records import RecordedRun
from ..history.stores import StoredRun, open_store
from ..json_text import Json, json_or_text, read_json
from ..machine import AgentResponse, Ask, Decided, Given, State, Status, Usage
from ..running import BeginOptions, Run, RunOptions, begin
from ..tools import ToolLibrary
from .asked import Asked
from .doors import RefusedError

_NOT_IN_STATES: Final = (
    *("model", "base_url", "dialect", "match"),
    *("on_tool_error", "telemetry", "observe"),
)
"""The options that a run is given again where it goes on; a model only if the State names none."""


@frozen
class Served:
    """An agent or workflow that is served.

    Attributes:
        program: its pattern.
        library: its tools.
        options: how it is run.
    """

    program: Pattern
    library: ToolLibrary
    options: BeginOptions

    def given(self, said: Given) -> Given:
        """What it is begun with: the arguments, where a text is a JSON object of these."""
        if not isinstance(said, str) or written_signature(self.program) is None:
            return said
        value = json_or_text(said)
        names = view(tool_spec_schema, tool_spec_of(self.program)).get("properties", {})
        is_arguments = isinstance(value, dict) and bool(value) and value.keys() <= names.keys()
        return cast(Given, value) if is_arguments else said

    def begun(self, asked: Asked, record: str | None) -> Run | State:
        """Begin a run, or take up one that waited; a State is of one that waits or has ended.

        Args:
            asked: what the client says.
            record: the store that the run is kept in, or None.

        Raises:
            AgentError, OSError: the run cannot begin.
        """
        options: BeginOptions = {**self.options, "record": record}
        if asked.conversation is None:
            given, context = self.given(asked.said), asked.messages[:-1]
            return begin(self.program, given, self.library, context, **options)
        if record is None:
            raise RefusedError(
                "conversations are not kept here: the server was started without --record",
                code="unsupported",
                param="conversation",
            )
        if (waited := self._waited(record, asked.conversation)) is not None:
            return waited
        options["conversation"] = asked.conversation
        return begin(self.program, self.given(asked.said_since), self.library, **options)

    def called(self, arguments: Mapping[str, Json], record: str | None) -> Run:
        """Begin a run as a call of a tool; see `begun`."""
        options: BeginOptions = {**self.options, "record": record}
        return begin(self.program, arguments, self.library, **options)

    def decided(self, run: str, approve: Approver, record: str) -> Run | State:
        """Go on with a kept run, where a person may have decided about the calls that wait.

        Args:
            run: its id.
            approve: what was decided about a call.
            record: the store that it is kept in.

        Raises:
            AgentError, OSError: the run cannot go on.
        """
        with open_store(record) as store:
            log, kept = StoredRun.of(store, run, closes_store=True)
        if kept.state.status is Status.DONE:
            return kept.state
        return self._going_on(log, kept, approve)

    def _waited(self, record: str, conversation: str) -> Run | State | None:
        """The last turn of a conversation, if it waits for a person or one has decided since."""
        with open_store(record) as store:
            run = store.conversation(conversation).unfinished_turn()
            if run is None:
                return None
            log, kept = StoredRun.of(store, run, closes_store=True)
        last = kept.state.events[-2:]
        if kept.state.asks or kept.state.status is Status.DONE:
            return kept.state
        if not any(isinstance(each, Decided) for each in last):
            return None  # it failed or was cut; a new turn has what was done in it
        return self._going_on(log, kept)

    def _going_on(self, log: StoredRun, kept: RecordedRun, approve: Approver | None = None) -> Run:
        options = {name: each for name, each in self.options.items() if name in _NOT_IN_STATES}
        if kept.state.model or not options.get("model"):
            options.pop("model", None)
        options |= {"record": log, "approve": approve}
        return Run(kept.state, self.library, **cast(RunOptions, options))


@frozen
class Answer:
    """What a client gets at the end.

    Attributes:
        text: the answer: a text, or JSON where the program declares a type.
        usage: the tokens of the run.
        is_cut: whether it was cut off at its length limit.
        is_refusal: whether the model refused, and the text says why.
        is_json: whether the text is JSON: a value of a type that the program declares.
        asks: the calls that wait for a person; the text says so.
    """

    text: str
    usage: Usage = Usage(0, 0)
    is_cut: bool = False
    is_refusal: bool = False
    is_json: bool = False
    asks: tuple[Ask, ...] = ()

    @classmethod
    def of(cls, response: AgentResponse) -> Answer:
        """The answer that a run has given."""
        is_json = response.is_typed and not response.is_text
        return cls(response.content, response.usage, response.truncated, response.refused, is_json)

    @property
    def value(self) -> Json:
        """The answer as a JSON value."""
        return read_json(self.text) if self.is_json else self.text


class Reply(Protocol):
    """Writes what a client sees of a run while it goes on, as texts that are sent to it."""

    def begun(self) -> Iterator[str]:
        """The run has begun."""

    def said(self, text: str) -> Iterator[str]:
        """The model says some words."""

    def parted(self) -> Iterator[str]:
        """What was said is not all: calls of tools come, or another answer."""

    def watched(self, kind: str, fields: dict[str, Json]) -> Iterator[str]:
        """A tool or an agent inside was called, or has answered."""
