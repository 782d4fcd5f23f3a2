"""JSON Schemas on their own: values, parts, validity and comparison."""

from .checks import breaches, default_misfits, is_of, is_regular_expression
from .json_values import (
    Keywords,
    NotJson,
    check_json,
    dump_json,
    from_json_value,
    json_literal,
    thaw_json,
    to_json_value,
)
from .keywords import KEYWORDS, KIND_OF
from .schema_parts import Schema, SchemaPath, remote_references, subschemas
