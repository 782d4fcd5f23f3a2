"""Checks arguments, results and answers against the schemas that a program declares."""

from .schema_forms import from_openapi_schema, has_strict_form, without_stand_ins
from .tool_forms import tool_to_json
from .values import (
    WRAPPED,
    Parameters,
    accepts,
    check,
    check_against,
    correction,
    is_text_schema,
    own_parameters_of,
    parameters_of,
    read_answer,
    read_arguments,
    require_schema,
    response_format,
    text_said,
    unwrapped,
    wrapped,
)
