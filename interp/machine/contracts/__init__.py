"""Checks arguments, results and answers against the schemas that a program declares."""

from .answers import (
    WRAPPED,
    correction,
    is_text_schema,
    read_answer,
    response_format,
    text_said,
    unwrapped,
    wrapped,
)
from .arguments import Parameters, own_parameters_of, parameters_of, read_arguments
from .schema_forms import from_openapi_schema, has_strict_form, without_stand_ins
from .tool_forms import function_definition_text, tool_to_json
from .validity import accepts, check, check_against, require_schema
