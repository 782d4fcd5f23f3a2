"""OpenAPI documents as tool libraries: the document, its operations, the calls over HTTP."""

from .library import ApiTool, openapi_library

__all__ = ["ApiTool", "openapi_library"]
