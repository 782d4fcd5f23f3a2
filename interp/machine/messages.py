"""Messages, tool calls, conversations and responses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias, TypeVar, Union

from attrs import evolve, field, frozen

from gram import ArgumentError, counted, expect

from ..json_text import Json, JsonText, read_json, write_json
from ..reprs import short_repr, shortened
from .long_tuple import LongTuple
from .shown_calls import call_text

T = TypeVar("T")


def _is(*kinds: type) -> Callable[[Any, Any, Any], None]:
    """Make a validator of attrs that refuses values of other types."""

    def check(made: Any, attribute: Any, value: Any) -> None:
        if not isinstance(value, kinds):  # asked here too: messages are made all the time
            expect(value, kinds, attribute.name, by=type(made).__name__)

    return check


_NONE = type(None)
_TEXT = (str, _NONE)


@frozen
class Role:
    """The role of a message: `UserRole` or `AssistantRole`."""

    name: Literal["user", "assistant"]


UserRole = Role("user")
"""The role of what a user says."""
AssistantRole = Role("assistant")
"""The role of what a model says."""


@frozen
class FunctionRole:
    """The role of the result of a tool; ``name`` is the name of the tool."""

    name: str = field(validator=_is(str))


AnyRole: TypeAlias = Union[Role, FunctionRole]
_ROLES = (Role, FunctionRole)


@frozen
class ToolCall:
    """A model's request to call a tool.

    Attributes:
        id: the id that the provider gave the call; it may be empty or repeated.
        name: the tool's name.
        arguments: the text of the arguments as the model wrote it; it may be invalid JSON.
        echo: provider fields to send back with the call, the text of a JSON object, or None.
    """

    id: str = field(validator=_is(str))
    name: str = field(validator=_is(str))
    arguments: str = field(validator=_is(str), repr=short_repr)
    echo: str | None = field(default=None, validator=_is(str, _NONE), repr=False)


def _all(values: Iterable[T], kind: type[T], name: str, by: str) -> tuple[T, ...]:
    if type(values) is not tuple:  # asked here too: messages are made all the time
        expect(values, Iterable, name, by=by)
    found = tuple(values)
    for index, each in enumerate(found):
        if not isinstance(each, kind):
            expect(each, kind, f"{name}[{index}]", by=by)
    return found


def _calls(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    if type(calls) is tuple and not calls:  # as in most messages
        return calls
    return _all(calls, ToolCall, "tool_calls", "Message")


@frozen(cache_hash=True)
class Message:
    """A message of a conversation.

    Attributes:
        role: the role of the speaker.
        content: the text; ``""`` if a reply only calls tools.
        tool_calls: the tool calls of a message from the assistant.
        call_id: in the result of a tool, the `ToolCall.id` of its call.
        refused: whether the model refused to answer; ``content`` is its explanation.
        echo: provider fields to send back with a reply that calls tools, such as its
            reasoning: the text of a JSON object, or None.
        speaker: the name of the agent that said it, where a conversation is handed over between
            several; else None.

    Raises:
        ArgumentError: a part is of the wrong type.
    """

    role: AnyRole
    content: str
    tool_calls: tuple[ToolCall, ...] = field(default=(), converter=_calls)
    call_id: str | None = None
    refused: bool = False
    echo: str | None = None
    speaker: str | None = None

    def __attrs_post_init__(self) -> None:
        # all at once, which takes a fifth of six validators: messages are made all the time
        if not (
            isinstance(self.role, _ROLES)
            and isinstance(self.content, str)
            and (self.call_id is None or isinstance(self.call_id, str))
            and isinstance(self.refused, bool)
            and (self.echo is None or isinstance(self.echo, str))
            and (self.speaker is None or isinstance(self.speaker, str))
        ):
            kinds: dict[str, Any] = {"role": _ROLES, "content": str, "call_id": _TEXT}
            kinds |= {"refused": bool, "echo": _TEXT, "speaker": _TEXT}
            for name, kind in kinds.items():
                expect(getattr(self, name), kind, name, by="Message")

    def said_by(self, speaker: str) -> Message:
        """The same, said by an agent."""
        return evolve(self, speaker=speaker)

    def __repr__(self) -> str:
        calls = [call_text(call.name, call.arguments) for call in self.tool_calls]
        said = [repr(shortened(self.content, _MOST_SHOWN))] if self.content or not calls else []
        parts = [*said, *_listed(calls), *(["refused"] if self.refused else [])]
        who = f"{self.role.name} {self.speaker}" if self.speaker else self.role.name
        return f"<Message {who}: {', '.join(parts)}>"


@frozen(init=False, repr=False)
class ConversationContext(LongTuple[Message]):
    """A conversation so far: an immutable sequence of messages, the oldest first.

    The agent's instruction is not part of it. ``+`` and `append` do not copy the messages.

    Raises:
        ArgumentError: the argument is not an iterable of messages.

    >>> context = ConversationContext([Message(UserRole, "hi")])
    >>> len(context.append(Message(AssistantRole, "hello"))), len(context)
    (2, 1)
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        expect(messages, Iterable, "messages", by="ConversationContext")
        super().__init__(map(_message, messages))

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, the oldest first."""
        return tuple(self)

    def append(self, message: Message) -> ConversationContext:
        """The conversation with one more message."""
        return super().extend((_message(message),))

    def extend(self, messages: Iterable[Message]) -> ConversationContext:
        """The conversation with these messages behind it."""
        if type(messages) is not tuple:  # asked here too: messages are added all the time
            expect(messages, Iterable, "messages", by="ConversationContext.extend")
        return super().extend(map(_message, messages))

    def __add__(self, more: Iterable[Message]) -> ConversationContext:
        return self.extend(more)

    def __repr__(self) -> str:
        last = f", last: {self[-1]!r}" if self else ""
        return f"<ConversationContext of {counted(len(self), 'message')}{last}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from .. import conversation_form  # only needed in notebooks

        return conversation_form(self)


def _message(message: Message) -> Message:
    if not isinstance(message, Message):  # asked here too: messages are added all the time
        expect(message, Message, "a message", by="ConversationContext")
    return message


empty_context = ConversationContext()
"""A conversation without messages."""


@frozen
class Usage:
    """The numbers of tokens used; None if the model does not report them.

    >>> Usage(10, 5) + Usage(3, 1), (Usage(10, 5) + Usage()).total_tokens
    (Usage(input_tokens=13, output_tokens=6), None)
    """

    input_tokens: int | None = field(default=None, validator=_is(int, _NONE))
    output_tokens: int | None = field(default=None, validator=_is(int, _NONE))

    @property
    def total_tokens(self) -> int | None:
        """The sum of input and output tokens; None if one of them is unknown."""
        return _sum(self.input_tokens, self.output_tokens)

    def to_json(self) -> dict[str, int | None]:
        """The numbers as a JSON object; null for what is unknown."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "total_tokens": self.total_tokens,
        }

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
        )


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


