"""JSON Schemas on their own: values, parts, validity and the comparison of two."""

from .canonical_form import Match as Match, canonical as canonical
from .checks import (
    accepts_value,
    breaches,
    default_misfits,
    is_of,
    is_regular_expression,
    schema_validator as schema_validator,
    value_judge,
)
from .comparison import Difference as Difference, differences as differences
from .json_values import (
    Keywords,
    MissingYamlError as MissingYamlError,
    NotJson as NotJson,
    check_json as check_json,
    dump_json as dump_json,
    from_json_value,
    json_key,
    json_literal,
    read_yaml as read_yaml,
    same_json as same_json,
    thaw_json,
    to_json_value as to_json_value,
)
from .schema_parts import (
    ANNOTATIONS,
    KEYWORDS,
    KIND_OF,
    TEXTS,
    Schema,
    SchemaPath,
    kinds_of,
    listed,
    remote_references,
    resolve_ref as resolve_ref,
    subschemas,
    validation_visits as validation_visits,
)
