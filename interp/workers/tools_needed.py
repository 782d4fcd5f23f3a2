"""Which runs a worker can do: each queue is for runs that need the same tools."""

from __future__ import annotations

from hashlib import sha256

from gram import Pattern
from lenses_ext import (
    result_schema,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    view,
)

from ..json_text import write_json
from ..programs import tools_to_bind


def queue_of(program: Pattern) -> tuple[str, str]:
    """The queue for runs that need the tools of a program, and the names of these tools.

    Tools are the same if binding cannot tell them apart, however they are written.
    """
    needed = {view(tool_spec_name, spec): spec for spec in tools_to_bind(program)}
    told = [
        write_json(
            [
                name,
                view(tool_spec_description, spec),
                view(tool_spec_schema, spec),
                result_schema(spec),
            ]
        )
        for name, spec in sorted(needed.items())
    ]
    return f"tools-{sha256(chr(10).join(told).encode()).hexdigest()[:32]}", ", ".join(
        sorted(needed)
    )
