"""OpenAPI documents as tool libraries: the document, its operations, the calls over HTTP."""

from .library import openapi_library as openapi_library
