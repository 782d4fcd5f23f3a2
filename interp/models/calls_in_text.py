"""Warns about a tool call that a model wrote as text instead of making it.

Models do this when their server does not know the format of their calls, and the run then ends
with the text of the call as its answer.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gram import Pattern
from lenses_ext import tool_spec_name, view
from lenses_ext.language import wire_name

from ..machine import Message

if TYPE_CHECKING:
    from ..machine import Request

_log = logging.getLogger("interp.model")

# The formats in which models are trained to write calls: Hermes and Qwen, Llama, Mistral,
# DeepSeek, and the JSON of OpenAI's and Anthropic's calls.
_MARKS = re.compile(
    r"<tool_call>|<function[=_]|\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool▁call|<\|tool_call"
    r"|\"(arguments|parameters|input)\"\s*:\s*[{\"]"
)


def call_in_text(tools: Iterable[Pattern], text: str) -> str | None:
    """The name of the tool that a text is a call of, or None.

    Args:
        tools: The specifications of the tools that could be called.
        text: What a model said.
    """
    if not _MARKS.search(text):
        return None
    names = (view(tool_spec_name, tool) for tool in tools)
    return next(
        (name for name in names if re.search(rf"(?<!\w){re.escape(wire_name(name))}(?!\w)", text)),
        None,
    )


def warn_about_calls_in_text(request: Request, message: Message) -> None:
    """Log a warning where the text of a reply is a call of one of the request's tools."""
    name = None if message.tool_calls else call_in_text(request.tools, message.content)
    if name is not None:
        _log.warning(
            "%s wrote a call of %s as text: does its server support tools?", request.model, name
        )
