"""The names that the package offers, and where each lives."""

from .canonical_json import from_json as from_json, to_json as to_json
from .checks import apply_fixes as apply_fixes, check as check
from .document import Document as Document, parse as parse
from .errors import (
    MAX_LEVELS as MAX_LEVELS,
    GramDecodeError as GramDecodeError,
    GramEncodeError as GramEncodeError,
    GramError as GramError,
)
from .faults import Edit as Edit, Fault as Fault, Severity as Severity
from .files import dump as dump, load as load, loads as loads, loads_one as loads_one
from .formatting import format_text as format_text
from .json_schema import json_schema as json_schema
from .lossless.changes import Change as Change
from .origin import Origin as Origin, origin as origin
from .pattern import Pattern as Pattern, Subject as Subject
from .recovery import syntax_errors as syntax_errors
from .serializer import Spelling as Spelling, Style as Style, dumps as dumps
from .source import Source as Source, Span as Span
from .spans import Spans as Spans
from .values import (
    Measurement as Measurement,
    Range as Range,
    Symbol as Symbol,
    TaggedString as TaggedString,
    Value as Value,
)
