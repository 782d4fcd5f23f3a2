"""Logs what models and tools are sent and what they answer, without keys.

``logging.getLogger("interp")`` is above both. Nothing is formatted unless somebody listens, and
keys are replaced here, so no handler ever sees one. A tool that raises is a warning,
with its traceback; everything else is for debugging. Where `log_fields` says so, records have the
run and the like as attributes, as if they had been given as ``extra``.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final

from .. import machine
from ..concurrency import setting
from ..models import AnyModel
from ..secrets import without_keys

_model = logging.getLogger("interp.model")
_tools = logging.getLogger("interp.tools")
logging.getLogger("interp").addHandler(logging.NullHandler())  # else warnings are printed

_fields: ContextVar[Mapping[str, str]] = ContextVar("_fields", default=MappingProxyType({}))


def log_fields(**fields: str | None) -> AbstractContextManager[None]:
    """Have what is logged inside say more than its message, such as which run it is about.

    Args:
        **fields: the names and values of attributes of the log records; None is left out.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    return setting(_fields, {**_fields.get(), **given})


def _add_fields(record: logging.LogRecord) -> bool:
    for name, value in _fields.get().items():
        record.__dict__.setdefault(name, value)
    return True


_LOGGERS: Final = ("interp.model", "interp.tools", "interp.mcp", "interp.serving", "interp.workers")
for _each in _LOGGERS:
    logging.getLogger(_each).addFilter(_add_fields)


def log_effect(effect: machine.Effect, model: AnyModel) -> None:
    """Log what is about to be asked of the model or a tool."""
    if isinstance(effect, machine.CallModel) and _model.isEnabledFor(logging.DEBUG):
        _model.debug("request to %s %s", effect.request.model, _shown(model.body(effect.request)))
    elif isinstance(effect, machine.CallTool) and _tools.isEnabledFor(logging.DEBUG):
        _tools.debug("call %s %s", effect.name, without_keys(effect.arguments))


def log_event(event: machine.Event) -> None:
    """Log what the model or a tool answered."""
    if isinstance(event, machine.ModelReplied) and _model.isEnabledFor(logging.DEBUG):
        used = (event.usage.input_tokens, event.usage.output_tokens)
        usage = "+".join("unknown" if each is None else str(each) for each in used)
        cut_off = ", cut off" if event.truncated else ""
        if event.reasoning:
            _model.debug("reasoning %s", _shown(event.reasoning))
        message = event.message  # as the model gave it; what goes back to its server may differ
        calls = [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls]
        parts = {"content": message.content, "tool_calls": calls, "echo": message.echo}
        reply = {key: value for key, value in parts.items() if value}
        _model.debug("reply (%s tokens%s) %s", usage, cut_off, _shown(reply))
    elif isinstance(event, machine.ToolReturned) and _tools.isEnabledFor(logging.DEBUG):
        _tools.debug("result %s", without_keys(event.result))
    elif isinstance(event, machine.CallFailed) and _tools.isEnabledFor(logging.WARNING):
        raised = event.exception
        trace = "" if raised is None else "\n" + "".join(traceback.format_exception(raised))
        # what Python code says may have lone surrogates, which not every handler can write
        said = (event.error + trace.rstrip()).encode(errors="backslashreplace").decode()
        _tools.warning("failed: %s", without_keys(said), extra={"event": "tool_failed"})


def _shown(value: object) -> str:
    return without_keys(json.dumps(value, ensure_ascii=False, default=str))
