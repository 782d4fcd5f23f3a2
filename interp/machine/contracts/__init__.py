"""Checks arguments, results and answers against the schemas that a program declares."""

from .arguments import (
    own_parameters_of,
    parameters_of,
    read_arguments,
)
from .openapi_schemas import from_openapi_schema
from .response_format import (
    WRAPPED,
    response_format,
    unwrapped,
)
from .strict_tools import has_strict_form, without_stand_ins
from .text_answers import is_text_schema, text_said
from .tool_definitions import (
    function_definition,
    function_definition_text,
    mcp_definition,
)
from .validity import (
    accepts,
    check,
    check_against,
    require_schema,
)
