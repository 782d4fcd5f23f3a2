"""The state of a run: one frozen value that can be compared, pickled and resumed.

It holds the agent's pattern itself, which the machine reads through lenses at every turn.
"""

from __future__ import annotations

from enum import Enum
from operator import attrgetter
from typing import Any, Final

from attrs import field, fields, frozen
from pyrsistent import PMap, PVector, pmap, pvector

from gram import Pattern, Value
from lenses_ext import Memo, Model, Settings, agent_settings, view

from ..messages import ConversationContext, ToolCall, ToolInvocation, Usage
from .approval import ApprovalPolicy, allow_all
from .effects import Ask, At, CallTool
from .limits import Limits


class Status(Enum):
    """What a run waits for."""

    AWAITING_MODEL = "awaiting the model's reply"
    AWAITING_TOOLS = "awaiting tools"
    DONE = "done"
    LIMITED = "stopped at a limit"
    UNUSABLE = "stopped at an answer that is not of the declared type"


@frozen
class State:
    """One moment of a run.

    Attributes:
        agent: the program, a pattern.
        model: the model to ask; None for the one the program names.
        limits: how much the run may do.
        context: the conversation so far.
        policy: which tools it may run, and which it asks about.
        status: what it waits for.
        turn: how many times the model has been asked before; the first part of a position.
        calls: the tool calls of this turn, in the order of the reply.
        truncated: the last reply was cut off at its length limit, so none of its calls is run.
        waiting: the effects of these calls that are not answered yet, by index: to be run, or
            to be asked about first.
        answers: the invocations of the calls that are answered, by index.
        invocations: the invocations of the turns before.
        usage: the tokens so far, unknown once a reply did not say.
        counted: the tokens that replies have reported, which the limits are about.
        stopped: which limit was reached, or what is wrong with the answer, or None. Where the
            model is still awaited, it is asked for a last answer without tools.
        settings: settings of the model instead of those that the program has; None leaves out.
        corrected: the model has been told what was wrong with its answer.
        check_results: whether results have to be of the types that the program declares.
        run_id: a name for the run, drawn by whoever begins it; it makes the keys of tool calls
            differ between runs. It is not compared: two runs may end in equal States.
    """

    agent: Pattern
    model: Model | None
    limits: Limits
    context: ConversationContext
    policy: ApprovalPolicy = allow_all
    status: Status = Status.AWAITING_MODEL
    turn: int = 0
    calls: tuple[ToolCall, ...] = ()
    truncated: bool = False
    waiting: PMap[int, CallTool | Ask] = field(factory=pmap)
    answers: PMap[int, ToolInvocation] = field(factory=pmap)
    invocations: PVector[ToolInvocation] = field(factory=pvector)
    usage: Usage = Usage(0, 0)
    counted: Usage = Usage(0, 0)
    stopped: str | None = None
    settings: PMap[str, Value | None] = field(factory=pmap)
    corrected: bool = False
    check_results: bool = True
    run_id: str = field(default="", eq=False)

    def __repr__(self) -> str:
        name = self.agent.value.identity
        calls = len(self.invocations) + len(self.answers)
        parts = [self.status.value, f"turn {self.turn}", f"{calls} calls"]
        stopped = [self.stopped] if self.stopped else []
        return f"<State of {name}: {', '.join([*parts, *stopped])}>"

    def changed(self, **changes: Any) -> State:
        """The same with other parts; `attrs.evolve` takes five times as long."""
        parts = list(_PARTS(self))
        for name, part in changes.items():
            parts[_PLACES[name]] = part
        return State(*parts)

    @property
    def at(self) -> At:
        """The position of this turn."""
        return (self.turn,)

    @property
    def model_settings(self) -> Settings:
        """The settings that hold: the program's, changed by those of the run."""
        of_the_agent = _settings(self.agent)
        return of_the_agent.with_changes(self.settings) if self.settings else of_the_agent

    @property
    def asks(self) -> tuple[Ask, ...]:
        """The calls that wait for approval, in the order of the calls."""
        waiting = (self.waiting[index] for index in sorted(self.waiting))
        return tuple(each for each in waiting if isinstance(each, Ask))


_NAMES: Final = tuple(each.name for each in fields(State))
_PARTS: Final = attrgetter(*_NAMES)
_PLACES: Final = {name: place for place, name in enumerate(_NAMES)}

_settings: Memo[Pattern, Settings] = Memo(lambda agent: view(agent_settings, agent) or Settings())