@frozen(init=False)
class ToolInvocation:
    """A finished tool call: with its result, or with the error that was sent to the model.

    JSON is kept as text; `of_texts` makes an invocation from such texts.

    Args:
        tool_name: the name of the tool.
        args: the arguments of the call; if they were refused, those that the model wrote.
        result: the result, a JSON value; None if there is an error.
        error: the error message; None if there is a result.
        agent_name: the agent or workflow that made the call; "" if it is not known.
        at: the position of the call in its run; () if it is not known. Neither who called nor
            where is compared: equal calls with equal answers are equal.

    Attributes:
        args_text: the arguments as JSON text.
        result_text: the result as JSON text; None if there is an error.
        exception: the exception of the tool, or None; it is not compared and not pickled.
    """

    tool_name: str
    args_text: JsonText
    result_text: JsonText | None
    error: str | None
    exception: BaseException | None = field(default=None, eq=False)
    agent_name: str = field(default="", eq=False)
    at: tuple[int | str, ...] = field(default=(), eq=False)

    def __init__(
        self,
        tool_name: str,
        args: Json,
        result: Json = None,
        error: str | None = None,
        *,
        agent_name: str = "",
        at: tuple[int | str, ...] = (),
    ) -> None:
        expect(tool_name, str, "tool_name", by="ToolInvocation")
        expect(error, (str, _NONE), "error", by="ToolInvocation")
        expect(agent_name, str, "agent_name", by="ToolInvocation")
        expect(at, tuple, "at", by="ToolInvocation")
        result_text = write_json(result) if error is None else None
        self.__attrs_init__(tool_name, write_json(args), result_text, error, None, agent_name, at)

    @classmethod
    def of_texts(
        cls,
        tool_name: str,
        args: str,
        result: str | None = None,
        error: str | None = None,
        exception: BaseException | None = None,
        *,
        agent_name: str = "",
        at: tuple[int | str, ...] = (),
    ) -> ToolInvocation:
        """Make an invocation from arguments and a result that are JSON text; see the class.

        Raises:
            ArgumentError: an argument is of the wrong type, or there is not exactly one of result
                and error.
            NotJson: a text is not JSON.
        """
        for name, value, kind in (
            ("tool_name", tool_name, str),
            ("args", args, str),
            ("result", result, _TEXT),
            ("error", error, _TEXT),
            ("agent_name", agent_name, str),
            ("at", at, tuple),
        ):
            if not isinstance(value, kind):  # asked here too: calls are answered all the time
                expect(value, kind, name, by="ToolInvocation")
        if (result is None) == (error is None):
            raise ArgumentError("a ToolInvocation must have either a result or an error")
        made = cls.__new__(cls)
        result_text = None if result is None else JsonText.read(result)
        parts = (tool_name, JsonText.read(args), result_text, error, exception)
        made.__attrs_init__(*parts, agent_name, at)
        return made

    def made_by(self, agent_name: str, at: tuple[int | str, ...]) -> ToolInvocation:
        """The same call, made by an agent or workflow at a position of a run."""
        if (agent_name, at) == (self.agent_name, self.at):
            return self
        expect(agent_name, str, "agent_name", by="made_by")
        expect(at, tuple, "at", by="made_by")
        made = type(self).__new__(type(self))
        answer = (self.result_text, self.error, self.exception)
        made.__attrs_init__(self.tool_name, self.args_text, *answer, agent_name, at)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.tool_name, self.args_text, self.result_text, self.error)
        return _unpickled, (*parts, self.agent_name, self.at)

    @property
    def args(self) -> Json:
        """The arguments, a fresh copy."""
        return self.args_text.value

    @property
    def result(self) -> Json:
        """The result, a fresh copy; None if there is an error."""
        return None if self.result_text is None else self.result_text.value

    def __repr__(self) -> str:
        outcome = f"-> {self.result_text}"
        if self.error is not None:
            outcome = f"error={short_repr(self.error)}"
        call = shortened(call_text(self.tool_name, self.args), _MOST_SHOWN)
        return f"<ToolInvocation {call} {shortened(outcome, 100)}>"


