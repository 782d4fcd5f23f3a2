"""JSON Schemas on their own: values, parts, validity and the comparison of two."""

from .canonical_form import canonical
from .checks import accepts_value, breaches, default_misfits, is_of, is_regular_expression
from .comparison import Difference, differences
from .composing import (
    ANYTHING,
    any_of,
    field_of,
    fields_of,
    is_required,
    items_of,
    list_schema,
    options_of,
    record_schema,
    says_nothing,
)
from .json_values import (
    Keywords,
    NotJson,
    check_json,
    dump_json,
    from_json_value,
    json_literal,
    same_json,
    thaw_json,
    to_json_value,
)
from .keywords import KEYWORDS, KIND_OF
from .schema_parts import Schema, SchemaPath, remote_references, subschemas
