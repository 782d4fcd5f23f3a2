"""The agent language as typed views over gram patterns."""

from .signature import Parameter, Shape, Type, TypeSignature
from .signature_errors import SignatureError
from .style import agent_style, dumps
from .type_signatures import (
    json_schema_faults,
    json_schema_to_type_signature,
    parse_type_signature,
    result_schema,
    signature_elements,
    signature_patterns,
    signature_text,
    type_signature_to_json_schema,
    write_type_signature,
)

__all__ = [
    "Parameter",
    "Shape",
    "SignatureError",
    "Type",
    "TypeSignature",
    "agent_style",
    "dumps",
    "json_schema_faults",
    "json_schema_to_type_signature",
    "parse_type_signature",
    "result_schema",
    "signature_elements",
    "signature_patterns",
    "signature_text",
    "type_signature_to_json_schema",
    "write_type_signature",
]
