"""OpenAPI documents as tool libraries: the document, its operations, the calls over HTTP."""

from .library import openapi_library

__all__ = ["openapi_library"]
