"""The names that the package offers, and where each lives."""

from .checks.table import Check as Check, apply_fixes as apply_fixes, check as check
from .diagnostics import (
    Diagnostic as Diagnostic,
    Edit as Edit,
    Severity as Severity,
    only_errors as only_errors,
)
from .display.highlighting import highlighted as highlighted, html_of as html_of
from .documents.document import Document as Document, parse as parse
from .documents.files import (
    dump_file as dump_file,
    load_file as load_file,
    loads as loads,
    loads_one as loads_one,
    parse_file as parse_file,
    write_atomically as write_atomically,
)
from .documents.formatting import format_text as format_text
from .editing.replacement import Change as Change
from .errors import (
    MAX_LEVELS as MAX_LEVELS,
    ArgumentError as ArgumentError,
    GramEncodeError as GramEncodeError,
    GramError as GramError,
    NoPatternError as NoPatternError,
)
from .graphs import (
    Graph as Graph,
    graph_of as graph_of,
    reconcile as reconcile,
    to_networkx as to_networkx,
)
from .json import (
    from_json as from_json,
    json_schema as json_schema,
    to_json as to_json,
)
from .reading.parser import (
    read_in_pieces as read_in_pieces,
    readable as readable,
    syntax_errors as syntax_errors,
)
from .source import GramDecodeError as GramDecodeError, Source as Source, Span as Span
from .trees import operations as operations
from .trees.operations import (
    TreePath as TreePath,
    pattern_at as pattern_at,
    replace_at as replace_at,
    walk as walk,
    walk_up as walk_up,
)
from .trees.pattern import (
    Origin as Origin,
    Pattern as Pattern,
    Subject as Subject,
    is_edge as is_edge,
    is_reference as is_reference,
    origin as origin,
)
from .trees.values import (
    Measurement as Measurement,
    Range as Range,
    Symbol as Symbol,
    TaggedString as TaggedString,
    Value as Value,
    freeze as freeze,
)
from .writing import (
    Style as Style,
    dumps as dumps,
    write_pattern as write_pattern,
    write_value as write_value,
)
