"""Trials: one run of one case through one arm, and what was measured of it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, TypeAlias, Union

from attrs import asdict, field, frozen

from ...history.stores import Address
from ...json_text import Json, write_json
from ...machine import AgentResponse, ConversationContext, State, ToolInvocation, Usage
from ...shown import short_repr
from ..cases import Case
from .entries import texts

Value: TypeAlias = Union[float, bool, None]


def _usage(given: Any) -> Any:
    return Usage(**given) if isinstance(given, Mapping) else given


@frozen
class Score:
    """What a metric says of a trial.

    Attributes:
        value: a number, or yes or no; None if there is none.
        problem: why there is none or the answer is no, or None.
        usage: the tokens that the judge took who says so, or None without one.
        cost: what they cost in US dollars, or None.
    """

    value: Value
    problem: str | None = None
    usage: Usage | None = field(default=None, converter=_usage)
    cost: float | None = None


@frozen(kw_only=True)
class Trial:
    """One run of one case through one arm.

    Attributes:
        arm: the name of the arm.
        case: the case.
        repeat: which run of the case it is, from 0.
        failure: why the run failed, or None.
        content: the answer; empty if the run failed.
        calls: how many tools were called.
        rounds: how often the model was asked.
        usage: the tokens; unknown if a reply did not say.
        cost: what they cost in US dollars, or None if that is unknown.
        seconds: how long the run took.
        models: the models that answered, as their providers name them.
        fingerprint: the same for runs that said and did the same.
        run: the address of the run that is recorded, or None.
        scores: what each metric says of it.
        response: the response, or None if the run failed or was read from a folder.
        state: where the run ended, or None if it was read from a folder.
    """

    arm: str
    case: Case
    repeat: int
    failure: str | None = None
    content: str
    calls: int
    rounds: int
    usage: Usage = field(converter=_usage)
    cost: float | None = None
    seconds: float
    models: tuple[str, ...] = field(default=(), converter=texts)
    fingerprint: str = ""
    run: Address | None = None
    scores: Mapping[str, Score] = field(factory=dict)
    response: AgentResponse | None = field(default=None, eq=False, repr=False)
    state: State | None = field(default=None, eq=False, repr=False)

    def __repr__(self) -> str:
        failed, said = self.failure is not None, short_repr(self.failure or self.content)
        number = f" ({self.repeat + 1})" if self.repeat else ""
        told = f"{'failed: ' if failed else ''}{said}"
        return f"<Trial of {self.arm}, {self.case.name}{number}: {told}>"

    @property
    def tools_used(self) -> tuple[ToolInvocation, ...]:
        """The tool calls of a run that did not fail, as `AgentResponse` has them."""
        return self.response.tools_used if self.response else ()

    @property
    def value(self) -> Json:
        """The answer as a JSON value, as `AgentResponse` has it."""
        return self.response.value if self.response else None

    def to_json(self) -> dict[str, Json]:
        """The trial as JSON, with the id of its run; the folder of an experiment keeps it so."""
        told = asdict(self, recurse=False, filter=lambda each, _: each.name not in _NOT_TOLD)
        return told | {
            "case": self.case.name,
            "usage": asdict(self.usage),
            "run": self.run and self.run.run,
            "scores": {name: asdict(score) for name, score in self.scores.items()},
        }

    @property
    def key(self) -> tuple[str, int, str]:
        """Which trial of the plan it is."""
        return self.case.name, self.repeat, self.arm


_NOT_TOLD = ("response", "state")


def fingerprint(context: ConversationContext) -> str:
    """A short text that is the same for conversations that say and do the same."""
    said = [
        [
            each.role.name,
            each.content,
            each.refused,
            [[call.name, call.arguments] for call in each.tool_calls],
        ]
        for each in context
    ]
    text = write_json(said) if said else ""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
