"""The gram notation: immutable trees, reading and writing them, places in the text.

``loads``/``dumps`` go between text and trees, ``parse`` keeps the places, ``to_json``/``from_json``
speak the canonical JSON. This package knows nothing of agents.
"""

from .canonical_json import from_json, to_json
from .checks import apply_fixes, check
from .document import Document, parse
from .errors import MAX_LEVELS, GramDecodeError, GramEncodeError, GramError
from .faults import Edit, Fault, Severity
from .files import dump, load, loads, loads_one
from .formatting import format_text
from .json_schema import json_schema
from .lossless.writer import Change
from .origin import Origin, origin
from .pattern import Pattern, Subject
from .recovery import syntax_errors
from .serializer import Spelling, Style, dumps
from .source import Source, Span
from .spans import Spans
from .values import Measurement, Range, Symbol, TaggedString, Value

__all__ = [
    "MAX_LEVELS",
    "Change",
    "Document",
    "Edit",
    "Fault",
    "GramDecodeError",
    "GramEncodeError",
    "GramError",
    "Measurement",
    "Origin",
    "Pattern",
    "Range",
    "Severity",
    "Source",
    "Span",
    "Spans",
    "Spelling",
    "Style",
    "Subject",
    "Symbol",
    "TaggedString",
    "Value",
    "apply_fixes",
    "check",
    "dump",
    "dumps",
    "format_text",
    "from_json",
    "json_schema",
    "load",
    "loads",
    "loads_one",
    "origin",
    "parse",
    "syntax_errors",
    "to_json",
]
