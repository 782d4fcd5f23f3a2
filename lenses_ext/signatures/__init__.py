"""The types of tools: read, checked, written, and turned into JSON Schemas and back."""

from .faults import SignatureError
from .from_schema import json_schema_to_type_signature
from .parsing import (
    parse_type_signature,
    result_schema,
    signature_diagnostics as signature_diagnostics,
    signature_elements as signature_elements,
    type_signature_to_json_schema,
)
from .parts import (
    INPUT,
    is_chain,
    is_path,
    is_typed_path,
    names_of,
    shared_shapes,
    signature_of,
    type_names,
    used_shapes,
    with_other_elements,
    written_arrow,
)
from .values import (
    NAMED,
    PARAMETERS,
    RESERVED,
    Parameter as Parameter,
    Shape as Shape,
    Type as Type,
    TypeSignature,
    basic,
)
from .writer import (
    parse_program as parse_program,
    signature_text,
    write_program as write_program,
    write_type_signature,
)
