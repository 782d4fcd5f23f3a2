"""What the machine asks of handlers, and what these answer: effects and events, both data.

Each says by its position where in the run it belongs: ``at`` is a path. The request of the third
turn is at ``(2,)``, the first call of its reply at ``(2, 0)``. An event answers the effect at the
same position. Positions never depend on the order in which tools finish, on a clock or on the
provider's ids, which may be missing or repeated. What is about the whole run is at ``()``.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias, Union

from attrs import field, frozen
from pyrsistent import PMap, pmap

from gram import Pattern, Value
from lenses_ext import Model, SettingError, Settings

from ..errors import ValidationError
from ..files import File
from ..json_text import Json, read_json
from ..shown import short_repr
from .approval import ApprovalPolicy
from .messages import ConversationContext, Message, Usage
from .run_context import Limits

At: TypeAlias = tuple[Union[int, str], ...]
"""A position in a run: the turn, and for a call its index in the reply.

What is inside an agent or workflow that was called begins with the place of the call, what is
inside a node of a workflow with the node's name, in a loop with the number of the round before."""


@frozen
class Request:
    """What a model is asked.

    Attributes:
        model: which model is asked.
        agent: the name of the agent that asks; the model is not told it.
        fallbacks: the other models that the program names, asked in turn where it cannot be.
        instruction: what the agent is told to do.
        messages: the conversation, without the instruction.
        tools: the specifications of the tools it may call; see `interp.models` for their JSON.
        settings: settings of the model; empty when the provider's defaults hold.
        answer: the type that the answer has to be of, see `lenses_ext.answer`; None for any text.
    """

    model: Model
    instruction: str = field(repr=short_repr)
    messages: ConversationContext
    tools: tuple[Pattern, ...] = field(default=(), repr=short_repr)
    settings: Settings = Settings()
    answer: Pattern | None = None
    fallbacks: tuple[Model, ...] = ()
    agent: str = ""


@frozen
class CallModel:
    """Ask the model.

    Attributes:
        at: the position of the turn.
        request: what it is asked.
        is_for_summary: it is asked for a summary of the conversation, which nobody is shown.
    """

    at: At
    request: Request
    is_for_summary: bool = False


@frozen
class ToolEffect:
    """A call of a tool; ``arguments`` is JSON text, checked against the tool's schema."""

    at: At
    name: str
    arguments: str = field(repr=short_repr)

    @property
    def args(self) -> dict[str, Json]:
        """The arguments, a fresh copy."""
        found: dict[str, Json] = read_json(self.arguments)
        return found


@frozen
class CallTool(ToolEffect):
    """Run a tool.

    Attributes:
        has_begun: whether it is known to have begun, and may not be repeated; see `CallBegun`.
    """

    has_begun: bool = False


@frozen
class Ask(ToolEffect):
    """Ask whether a tool may be run; it becomes a `CallTool` when it may.

    Attributes:
        may_have_run: the call had begun when the run ended, so that it may have run already.
    """

    may_have_run: bool = False


@frozen
class ModelReplied:
    """The model's reply.

    Attributes:
        at: the position of the request.
        message: what the model said and which tools it calls.
        usage: the tokens it used, unknown when the model does not say.
        truncated: the reply was cut off at its length limit, so its calls may be incomplete.
        finish_reason: why the model stopped, in its provider's word; "" if it does not say.
        served_model: the model that replied, as its provider names it; "" if it does not say.
        server: the address of the server that replied, if it is not the provider's own.
        reasoning: what the model showed of its reasoning, or a summary of it; often "".
        model: the model that replied, if it is not the one of the request; else None.
        tried: those asked before it, each with the reason why it gave no reply, in order.
        cost: what the reply cost in US dollars, where costs are limited; else None.
    """

    at: At
    message: Message
    usage: Usage = Usage()
    truncated: bool = False
    finish_reason: str = ""
    served_model: str = ""
    server: str = ""
    reasoning: str = field(default="", repr=short_repr)
    model: Model | None = None
    tried: tuple[tuple[Model, str], ...] = ()
    cost: Decimal | None = None


@frozen
class CallBegun:
    """The call of a tool begins that may run only once.

    A run that is gone on with asks before such a call is made again: it may have run.
    """

    at: At


@frozen
class ToolReturned:
    """A tool's result, as JSON text.

    Attributes:
        at: the position of the call.
        result: the result.
        files: the files in it; the result says in words where each of them was.
    """

    at: At
    result: str = field(repr=short_repr)
    files: tuple[File, ...] = ()


@frozen
class CallFailed:
    """A tool call that gave no result.

    Attributes:
        at: the position of the call.
        error: what went wrong, told to the model.
        exception: what the tool raised, for programs that look; not compared and not pickled.
    """

    at: At
    error: str = field(repr=short_repr)
    exception: BaseException | None = field(default=None, eq=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return CallFailed, (self.at, self.error)  # not every exception can be pickled


@frozen
class Decided:
    """Whether a tool that was asked about may be run; the model is told ``reason`` when not.

    Attributes:
        at: the position of the question.
        allowed: whether it may.
        reason: why not.
    """

    at: At
    allowed: bool
    reason: str = ""


@frozen
class TimeUp:
    """The time of the run is up. Whoever drives it keeps the clock."""

    at: At = ()


@frozen
class CostReached:
    """There is no money for another request. Whoever drives the run knows what it may cost.

    Attributes:
        expected: what the next request may cost, in US dollars.
        at: the whole run.
    """

    expected: Decimal
    at: At = ()


def checked_settings(settings: Mapping[str, Any] | None) -> PMap[str, Value | None] | None:
    """Settings as a State keeps them: checked, immutable, None for those to leave out.

    Raises:
        ValidationError: a setting is unknown, or has a value that it cannot have.
    """
    if settings is None:
        return None
    if not isinstance(settings, Mapping):
        raise ValidationError(f"settings is a Mapping, found {type(settings).__name__}")
    try:
        given = Settings().with_changes(settings)
    except SettingError as error:
        raise ValidationError(str(error)) from None
    return pmap({key: given.get(key) for key in settings})


@frozen
class Resumed:
    """The caller goes on with a run, past the limit where it stopped, and may change it.

    Attributes:
        limits: how much the run may do from now on.
        model: the model to ask from now on.
        policy: which tools it may run, and which it asks about; it also decides about calls that
            wait for approval.
        settings: settings of the model to change; None as a value leaves one out.
        check_results: whether results have to be of the types that the program declares.
        at: the whole run.

    What is None stays as it was. Calls that have begun and may run only once are asked about.

    Raises:
        ValidationError: a setting is unknown, or has a value that it cannot have.
    """

    limits: Limits | None = None
    model: Model | None = None
    policy: ApprovalPolicy | None = None
    settings: PMap[str, Value | None] | None = field(default=None, converter=checked_settings)
    check_results: bool | None = None
    at: At = ()


Effect: TypeAlias = Union[CallModel, CallTool, Ask]
"""What a run needs done before it can go on."""
Event: TypeAlias = Union[
    ModelReplied, CallBegun, ToolReturned, CallFailed, Decided, TimeUp, CostReached, Resumed
]
"""What changes the state of a run."""
