"""OpenAPI documents as tool libraries: the document, its operations, the calls over HTTP."""

from .library import ApiTool, openapi_library
from .yaml_text import read_yaml

__all__ = ["ApiTool", "openapi_library", "read_yaml"]
