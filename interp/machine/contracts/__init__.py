"""Checks arguments, results and answers against the schemas that a program declares."""

from .arguments import (
    own_parameters_of as own_parameters_of,
    parameters_of as parameters_of,
    read_arguments as read_arguments,
)
from .openapi_schemas import from_openapi_schema as from_openapi_schema
from .response_format import (
    WRAPPED as WRAPPED,
    response_format as response_format,
    unwrapped as unwrapped,
)
from .strict_tools import has_strict_form as has_strict_form, without_stand_ins as without_stand_ins
from .text_answers import is_text_schema as is_text_schema, text_said as text_said
from .tool_definitions import (
    function_definition as function_definition,
    function_definition_text as function_definition_text,
    mcp_definition as mcp_definition,
)
from .validity import (
    accepts as accepts,
    check as check,
    check_against as check_against,
    require_schema as require_schema,
)
