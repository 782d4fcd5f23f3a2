"""How a run begins."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar, Unpack, cast, overload

from gram import ArgumentError, Document, Pattern, origin
from gram.errors import expect
from lenses_ext import Model, ProgramLike

from ..errors import ConfigurationError
from ..execution import named_model
from ..machine import (
    ConversationContext,
    Given,
    Limits,
    Message,
    State,
    allow_all,
    ask_all,
    conversation_of,
    empty_context,
    limits_of,
    start,
)
from ..programs import the_agent, with_fallbacks
from ..tools import LibraryLike, ToolLibrary, answer_type_of, library_of, with_agents
from .answer_types import with_answer
from .options import BeginOptions, RunOptions, check_options, with_windows
from .runs import Run

if TYPE_CHECKING:
    from ..history.stores import KeptConversation

V = TypeVar("V")


@overload
def begin(
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike = None,
    context: Iterable[Message] | None = None,
    *,
    answer_type: type[V],
    agent: str | None = None,
    **options: Unpack[RunOptions],
) -> Run[V]: ...
@overload
def begin(
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike = None,
    context: Iterable[Message] | None = None,
    **options: Unpack[BeginOptions],
) -> Run[Any]: ...
def begin(
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike = None,
    context: Iterable[Message] | None = None,
    **options: Unpack[BeginOptions],
) -> Run:
    """Begin a run and return it, so that its state can be kept; see `run`.

    Raises:
        ValidationError: the input is empty or the program is invalid (with its ``faults``).
        ToolBindingError: the library does not implement the tools as they are written.
        ConfigurationError: the provider is unknown, or its key is missing.
    """
    return begin_for("begin", program, user_input, tools, context, options)


def begin_for(
    by: str,
    program: ProgramLike,
    user_input: Given,
    tools: LibraryLike,
    context: Iterable[Message] | None,
    options: BeginOptions,
) -> Run:
    """The same for a function named ``by``, which its errors name."""
    if isinstance(tools, ConversationContext) or isinstance(context, ToolLibrary):
        raise ConfigurationError(
            "the tools and the context are swapped: run(agent, user_input, tools, context), "
            "execute_agent_with_library(agent, user_input, context, library)"
        )
    library = library_of(tools, by=by)
    context = empty_context if context is None else conversation_of(context, by=by)
    kept_in = _kept_in(program, options, by)
    if kept_in is not None:
        if context:
            raise ConfigurationError(f"{by}: the context is that of the conversation: give one")
        context = kept_in.context
    state = first_state_of(program, user_input, library, context, options, by=by)
    others = {name: value for name, value in options.items() if name not in _OF_THE_STATE}
    if state.model or options.get("fallbacks"):
        others.pop("model", None)
    if kept_in is not None:
        others["conversation"], others["record"] = None, kept_in.log()
    wanted = options.get("answer_type")
    return Run(state, library, answer_type=wanted, **cast(RunOptions, others))


_OF_THE_STATE: Final = {
    "agent", "answer_type", "fallbacks", "limits", "policy", "settings", "check_results",
}  # fmt: skip
"""The options that the State of a run has from its beginning on."""


def _kept_in(program: ProgramLike, options: BeginOptions, by: str) -> KeptConversation | None:
    """The conversation that a run is a turn of, if it is one."""
    check_options(options, by=by)
    conversation, record = options.get("conversation"), options.get("record")
    if not conversation or record is None:
        return None
    from ..history.stores import open_conversation  # imported late: most runs are not recorded

    read = origin(the_agent(program, options.get("agent"), by=by))
    return open_conversation(record, conversation, read.source.filename if read else None)


def first_state_of(
    program: ProgramLike,
    user_input: Given,
    library: ToolLibrary,
    context: ConversationContext,
    options: BeginOptions,
    *,
    by: str,
    run_id: str | None = None,
) -> State:
    """The State in which a run begins, see `run`.

    Args:
        program: the program.
        user_input: what the user says.
        library: its agents take the places of tools that they implement.
        context: the conversation before.
        options: how to run it.
        by: the function that was called with these, for errors.
        run_id: a name for the run, or None for a new one.

    Raises:
        ValidationError: the input is empty or the program is invalid (with its ``faults``).
        ConfigurationError: an option is wrong.
    """
    if isinstance(program, str) and isinstance(user_input, Document | Pattern):
        raise ArgumentError(f"{by}: the program comes first: {by}(program, user_input)")
    expect(user_input, (str, Mapping, list, tuple), "user_input", by=by)
    check_options(options, by=by)
    chosen = the_agent(program, options.get("agent"), by=by)
    agent = with_agents(chosen, library, match=options.get("match", "full"))
    if (wanted := options.get("answer_type")) is not None:
        agent = with_answer(agent, answer_type_of(wanted, by=by))
    model = named_model(options.get("model"))
    if fallbacks := _fallbacks(options):
        agent, model = with_fallbacks(agent, fallbacks, model), None
    agent = with_windows(agent)
    return start(
        agent,
        user_input,
        context,
        model=model,
        limits=limits_of(options.get("limits")) or _LIMITS,
        policy=options.get("policy") or (ask_all if options.get("approve") else allow_all),
        settings=options.get("settings"),
        check_results=options.get("check_results") is not False,
        run_id=run_id or os.urandom(8).hex(),
        once=(each.name for each in library.values() if each.once),
    ).state


def _fallbacks(options: BeginOptions) -> tuple[Model, ...]:
    """The models that are asked where others cannot be.

    Raises:
        ConfigurationError: one is not the name of a model, or there is a model that is an object.
    """
    given = options.get("fallbacks") or ()
    if isinstance(given, str) or not all(isinstance(each, str | Model) for each in given):
        raise ConfigurationError('fallbacks are names of models: fallbacks=["Provider/name"]')
    model = options.get("model")
    if given and model is not None and named_model(model) is None:
        raise ConfigurationError("fallbacks are for models given by their names, not for an object")
    named = (named_model(each) for each in given)
    return tuple(each for each in named if each is not None)


_LIMITS: Final = Limits()
