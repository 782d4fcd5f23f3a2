"""Messages, tool calls, conversations and responses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Self, TypeAlias, TypeVar, Union
from unicodedata import east_asian_width

from attrs import asdict, field, frozen

from gram import ArgumentError
from gram.errors import expect, expect_all
from gram.words import counted

from ..errors import ValidationError
from ..files import File
from ..json_text import Json, JsonText, read_json, write_json
from ..shown import NOTEBOOK, short_repr, shortened, visible_text
from .long_tuple import LongTuple

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    V_co = TypeVarWithDefault("V_co", covariant=True, default=Any)
else:
    V_co = TypeVar("V_co", covariant=True)


def _is(*kinds: type) -> Callable[[Any, Any, Any], None]:
    """Make a validator of attrs that refuses values of other types."""

    def check(made: Any, attribute: Any, value: Any) -> None:
        expect(value, kinds, attribute.name, by=type(made).__name__)

    return check


def _is_name(made: Any, attribute: Any, value: Any) -> None:
    by = type(made).__name__
    expect(value, str, attribute.name, by=by)
    if not value:
        raise ArgumentError(f"{by} needs the name of a tool, found {value!r}")


_NONE = type(None)


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
    """The role of the result of a tool; ``name`` is the name of the tool, which is not empty."""

    name: str = field(validator=_is_name)


MessageRole: TypeAlias = Union[Role, FunctionRole]
"""The role of a message: `UserRole`, `AssistantRole` or a `FunctionRole`."""


@frozen
class ToolCall:
    """A model's request to call a tool.

    Attributes:
        id: the id that the provider gave the call; it may be empty or repeated.
        name: the tool's name; not empty.
        arguments: the text of the arguments as the model wrote it; it may be invalid JSON.
        echo: provider fields to send back with the call, the text of a JSON object, or None.
    """

    id: str = field(validator=_is(str))
    name: str = field(validator=_is_name)
    arguments: str = field(validator=_is(str), repr=short_repr)
    echo: str | None = field(default=None, validator=_is(str, _NONE), repr=False)


def _attachments(files: Iterable[File]) -> tuple[File, ...]:
    return expect_all(files, File, "attachments", by="Message")


def _calls(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    return expect_all(calls, ToolCall, "tool_calls", by="Message")


def _plain(text: str) -> str:
    """A text without the class of somebody's own, as an enum has it: schemas take plain texts."""
    return str.__str__(text) if isinstance(text, str) else text


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
        summary: the conversation up to this message in short, where that is sent from then on in
            the place of it; else None.
        attachments: the files that a user attached to it, or that a tool returned.

    Raises:
        ArgumentError: a part is of the wrong type.
    """

    role: MessageRole = field(validator=_is(Role, FunctionRole))
    content: str = field(converter=_plain, validator=_is(str))
    tool_calls: tuple[ToolCall, ...] = field(default=(), converter=_calls)
    call_id: str | None = field(default=None, validator=_is(str, _NONE))
    refused: bool = field(default=False, validator=_is(bool))
    echo: str | None = field(default=None, validator=_is(str, _NONE))
    speaker: str | None = field(default=None, validator=_is(str, _NONE))
    summary: str | None = field(default=None, validator=_is(str, _NONE))
    attachments: tuple[File, ...] = field(default=(), converter=_attachments, kw_only=True)

    def __repr__(self) -> str:
        calls = [call_text(call.name, call.arguments) for call in self.tool_calls]
        said = [repr(shortened(self.content, _MOST_SHOWN))] if self.content or not calls else []
        files = map(repr, self.attachments)
        parts = [*said, *_listed(calls), *files, *(["refused"] if self.refused else [])]
        who = f"{self.role.name} {self.speaker}" if self.speaker else self.role.name
        return f"<Message {who}: {', '.join(parts)}>"


Given: TypeAlias = Union[str, Mapping[str, Any], Sequence[Union[str, File]]]
"""What an agent or workflow is called with: a text for its only parameter, a list of one text and
files for an agent that reads them, or the arguments."""


def parts_of(given: Given) -> tuple[str | Mapping[str, Any], tuple[File, ...]]:
    """The text or the arguments, and the files that are attached to it.

    Raises:
        ValidationError: a list has something else than texts and files, or not one text.
    """
    if isinstance(given, str | Mapping):
        return given, ()
    texts = [each for each in given if isinstance(each, str)]
    files = tuple(each for each in given if isinstance(each, File))
    if len(texts) != 1 or len(files) + 1 != len(given):
        found = ", ".join(type(each).__name__ for each in given) or "nothing"
        raise ValidationError(
            f"a message is one text, and files that it is about; found {found}\n"
            '  hint: ["What is this?", File("chart.png")]'
        )
    return texts[0], files


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

    def extend(self, messages: Iterable[Message]) -> Self:
        """The conversation with these messages behind it."""
        expect(messages, Iterable, "messages", by="ConversationContext.extend")
        return super().extend(map(_message, messages))

    def __add__(self, more: Iterable[Message]) -> ConversationContext:
        return self.extend(more)

    def __repr__(self) -> str:
        last = f", last: {self[-1]!r}" if self else ""
        return f"<ConversationContext of {counted(len(self), 'message')}{last}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return NOTEBOOK["conversation"](self)


def _message(message: Message) -> Message:
    expect(message, Message, "a message", by="ConversationContext")
    return message


empty_context = ConversationContext()
"""A conversation without messages."""


def conversation_of(messages: Iterable[Message], *, by: str) -> ConversationContext:
    """The conversation that a function was given; a list of messages is one, too.

    Raises:
        ArgumentError: it is neither.
    """
    if isinstance(messages, ConversationContext):
        return messages
    kinds = (ConversationContext, list, tuple) if isinstance(messages, str) else Iterable
    expect(messages, kinds, "context", by=by)
    return ConversationContext(messages)


@frozen
class Usage:
    """The numbers of tokens used.

    Attributes:
        input_tokens: tokens of the requests; None if the model does not report them.
        output_tokens: tokens of the replies, reasoning included; None likewise.
        cached_tokens: how many of the input tokens the provider had kept from before.
        reasoning_tokens: how many of the output tokens were reasoning.

    >>> total = Usage(10, 5) + Usage(3, 1, reasoning_tokens=1)
    >>> total.input_tokens, total.output_tokens, total.reasoning_tokens
    (13, 6, 1)
    >>> (Usage(10, 5) + Usage()).total_tokens is None
    True
    """

    input_tokens: int | None = field(default=None, validator=_is(int, _NONE))
    output_tokens: int | None = field(default=None, validator=_is(int, _NONE))
    cached_tokens: int = field(default=0, validator=_is(int))
    reasoning_tokens: int = field(default=0, validator=_is(int))

    @property
    def total_tokens(self) -> int | None:
        """The sum of input and output tokens; None if one of them is unknown."""
        return _sum(self.input_tokens, self.output_tokens)

    def details(self) -> dict[str, int]:
        """The known numbers by their names: without what is unknown, and what is a part and 0.

        >>> Usage(10, 5, reasoning_tokens=4).details()
        {'input_tokens': 10, 'output_tokens': 5, 'reasoning_tokens': 4}
        """
        whole = {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens}
        parts = {"cached_tokens": self.cached_tokens, "reasoning_tokens": self.reasoning_tokens}
        known = {name: number for name, number in whole.items() if number is not None}
        return known | {name: number for name, number in parts.items() if number}

    def to_json(self) -> dict[str, int | None]:
        """The numbers as a JSON object; null for what is unknown."""
        return {**asdict(self), "total_tokens": self.total_tokens}

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def _returned(files: Iterable[File]) -> tuple[File, ...]:
    return expect_all(files, File, "files", by="ToolInvocation")


def _as_json_text(value: Json) -> JsonText:
    return value if isinstance(value, JsonText) else write_json(value)


@frozen
class ToolInvocation:
    """A finished tool call: with its result, or with the error that was sent to the model.

    JSON is kept as text: what is a `JsonText` stays as it is.

    Args:
        tool_name: the name of the tool.
        args: the arguments of the call; if they were refused, those that the model wrote.
        result: the result, a JSON value; None if there is an error.
        error: the error message; None if there is a result.
        agent_name: the agent or workflow that made the call; "" if it is not known.
        at: the position of the call in its run; () if it is not known. Neither who called nor
            where is compared: equal calls with equal answers are equal.
        files: the files that the tool returned; the result says in words where each of them was.

    Attributes:
        args_text: the arguments as JSON text; those that are broken as a text of what was written.
        exception: the exception of the tool, or None; it is not compared and not pickled.
    """

    tool_name: str = field(validator=_is(str))
    args_text: JsonText = field(converter=_as_json_text, alias="args")
    _result: JsonText = field(default=None, converter=_as_json_text)
    error: str | None = field(default=None, validator=_is(str, _NONE))
    exception: BaseException | None = field(default=None, eq=False, kw_only=True)
    agent_name: str = field(default="", eq=False, validator=_is(str), kw_only=True)
    at: tuple[int | str, ...] = field(default=(), eq=False, validator=_is(tuple), kw_only=True)
    files: tuple[File, ...] = field(default=(), converter=_returned, kw_only=True)

    def __reduce__(self) -> tuple[Any, ...]:
        kept: dict[str, Any] = {"agent_name": self.agent_name, "at": self.at, "files": self.files}
        parts = (self.tool_name, self.args_text, self._result, self.error)
        return partial(ToolInvocation, **kept), parts

    @property
    def result_text(self) -> JsonText | None:
        """The result as JSON text; None if there is an error."""
        return self._result if self.error is None else None

    @property
    def args(self) -> dict[str, Json]:
        """The arguments, a fresh copy; none where the model wrote no object, see `args_text`."""
        given = self.args_text.value
        return given if isinstance(given, dict) else {}

    @property
    def result(self) -> Json:
        """The result, a fresh copy; None if there is an error."""
        return None if self.result_text is None else self.result_text.value

    def __repr__(self) -> str:
        outcome = f"-> {self.result_text}"
        if self.error is not None:
            outcome = f"error={short_repr(self.error)}"
        call = shortened(call_text(self.tool_name, self.args_text), _MOST_SHOWN)
        return f"<ToolInvocation {call} {shortened(outcome, 100)}>"


_MOST_SHOWN = 80  # characters of a text, and calls, in a repr
_MOST_CALLS = 5


def _listed(calls: list[str]) -> list[str]:
    """The first of some calls, shortened, and how many there are beside them."""
    shown = [shortened(call, _MOST_SHOWN) for call in calls[:_MOST_CALLS]]
    more = len(calls) - len(shown)
    return [*shown, f"… {counted(more, 'more call')}"] if more else shown


def _invocations(invocations: Iterable[ToolInvocation]) -> tuple[ToolInvocation, ...]:
    return expect_all(invocations, ToolInvocation, "tools_used", by="AgentResponse")


@frozen
class AgentResponse(Generic[V_co]):
    """The response of an agent: the result of a run. Its type is that of its value.

    Attributes:
        content: the answer.
        tools_used: all tool calls, in the order of the calls: of an agent its own, of a workflow
            those of its tools and agents, by the order of rounds, nodes and items.
        context: the conversation including this exchange; pass it to the next run to continue.
        usage: the tokens used by this run.
        is_typed: whether the answer is of a type that the program declares.
        is_text: whether that type is a text, so that ``content`` is the text; else it is JSON.
        truncated: whether the answer was cut off at its length limit or at the end of the context.
        unfinished: whether a loop of a workflow was out of rounds before its end was said; the
            answer is what its last round gave.
        read: the Python value of an answer that has to be of an ``answer_type``, alone in a tuple;
            an empty one after a refusal, None without such a type.
    """

    content: str = field(validator=_is(str))
    tools_used: tuple[ToolInvocation, ...] = field(default=(), converter=_invocations)
    context: ConversationContext = field(default=empty_context, validator=_is(ConversationContext))
    usage: Usage = field(default=Usage(), validator=_is(Usage))
    is_typed: bool = field(default=False, validator=_is(bool))
    is_text: bool = field(default=False, validator=_is(bool), kw_only=True)
    truncated: bool = field(default=False, validator=_is(bool))
    unfinished: bool = field(default=False, validator=_is(bool))
    _read: tuple[V_co, ...] | None = field(default=None, eq=False, repr=False, kw_only=True)

    @property
    def refused(self) -> bool:
        """Whether the model refused to answer."""
        return bool(self.context) and self.context[-1].refused

    @property
    def value(self) -> V_co:
        """The answer as a value of the ``answer_type`` that the run was begun with.

        Without one it is a JSON value, a fresh copy; None if the program declares no type for it.

        Raises:
            ValidationError: there is an ``answer_type``, and the model refused to answer.
        """
        if self._read:
            return self._read[0]
        if self._read is not None:
            raise ValidationError(f"the model refused, so that there is no value: {self.content}")
        said: Any = None
        if self.is_typed:
            said = self.content if self.is_text else read_json(self.content)
        value: V_co = said
        return value

    def __repr__(self) -> str:
        calls = [call_text(each.tool_name, each.args_text) for each in self.tools_used]
        said = [repr(shortened(self.content, _MOST_SHOWN)), *_listed(calls)]
        flags = [name for name in ("refused", "truncated", "unfinished") if getattr(self, name)]
        return f"<AgentResponse {', '.join([*said, *flags])}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return NOTEBOOK["conversation"](self)


# --- for people

_GOES_ON: Final = "|     "
"""What a line begins with that goes on with an argument: an argument begins with its name."""

_NARROWEST: Final = 20  # columns; in fewer, a line would have no room behind its mark


def call_text(name: str, args: Json) -> str:
    """A tool call on one line; arguments that are not an object are shown unchanged.

    The name of an argument is quoted when it is not a word, so that it cannot pass for more.

    >>> call_text("greet", {"name": "Al"}), call_text("greet", '{"name": ')
    ('greet(name: "Al")', 'greet({"name": )')
    >>> call_text("pay", {"amount: 1, to": "Al"})
    'pay("amount: 1, to": "Al")'
    """
    with suppress(ValueError):
        args = read_json(args) if isinstance(args, str) else args  # as the model wrote them
    if isinstance(args, dict):
        args = ", ".join(_argument_texts(args))
    return f"{name}({args if isinstance(args, str) else write_json(args)})"


def question_text(
    name: str,
    args: Mapping[str, Json],
    place: Sequence[str],
    *,
    width: int | None = None,
    most: int | None = None,
) -> str:
    """A call that somebody has to decide about: each argument on a line of its own, behind a mark.

    What a model wrote is nowhere else than behind marks, so that it cannot pass for a question.

    Args:
        place: the place of who calls it, see `path_of_names`.
        width: where lines are broken, so that a terminal does not; None for nowhere.
        most: how many characters of an argument are shown; None for all.

    >>> print(question_text("pay", {"to": "Al", "why": "a  b"}, ["bank", "clerk"]))
    pay for bank/clerk
    | to: "Al"
    | why: "a␣␣b"
    """
    by = "/".join(map(_as_word, place))
    lines = [visible_text(f"{_as_word(name)} for {by}" if by else _as_word(name))]
    for each in _argument_texts(args):
        text = visible_text(each)
        if most is not None and len(text) > most:
            text = f"{text[:most]}… ({counted(len(text) - most, 'more character')})"
        lines += _behind_marks(text, width)
    return "\n".join(lines)


def _argument_texts(args: Mapping[str, Json]) -> list[str]:
    return [f"{_as_word(name)}: {write_json(value)}" for name, value in args.items()]


def _behind_marks(text: str, width: int | None) -> Iterator[str]:
    """The lines of an argument, each with its mark and not wider than a terminal."""
    line, taken = "| ", 2
    for char in text:
        columns = 2 if east_asian_width(char) in "FWA" else 1
        if width is not None and taken + columns > max(width, _NARROWEST):
            yield line
            line, taken = _GOES_ON, len(_GOES_ON)
        line, taken = line + char, taken + columns
    yield line


def _as_word(name: str) -> str:
    return name if name.replace("-", "_").isidentifier() else write_json(name)


def progress_text(done: float, total: float | None, message: str) -> str:
    """How far a call is.

    >>> progress_text(2, 10, "pages"), progress_text(0.5, None, "")
    ('2 of 10: pages', '0.5')
    """
    of = "" if total is None else f" of {total:g}"
    return f"{done:g}{of}{message and f': {message}'}"
