"""The keywords of JSON Schema, of 2020-12 and of earlier drafts: what each is about and holds."""

from __future__ import annotations

_OF_ONE_KIND = {
    "number": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
    "string": "minLength maxLength pattern contentEncoding contentMediaType",
    "array": (
        "items prefixItems additionalItems contains minItems maxItems uniqueItems minContains "
        "maxContains unevaluatedItems"
    ),
    "object": (
        "properties patternProperties additionalProperties required dependentRequired "
        "dependentSchemas propertyNames minProperties maxProperties unevaluatedProperties"
    ),
}
KIND_OF = {key: kind for kind, keys in _OF_ONE_KIND.items() for key in keys.split()}
"""Keywords that are about values of one kind, and which kind; a number may be an integer."""

TEXTS = frozenset(["title", "description", "examples", "$comment", "deprecated"])
"""Keywords for those who read a schema."""

ANNOTATIONS = TEXTS | {"default", "format", "readOnly", "writeOnly"}
"""Keywords that refuse no value."""

_ONE_SCHEMA = (
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames "
    "then unevaluatedItems unevaluatedProperties"
)
ONE_SCHEMA = frozenset(_ONE_SCHEMA.split())
"""Keywords whose value is a schema."""

LIST_OF_SCHEMAS = frozenset(["allOf", "anyOf", "oneOf", "prefixItems", "items"])
"""Keywords whose value is an array of schemas."""

MAP_OF_SCHEMAS = frozenset(
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"]
)
"""Keywords whose value is an object that holds schemas."""

_OTHERS = (
    "$id $schema $ref $anchor $dynamicRef $dynamicAnchor $vocabulary $recursiveRef "
    "$recursiveAnchor type enum const"
)
KEYWORDS = ANNOTATIONS.union(KIND_OF, ONE_SCHEMA, LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, _OTHERS.split())
"""All keywords."""
