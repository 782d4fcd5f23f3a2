"""JSON Schemas on their own: values, parts, validity and the comparison of two."""

from .canonical_form import Match as Match, canonical as canonical
from .checks import (
    accepts_value,
    breaches,
    default_misfits,
    is_of,
    is_regular_expression,
    schema_validator as schema_validator,
)
from .comparison import Difference as Difference, differences as differences
from .json_values import (
    MAX_JSON_LEVELS as MAX_JSON_LEVELS,
    Keywords,
    NotJson as NotJson,
    check_json as check_json,
    dump_json as dump_json,
    from_json_value,
    json_key,
    json_literal,
    same_json as same_json,
    thaw_json,
    to_json_value as to_json_value,
)
from .keywords import ANNOTATIONS, KEYWORDS, KIND_OF, TEXTS
from .schema_parts import (
    Schema,
    SchemaPath,
    remote_references,
    resolve_ref as resolve_ref,
    subschemas,
)
from .values_of import kinds_of, listed
from .visits import validation_visits as validation_visits
from .yaml_text import MissingYamlError as MissingYamlError, read_yaml as read_yaml