def _unpickled(
    tool_name: str,
    args: str,
    result: str | None,
    error: str | None,
    agent_name: str,
    at: tuple[int | str, ...],
) -> ToolInvocation:
    of_texts = ToolInvocation.of_texts
    return of_texts(tool_name, args, result, error, agent_name=agent_name, at=at)


_MOST_SHOWN = 80  # characters of a text, and calls, in a repr
_MOST_CALLS = 5


def _listed(calls: list[str]) -> list[str]:
    """The first of some calls, shortened, and how many there are beside them."""
    shown = [shortened(call, _MOST_SHOWN) for call in calls[:_MOST_CALLS]]
    more = len(calls) - len(shown)
    return [*shown, f"… {counted(more, 'more call')}"] if more else shown


def _invocations(invocations: Iterable[ToolInvocation]) -> tuple[ToolInvocation, ...]:
    return _all(invocations, ToolInvocation, "tools_used", "AgentResponse")


@frozen
class AgentResponse:
    """The response of an agent: the result of a run.

    Attributes:
        content: the answer.
        tools_used: all tool calls, in the order of the calls: of an agent its own, of a workflow
            those of its tools and agents, by the order of rounds, nodes and items.
        context: the conversation including this exchange; pass it to the next run to continue.
        usage: the tokens used by this run.
        is_typed: whether the answer is JSON of the type that the program declares.
        truncated: whether the answer was cut off at its length limit or at the end of the context.
        unfinished: whether a loop of a workflow was out of rounds before its end was said; the
            answer is what its last round gave.
    """

    content: str = field(validator=_is(str))
    tools_used: tuple[ToolInvocation, ...] = field(default=(), converter=_invocations)
    context: ConversationContext = field(default=empty_context, validator=_is(ConversationContext))
    usage: Usage = field(default=Usage(), validator=_is(Usage))
    is_typed: bool = field(default=False, validator=_is(bool))
    truncated: bool = field(default=False, validator=_is(bool))
    unfinished: bool = field(default=False, validator=_is(bool))

    @property
    def refused(self) -> bool:
        """Whether the model refused to answer."""
        return bool(self.context) and self.context[-1].refused

    @property
    def value(self) -> Json:
        """The answer as a JSON value, a fresh copy; None if the program declares no type for it."""
        return read_json(self.content) if self.is_typed else None

    def __repr__(self) -> str:
        calls = [call_text(each.tool_name, each.args) for each in self.tools_used]
        said = [repr(shortened(self.content, _MOST_SHOWN)), *_listed(calls)]
        flags = [name for name in ("refused", "truncated", "unfinished") if getattr(self, name)]
        return f"<AgentResponse {', '.join([*said, *flags])}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from .. import conversation_form  # only needed in notebooks

        return conversation_form(self)
