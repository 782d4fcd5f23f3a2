"""How a run begins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, Unpack, cast

from gram import ArgumentError, Document, Pattern, expect
from lenses_ext import ProgramLike

from ..errors import ConfigurationError
from ..execution import named_model
from ..history.stores import context_of, new_run
from ..machine import (
    ConversationContext,
    Given,
    Limits,
    State,
    allow_all,
    ask_all,
    empty_context,
    start,
)
from ..programs import the_agent
from ..tools import LibraryLike, ToolLibrary, library_of, with_agents
from .options import BeginOptions, RunOptions, check_options
from .runs import Run, driver_of


def begin(
    program: ProgramLike,
    user_input: Given,
    library: LibraryLike = None,
    context: ConversationContext | None = None,
    **options: Unpack[BeginOptions],
) -> Run:
    """Begin a run and return it, so that its state can be kept; see `run`.

    Raises:
        ValidationError: the input is empty or the program is invalid (with its ``faults``).
        ToolBindingError: the library does not implement the tools as they are written.
        ConfigurationError: the provider is unknown, or its key is missing.
    """
    return begin_for("begin", program, user_input, library, context, options)


def begin_for(
    by: str,
    program: ProgramLike,
    user_input: Given,
    library: LibraryLike,
    context: ConversationContext | None,
    options: BeginOptions,
) -> Run:
    """The same for a function named ``by``, which its errors name.

    Args:
        by: the function.
        program, user_input, library, context: what it was called with.
        options: the keywords that it was called with.
    """
    _refuse_swapped(library, context)
    library = library_of(library, by=by)
    context = empty_context if context is None else context
    state = first_state_of(program, user_input, library, context, options, by=by)
    kept = {"agent", "limits", "policy", "settings", "check_results"}
    if state.model:
        kept.add("model")
    others = {name: value for name, value in options.items() if name not in kept}
    conversation, store = others.pop("conversation", None), options.get("store")
    if conversation is not None and store is not None:
        del others["store"]
        others["record"] = new_run(store, state.run_id, conversation=str(conversation))
    return Run._of(driver_of(state, library, cast(RunOptions, others)))


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
    expect(user_input, (str, Mapping), "user_input", by=by)
    expect(context, ConversationContext, "context", by=by)
    check_options(options, by=by)
    chosen = the_agent(program, options.get("agent"), by=by)
    conversation, store = options.get("conversation"), options.get("store")
    if conversation is not None and store is not None:
        if context:
            raise ConfigurationError(f"{by}: the context is that of the conversation: give one")
        context = context_of(store, conversation)
    agent = with_agents(chosen, library, match=options.get("match", "full"))
    return start(
        agent,
        user_input,
        context,
        model=named_model(options.get("model")),
        limits=options.get("limits") or _LIMITS,
        policy=options.get("policy") or (ask_all if options.get("approve") else allow_all),
        settings=options.get("settings"),
        check_results=options.get("check_results") is not False,
        run_id=run_id or os.urandom(8).hex(),
    ).state


_LIMITS: Final = Limits()


def _refuse_swapped(library: object, context: object) -> None:
    if isinstance(library, ToolLibrary) and isinstance(context, ConversationContext):
        return  # asked first, since it takes longer to see what something is not
    if isinstance(library, ConversationContext) or isinstance(context, ToolLibrary):
        raise ConfigurationError(
            "the library and the context are swapped: run(agent, user_input, library, context), "
            "execute_agent_with_library(agent, user_input, context, library)"
        )
