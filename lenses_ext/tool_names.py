"""The names under which tools go over the wire.

Model providers accept only some names for functions. Another name is sent mapped, and mapped back
when the model calls it.
"""

from __future__ import annotations

import re

_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64


def wire_name(name: str) -> str:
    """The name that is sent: at most 64 of the characters ``[A-Za-z0-9_-]``.

    >>> wire_name("math.add")
    'math_add'
    """
    return _REFUSED.sub("_", name)[:_LONGEST]
