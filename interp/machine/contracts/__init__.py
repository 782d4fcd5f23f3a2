"""Checks arguments, results and answers against the schemas that a program declares."""

from .schema_forms import from_openapi_schema, has_strict_form
from .tool_forms import tool_to_json
from .values import (
    WRAPPED,
    accepts,
    check,
    is_text_schema,
    read_arguments,
    require_schema,
    response_format,
    text_said,
    unwrapped,
    wrapped,
)
