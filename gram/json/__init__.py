"""The canonical JSON form of trees, and its schema."""

from .canonical_form import (
    Json as Json,
    from_json,
    json_schema,
    to_json,
    value_to_json as value_to_json,
)
