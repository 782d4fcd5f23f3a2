"""Whether a model is sent the files that tools return: one that refuses them is told in words."""

from __future__ import annotations

import logging
from typing import Final

from lenses_ext import Model

from ..errors import ModelError
from ..machine import FunctionRole, Request
from .refusals import is_about_files

_refused: Final[set[tuple[str | None, Model]]] = set()
"""The servers, by name and model, that have refused files of tools."""

_log = logging.getLogger("interp.model")


def are_sent(server: str | None, model: Model) -> bool:
    """Whether files of tools are sent to a model of a server."""
    return (server, model) not in _refused


def learn_refusal(error: ModelError, request: Request, server: str | None) -> bool:
    """Whether a request is refused for the files of its tools, which are not sent from now on."""
    has_files = any(
        each.attachments for each in request.messages if isinstance(each.role, FunctionRole)
    )
    if not (has_files and are_sent(server, request.model) and is_about_files(str(error))):
        return False
    _refused.add((server, request.model))
    _log.warning("%s takes no files of tools: it is told of them in words", request.model)
    return True
