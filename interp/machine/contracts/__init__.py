"""Checks arguments, results and answers against the schemas that a program declares."""

from .arguments import own_parameters_of, parameters_of, read_arguments
from .openapi_schemas import from_openapi_schema
from .response_format import response_format, unwrapped
from .strict_tools import has_strict_form, without_stand_ins
from .tool_definitions import function_definition, function_definition_text, mcp_definition
from .validity import accepts, check, check_against, require_schema

__all__ = [
    "accepts",
    "check",
    "check_against",
    "from_openapi_schema",
    "function_definition",
    "function_definition_text",
    "has_strict_form",
    "mcp_definition",
    "own_parameters_of",
    "parameters_of",
    "read_arguments",
    "require_schema",
    "response_format",
    "unwrapped",
    "without_stand_ins",
]
