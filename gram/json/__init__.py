"""The canonical JSON form of trees, and its schema."""

from .canonical_form import from_json, to_json, value_to_json
from .schema import json_schema
