"""Names of `gram` and `lenses_ext` with which agents are built, for the front of `interp`.

``interp/__init__.pyi`` can only import from modules of its own package, so they are listed here.
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
]
