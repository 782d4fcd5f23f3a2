"""Asks the models of a request in turn, until one replies."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeAlias

from attrs import evolve

from lenses_ext import Model

from ..errors import ModelError
from ..machine import CallModel, Event, ModelReplied
from ..secrets import without_keys
from .observations import Delta, ToolProgress

_log = logging.getLogger("interp.model")

_UNKNOWN: Final = ("model_not_found", "unknown_model")

Ask: TypeAlias = Callable[
    [CallModel, "Callable[[Delta | ToolProgress], None] | None"], Awaitable[Event]
]


def may_be_passed(error: Exception) -> bool:
    """Whether another model may be asked instead of one that failed.

    It cannot be reached, it is overloaded after its retries, or its server does not know it. A
    request that is refused would be refused again, or the refusal is an answer.
    """
    return isinstance(error, ModelError) and (
        error.retriable or error.code in _UNKNOWN or error.status == 404
    )


async def first_that_replies(
    ask: Ask,
    effect: CallModel,
    report: Callable[[Delta | ToolProgress], None] | None,
    models: Iterable[Model],
    passes: Callable[[Exception], bool] = may_be_passed,
) -> Event:
    """The reply of the first of some models that gives one.

    Once a word of a reply was shown, no other model is asked.

    Args:
        ask: asks one model.
        effect: what is asked.
        report: takes what is only watched.
        models: the models, in the order in which they are asked.
        passes: whether another model is asked after an error.
    """
    left, tried, shown = list(models), list[tuple[Model, str]](), list[object]()

    def show(each: Delta | ToolProgress) -> None:
        shown.append(each)
        if report is not None:
            report(each)

    while True:
        model = left.pop(0)
        alone = evolve(effect, request=evolve(effect.request, model=model, fallbacks=()))
        try:
            event = await ask(alone, show if report else None)
        except Exception as error:
            if not left or not passes(error) or shown:
                raise
            said = str(error).partition("\n")[0]
            why = without_keys(said.encode(errors="replace").decode())
        else:
            if isinstance(event, ModelReplied) and tried:
                return evolve(event, model=model, tried=tuple(tried))
            return event
        tried.append((model, why))
        extra = {"event": "model_passed"}
        _log.warning("%s gave no reply (%s): %s is asked", model, why, left[0], extra=extra)
