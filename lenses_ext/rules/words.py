"""The words of the language: labels, and names of properties, that mean something in it."""

from __future__ import annotations

from typing import Final

from ..labels import AGENT, ANSWER, DEFINITIONS, TOOLS, WORKFLOWS
from ..language import AGENTS, SETTINGS, TOOL_SPECS, WORKFLOW_PARTS
from ..schemas import KEYWORDS
from ..signatures import RESERVED, RESERVED_KEYS
from ..workflows import ARROW_LABELS

WORDS: Final = frozenset(
    {
        *(AGENT, ANSWER, DEFINITIONS, *TOOLS, *WORKFLOWS, *ARROW_LABELS, *RESERVED),
        *(key for each in (AGENTS, TOOL_SPECS, WORKFLOW_PARTS) for key in each.properties),
        *("is", "as", "at_once", "max", "until", "default"),
        *(*SETTINGS, *KEYWORDS, *RESERVED_KEYS),
    }
)
"""Every label, and every name of a property, that the language itself gives a meaning to."""
