"""The types of tools: read, checked, written, and turned into JSON Schemas and back."""

from .chain import INPUT, names_of
from .checks import dotted
from .errors import SignatureError
from .file_shapes import shared_shapes, type_names, used_shapes, with_shared_shapes
from .parsing import (
    parse_type_signature,
    result_schema,
    signature_elements,
    signature_faults,
    type_signature_to_json_schema,
)
from .parts import is_chain, is_path, is_typed_path, signature_of
from .style import dumps as dumps_program
from .values import TypeSignature
from .vocabulary import NAMED, PARAMETERS, RESERVED, RESERVED_KEYS
from .writer import signature_text
