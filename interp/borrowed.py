"""What `interp` offers of the packages below it: names that its users read programs with.

The stub by which `interp` loads its names takes relative imports only, so names from elsewhere
need a home in this package.
"""

from gram import GramDecodeError, GramEncodeError, GramError
from lenses_ext import (
    Model,
    Settings,
    TypeSignature,
    create_agent_pattern,
    create_tool_specification,
    parse_type_signature,
    type_signature_to_json_schema,
    validate_agent_pattern,
)

__all__ = [
    "GramDecodeError",
    "GramEncodeError",
    "GramError",
    "Model",
    "Settings",
    "TypeSignature",
    "create_agent_pattern",
    "create_tool_specification",
    "parse_type_signature",
    "type_signature_to_json_schema",
    "validate_agent_pattern",
]
