"""What is said to models and tools, for ``logging``: one logger for each, secrets redacted.

``logging.getLogger("interp")`` is above both. Nothing is formatted unless somebody listens, and
what is logged is redacted here, so no handler ever sees a key.
"""

from __future__ import annotations

import json
import logging

from .effects import CallFailed, CallModel, CallTool, Effect, Event, ModelReplied, ToolReturned
from .redaction import redact
from .wire import encode_message, request_body

_model = logging.getLogger("interp.model")
_tools = logging.getLogger("interp.tools")


def log_effect(effect: Effect, model: object = None) -> None:
    """Log what is about to be asked of the model or a tool.

    Args:
        effect: the effect.
        model: the model that will be asked; where it has a ``body(request)``, that is shown.
    """
    if isinstance(effect, CallModel) and _model.isEnabledFor(logging.DEBUG):
        body_of = getattr(model, "body", request_body)
        _model.debug("request to %s %s", effect.request.model, _shown(body_of(effect.request)))
    elif isinstance(effect, CallTool) and _tools.isEnabledFor(logging.DEBUG):
        _tools.debug("call %s %s", effect.name, redact(effect.arguments))


def log_event(event: Event) -> None:
    """Log what the model or a tool answered."""
    if isinstance(event, ModelReplied) and _model.isEnabledFor(logging.DEBUG):
        usage = f"{event.usage.input_tokens}+{event.usage.output_tokens} tokens"
        cut_off = ", cut off" if event.truncated else ""
        message = _shown(encode_message(event.message, "tools"))
        _model.debug("reply (%s%s) %s", usage, cut_off, message)
    elif isinstance(event, ToolReturned) and _tools.isEnabledFor(logging.DEBUG):
        _tools.debug("result %s", redact(event.result))
    elif isinstance(event, CallFailed) and _tools.isEnabledFor(logging.DEBUG):
        _tools.debug("failed: %s", redact(event.error))


def _shown(value: object) -> str:
    return redact(json.dumps(value, ensure_ascii=False, default=str))
