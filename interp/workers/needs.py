"""What a run needs of a worker: the tools of its program, and the keys of its providers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

from gram import origin
from lenses_ext import (
    Model,
    result_schema,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    view,
)
from lenses_ext.schemas import Match

from ..errors import ConfigurationError, ToolBindingError
from ..history.records import RecordedRun
from ..json_text import write_json
from ..machine import State
from ..models import connect_model
from ..programs import models_of, tools_to_bind
from ..secrets import without_keys
from ..tools import ToolLibrary, bind_agent_tools


def models_asked(state: State) -> tuple[Model, ...]:
    """The models that a run asks: one for all, or those that its program names."""
    return (state.model,) if state.model else models_of(state.agent)


def queue_of(state: State, own_tools: Iterable[str] = ()) -> str:
    """The name of the queue for the runs that need the same as a run.

    Tools are the same if binding cannot tell them apart, however they are written.

    Args:
        state: the run as it begins.
        own_tools: the names of the tools of its own that it was recorded with.
    """
    tools = {  # agents may have different ones of the same name
        write_json(
            [
                view(tool_spec_name, spec),
                view(tool_spec_description, spec),
                view(tool_spec_schema, spec),
                result_schema(spec),
            ]
        )
        for spec in tools_to_bind(state.agent)
    }
    models = {f"{model.provider.lower()}/{model.name}" for model in models_asked(state)}
    needed = [*sorted(tools), *sorted(models), *(f"own {each}" for each in sorted(own_tools))]
    return f"runs-{sha256(chr(10).join(needed).encode()).hexdigest()[:32]}"


def why_not(run: RecordedRun, library: ToolLibrary, match: Match) -> str | None:
    """Why a run cannot be driven here, in one line; None if it can.

    It is the same for all runs of a queue, see `queue_of`.

    Args:
        run: the run.
        library: the implementations of tools that are here.
        match: how closely they have to match.
    """
    if reason := why_not_with(run, library, match):
        return reason
    try:
        for model in models_asked(run.first):
            connect_model(model)
    except ConfigurationError as error:
        return _in_one_line(error, run)
    return None


def why_not_with(run: RecordedRun, library: ToolLibrary, match: Match) -> str | None:
    """Why a run cannot be driven with the tools that are here; see `why_not`."""
    try:
        tools = bind_agent_tools(run.first.agent, library, match=match)
    except (ToolBindingError, ConfigurationError) as error:
        return _in_one_line(error, run)
    if agents := [each.name for each in tools if each.agent is not None]:
        return (
            f"{', '.join(agents)}: here this is an agent of the library, and a submitted run calls "
            "only agents of its program: write it into the program"
        )
    if told := run.why_not_with(library):
        return f"{told}: start the worker with the tools that it ran with"
    return None


def _in_one_line(error: ToolBindingError | ConfigurationError, run: RecordedRun) -> str:
    """An error without the place in the run, since it holds for all runs that need the same."""
    reason = without_keys(str(error)).splitlines()[0]
    place = origin(run.first.agent)
    name = place.filename if place else None
    return re.sub(rf"^{re.escape(name)}:\d+:\d+: ", "", reason) if name else reason
