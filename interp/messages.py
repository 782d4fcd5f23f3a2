"""What is said in a conversation: messages with their roles, and the conversation itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias, Union, overload

from attrs import field, frozen
from attrs.validators import deep_iterable, instance_of
from pyrsistent import PVector, pvector

from .json_text import Json, read_json, write_json


@frozen
class Role:
    """Who says a message: the user or the assistant. The two values are below."""

    name: Literal["user", "assistant"]


UserRole = Role("user")
AssistantRole = Role("assistant")


@frozen
class FunctionRole:
    """A tool's answer; ``name`` is the tool's."""

    name: str


AnyRole: TypeAlias = Union[Role, FunctionRole]


@frozen
class ToolCall:
    """A model's request to call a tool.

    Attributes:
        id: the provider's name for the call; may be empty or repeated.
        name: the tool's name.
        arguments: the arguments as the model wrote them, JSON text if it did well.
        echo: what else its server wants back with the call, a JSON object's text; mostly None.
    """

    id: str = field(validator=instance_of(str))
    name: str = field(validator=instance_of(str))
    arguments: str = field(validator=instance_of(str))
    echo: str | None = None


def _calls(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    return tuple(calls)


@frozen(cache_hash=True)
class Message:
    """One thing said.

    Attributes:
        role: who says it.
        content: the text; ``""`` when a reply only calls tools.
        tool_calls: the calls an assistant's message asks for.
        call_id: in a tool's answer, the `ToolCall.id` it answers.
        refused: the model declines to answer, and ``content`` says so.
        echo: what else its server wants back with a reply that calls tools, such as its
            reasoning, a JSON object's text; mostly None.
    """

    role: AnyRole = field(validator=instance_of((Role, FunctionRole)))
    content: str = field(validator=instance_of(str))
    tool_calls: tuple[ToolCall, ...] = field(
        default=(), converter=_calls, validator=deep_iterable(instance_of(ToolCall))
    )
    call_id: str | None = None
    refused: bool = False
    echo: str | None = None


def _message(message: object) -> Message:
    if not isinstance(message, Message):
        raise TypeError(f"a conversation consists of messages, found {type(message).__name__}")
    return message


@frozen(init=False)
class ConversationContext(Sequence[Message]):
    """A conversation so far: an immutable sequence of messages, the oldest first.

    The agent's instruction is no part of it. ``+`` and `append` share what is there.

    >>> context = ConversationContext([Message(UserRole, "hi")])
    >>> len(context.append(Message(AssistantRole, "hello"))), len(context)
    (2, 1)
    """

    messages: PVector[Message]

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        kept = messages if isinstance(messages, PVector) else pvector(map(_message, messages))
        self.__attrs_init__(kept)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> ConversationContext: ...
    def __getitem__(self, index: int | slice) -> Message | ConversationContext:
        found = self.messages[index]
        return found if isinstance(found, Message) else ConversationContext(found)

    def __len__(self) -> int:
        return len(self.messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    def __add__(self, more: Iterable[Message]) -> ConversationContext:
        return ConversationContext(self.messages.extend(more))

    def append(self, message: Message) -> ConversationContext:
        """The conversation with one more message."""
        return ConversationContext(self.messages.append(message))


empty_context = ConversationContext()


@frozen
class Usage:
    """Tokens used. Models that do not say count as none."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        )


@frozen(init=False)
class ToolInvocation:
    """A tool call that was answered: by a result, or by an error told to the model.

    Args:
        tool_name: the tool that was called.
        args: the arguments it got, or those the model gave when they were refused.
        result: what it returned, a JSON value; None when there is an error.
        error: what went wrong; None when there is a result.
    """

    tool_name: str
    _args: str
    _result: str | None
    error: str | None

    def __init__(
        self, tool_name: str, args: Json, result: Json = None, error: str | None = None
    ) -> None:
        result_text = write_json(result) if error is None else None
        self.__attrs_init__(tool_name, write_json(args), result_text, error)

    @property
    def args(self) -> Json:
        """The arguments, a fresh copy."""
        return read_json(self._args)

    @property
    def result(self) -> Json:
        """The result, a fresh copy; None when there is an error."""
        return None if self._result is None else read_json(self._result)

    def __repr__(self) -> str:
        outcome = f"error={self.error!r}" if self.error is not None else f"result={self.result!r}"
        return f"ToolInvocation({self.tool_name!r}, {self.args!r}, {outcome})"


@frozen
class AgentResponse:
    """What a run of an agent gives.

    Attributes:
        content: the answer.
        tools_used: every tool call in the order of the calls.
        context: the conversation with this exchange; give it to the next run to go on.
        usage: the tokens of this run.
        is_typed: the program declares the type of its answer, and this is of it.
    """

    content: str
    tools_used: tuple[ToolInvocation, ...] = ()
    context: ConversationContext = empty_context
    usage: Usage = Usage()
    is_typed: bool = False

    @property
    def refused(self) -> bool:
        """Whether the answer is that the model declines."""
        return bool(self.context) and self.context[-1].refused

    @property
    def value(self) -> Json:
        """The answer as JSON, a fresh copy; None when the program declares no type for it."""
        return read_json(self.content) if self.is_typed else None
