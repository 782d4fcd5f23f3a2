"""The names that the package offers, and where each lives."""

from .checks.fixes import apply_fixes as apply_fixes
from .checks.reading import Occurrence as Occurrence, Reading as Reading
from .checks.table import (
    CHECKS as CHECKS,
    Check as Check,
    check as check,
    syntax_fault as syntax_fault,
)
from .diagnostics import (
    Diagnostic as Diagnostic,
    Edit as Edit,
    PartPath as PartPath,
    Severity as Severity,
    only_errors as only_errors,
)
from .display.highlighting import (
    highlighted as highlighted,
    html_of as html_of,
    notebook_form as notebook_form,
    rich_text as rich_text,
)
from .display.markup import (
    Content as Content,
    Markup as Markup,
    element as element,
    markup_of as markup_of,
    visible as visible,
)
from .documents.document import Document as Document, parse as parse
from .documents.files import (
    PathOrFile as PathOrFile,
    decode as decode,
    dump as dump,
    load as load,
    loads as loads,
    loads_one as loads_one,
    parse_file as parse_file,
)
from .documents.formatting import format_text as format_text
from .documents.new_layout import format_changes as format_changes
from .documents.saving import (
    HeldFile as HeldFile,
    holding as holding,
    resolved as resolved,
    write_atomically as write_atomically,
)
from .editing.changed import ChangedPattern as ChangedPattern
from .editing.replacement import Change as Change
from .errors import (
    MAX_LEVELS as MAX_LEVELS,
    ArgumentError as ArgumentError,
    GramDecodeError as GramDecodeError,
    GramEncodeError as GramEncodeError,
    GramError as GramError,
    NoPatternError as NoPatternError,
    expect as expect,
    expect_all as expect_all,
)
from .graphs import (
    Graph as Graph,
    graph_of as graph_of,
    reconcile as reconcile,
    to_networkx as to_networkx,
)
from .json.canonical_form import (
    Json as Json,
    from_json as from_json,
    json_schema as json_schema,
    to_json as to_json,
    value_to_json as value_to_json,
)
from .plurals import counted as counted
from .reading.in_pieces import read_in_pieces as read_in_pieces
from .reading.lexer import tokens as tokens
from .reading.literals import quote as quote, unescape as unescape
from .reading.parser import (
    Stop as Stop,
    construct_of as construct_of,
    parse_tokens as parse_tokens,
)
from .reading.recovery import syntax_errors as syntax_errors
from .reading.spans import Spans as Spans
from .reading.syntax import (
    Arrow as Arrow,
    Bracket as Bracket,
    Construct as Construct,
    Node as Node,
    Path as Path,
    Token as Token,
)
from .showing import Presentation as Presentation, present as present
from .source import Source as Source, Span as Span
from .suggestions import did_you_mean as did_you_mean, nearest as nearest
from .trees import operations as operations
from .trees.origins import Origin as Origin, carry_origin as carry_origin, origin as origin
from .trees.pattern import (
    WALK as WALK,
    WALK_SUBJECT as WALK_SUBJECT,
    Pattern as Pattern,
    Subject as Subject,
)
from .trees.scopes import (
    WHOLE as WHOLE,
    Scope as Scope,
    Scoped as Scoped,
    Scopes as Scopes,
    one_scope as one_scope,
    scopes_from as scopes_from,
)
from .trees.shapes import is_edge as is_edge, is_reference as is_reference
from .trees.values import (
    Measurement as Measurement,
    Range as Range,
    Symbol as Symbol,
    TaggedString as TaggedString,
    Value as Value,
    exact as exact,
    freeze as freeze,
)
from .trees.walks import (
    TreePath as TreePath,
    pattern_at as pattern_at,
    replace_at as replace_at,
    walk as walk,
    walk_up as walk_up,
)
from .writing.abridged import abridged as abridged, abridged_subject as abridged_subject
from .writing.serializer import (
    ONE_LINE as ONE_LINE,
    Spelling as Spelling,
    Style as Style,
    dumps as dumps,
    write_name as write_name,
    write_pattern as write_pattern,
    write_value as write_value,
)
