"""Tracebacks that show the user's own lines, and none of the libraries between them."""

from __future__ import annotations

import sysconfig
import traceback
from types import FrameType

_OURS = {__name__.partition(".")[0], "lenses_ext", "interp"}
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


def short_traceback(error: BaseException) -> list[str]:
    """The lines to print for an error: where the user's code called us, and the message.

    A cause is printed above it if the user's code raised it, such as a tool.
    """
    lines = []
    cause = error.__cause__
    if cause is not None and _own_frames(cause):
        lines += [*short_traceback(cause), "", "It was the cause of this error:", ""]
    if frames := _own_frames(error):
        lines.append("Traceback (most recent call last, without the libraries):")
        lines += "".join(frames).splitlines()
    return [*lines, f"{type(error).__name__}: {error}"]


def _own_frames(error: BaseException) -> list[str]:
    walked = list(traceback.walk_tb(error.__traceback__))
    own = [(frame, line) for frame, line in walked if _is_own(frame)]
    return traceback.StackSummary.extract(iter(own)).format()


def _is_own(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__") or ""
    path = frame.f_code.co_filename
    return module.partition(".")[0] not in _OURS and not path.startswith(_LIBRARIES)
