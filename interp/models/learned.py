"""What models of servers have refused, so that it is sent to them no more."""

from __future__ import annotations

import logging
import re
from typing import Final, Literal, TypeAlias

from lenses_ext import Model

from ..errors import ModelError
from ..machine import FunctionRole, Request
from .refusals import is_about_files

What: TypeAlias = Literal["files of tools", "encrypted reasoning"]

_NO_ENCRYPTED: Final = re.compile(
    r"encrypted[ _]content|reasoning\.encrypted|not issued to this caller", re.IGNORECASE
)

_refused: Final[set[tuple[What, str | None, Model]]] = set()
_log = logging.getLogger("interp.model")


def takes(what: What, server: str | None, model: Model) -> bool:
    """Whether something is sent to a model of a server, by its name: it has not refused it yet."""
    return (what, server, model) not in _refused


def learn(error: ModelError, request: Request, server: str | None) -> bool:
    """Learn from a refusal; whether the request is written otherwise from now on."""
    has_files = any(
        each.attachments for each in request.messages if isinstance(each.role, FunctionRole)
    )
    refuses_reasoning = error.status in (400, 404, 422) and _NO_ENCRYPTED.search(str(error))
    what: What
    if has_files and is_about_files(str(error)) and takes("files of tools", server, request.model):
        what = "files of tools"
    elif refuses_reasoning and takes("encrypted reasoning", server, request.model):
        what = "encrypted reasoning"
    else:
        return False
    _refused.add((what, server, request.model))
    _log.warning("%s takes no %s: they are left out, or told in words", request.model, what)
    return True
