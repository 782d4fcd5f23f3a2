"""JSON Schemas on their own: values, parts and validity.

The comparison of two (`comparison`) is reached through the front of the package: most programs
need none.
"""

from .canonical_form import canonical
from .checks import accepts_value, breaches, default_misfits, is_of, is_regular_expression
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
