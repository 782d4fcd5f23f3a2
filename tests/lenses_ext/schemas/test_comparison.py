"""A tool implements its specification when it takes all that is promised; else every difference."""

import random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, strategies as st

from lenses_ext.schemas import differences, resolve_ref
from lenses_ext.schemas.canonical_form import canonical
from tests.lenses_ext.strategies import parameter_schemas, strict_arguments

SAME: list[tuple[str, Any, Any]] = [
    ("order of required", {"required": ["a", "b"]}, {"required": ["b", "a"]}),
    ("duplicates of required", {"required": ["a", "a"]}, {"required": ["a"]}),
    ("order of enum", {"enum": ["c", "f"]}, {"enum": ["f", "c"]}),
    ("order of types", {"type": ["string", "null"]}, {"type": ["null", "string"]}),
    ("order of alternatives", {"oneOf": [{"minimum": 1}, {}]}, {"oneOf": [{}, {"minimum": 1}]}),
    ("empty required", {"required": []}, {}),
    ("empty properties", {"properties": {}}, {}),
    ("empty items", {"items": {}}, {}),
    ("additionalProperties true", {"additionalProperties": True}, {}),
    ("a list of one type", {"type": ["string"]}, {"type": "string"}),
    ("whole decimals", {"default": 10.0, "enum": [1.0]}, {"default": 10, "enum": [1]}),
    ("alternatives of bare types", {"anyOf": [{"type": "string"}, {"type": "null"}]},
     {"type": ["null", "string"]}),
    ("references",
     {"properties": {"a": {"$ref": "#/$defs/A", "description": "d"}},
      "$defs": {"A": {"type": "string"}}},
     {"properties": {"a": {"type": "string", "description": "d"}}}),
    ("keywords that refuse nothing", {"minLength": 0, "not": False, "pattern": ""}, {}),
    ("keywords for other kinds", {"type": "string", "minimum": 1, "items": {}}, {"type": "string"}),
    ("integers that are numbers", {"type": ["integer", "number"]}, {"type": "number"}),
    ("a reference alone in allOf",
     {"allOf": [{"$ref": "#/$defs/A"}], "title": "t", "$defs": {"A": {"type": "string"}}},
     {"type": "string", "title": "t"}),
    ("a single alternative", {"anyOf": [{"oneOf": [{"minimum": 1}]}]}, {"minimum": 1}),
    ("alternatives that accept nothing", {"anyOf": [{"minimum": 1}, False]}, {"minimum": 1}),
    ("references in definitions",
     {"items": {"$ref": "#/$defs/A"},
      "$defs": {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"minimum": 1}}},
     {"items": {"items": {"minimum": 1}}}),
]  # fmt: skip


def parameter(schema: Any, *, required: bool = True) -> dict[str, Any]:
    """The schema of one parameter ``x``."""
    names = ["x"] if required else []
    return {"type": "object", "properties": {"x": schema}, "required": names}


INTEGER, STRING, NULL = {"type": "integer"}, {"type": "string"}, {"type": "null"}
POINT = {"type": "object", "properties": {"a": INTEGER}, "required": ["a"]}
CAT = {"type": "object", "properties": {"k": {"const": "cat"}, "n": INTEGER}, "required": ["k"]}
DOG = {"type": "object", "properties": {"k": {"const": "dog"}, "n": STRING}, "required": ["k"]}


def tagged(marks: list[Any]) -> dict[str, Any]:
    """Objects with one of some values as their field ``k``."""
    return {"type": "object", "properties": {"k": {"enum": marks}}, "required": ["k"]}


WIDER: list[tuple[str, Any, Any]] = [
    ("optional, with null", parameter(INTEGER, required=False),
     parameter({"anyOf": [INTEGER, NULL], "default": None}, required=False)),
    ("optional, with a default", parameter(INTEGER, required=False),
     parameter({**INTEGER, "default": 1}, required=False)),
    ("required is optional there", parameter(INTEGER), parameter(INTEGER, required=False)),
    ("a default the implementation does not state",
     parameter({**INTEGER, "default": 1}, required=False), parameter(INTEGER, required=False)),
    ("further optional parameters", parameter(STRING),
     {**parameter(STRING), "properties": {"x": STRING, "y": INTEGER}}),
    ("an implementation that refuses what is not declared", parameter(STRING),
     {**parameter(STRING), "additionalProperties": False}),
]  # fmt: skip
WIDER_PARAMETER: list[tuple[str, Any, Any]] = [
    ("the same", INTEGER, INTEGER),
    ("integers are numbers", INTEGER, {"type": "number"}),
    ("more types", STRING, {"type": ["integer", "string", "null"]}),
    ("anything", STRING, {}),
    ("looser bounds", {**INTEGER, "minimum": 1, "maximum": 5},
     {**INTEGER, "minimum": 0, "exclusiveMaximum": 6}),
    ("fewer constraints", {**STRING, "maxLength": 5, "pattern": "a"}, {**STRING, "maxLength": 9}),
    ("a bound for values that cannot come", STRING, {"type": ["string", "integer"], "minimum": 3}),
    ("some of an enum", {"enum": ["a", "b"]}, {"enum": ["b", "c", "a"]}),
    ("an enum with values that the specification refuses",
     {**STRING, "enum": ["a", 1], "maxLength": 1}, {**STRING, "maxLength": 2}),
    ("booleans as a list", {"type": "boolean"}, {"enum": [True, False, 1]}),
    ("integers above", {**INTEGER, "exclusiveMinimum": 0}, {"minimum": 1}),
    ("alternatives for other kinds", INTEGER,
     {"oneOf": [STRING, {**STRING, "maxLength": 3}, INTEGER]}),
    ("alternatives of values", {"enum": ["a"]}, {"oneOf": [{"const": "a"}, NULL]}),
    ("an enum of a type", {**STRING, "enum": ["a", "b"]}, STRING),
    ("an enum within bounds", {"enum": [1, 2]}, {**INTEGER, "minimum": 1}),
    ("one of the alternatives", POINT, {"anyOf": [STRING, POINT]}),
    ("types among alternatives", {"type": ["string", "null"]},
     {"anyOf": [{**STRING, "maxLength": 3}, STRING, NULL]}),
    ("alternatives told apart by type", INTEGER, {"oneOf": [STRING, INTEGER]}),
    ("alternatives told apart by a field", CAT, {"oneOf": [CAT, DOG]}),
    ("all alternatives", {"anyOf": [POINT, STRING]}, {"anyOf": [STRING, INTEGER, POINT]}),
    ("wider items", {"type": "array", "items": INTEGER},
     {"type": "array", "items": {"type": "number"}}),
    ("wider fields", POINT, {**POINT, "properties": {"a": {}, "b": STRING}}),
    ("fields of any name", POINT, {"type": "object", "additionalProperties": INTEGER}),
    ("any object", POINT, {"type": "object"}),
    ("all of several", {"allOf": [INTEGER, {"minimum": 3}]}, {**INTEGER, "minimum": 2}),
    ("and all of several there", {**INTEGER, "minimum": 3}, {"allOf": [INTEGER, {"minimum": 2}]}),
    ("multiples", {**INTEGER, "multipleOf": 4}, {**INTEGER, "multipleOf": 2}),
    ("a format less", {**STRING, "format": "date"}, STRING),
]  # fmt: skip
WIDER += [(claim, parameter(one), parameter(other)) for claim, one, other in WIDER_PARAMETER]

DIFFERENT: list[tuple[str, Any, Any, list[str]]] = [
    ("another default", {"properties": {"limit": {"default": 10}}},
     {"properties": {"limit": {"default": 20}}},
     ["$.properties.limit.default: spec 10, implementation 20"]),
    ("a type that is like it", {"enum": [1]}, {"enum": [True]},
     ["$.enum: spec [1], implementation [true]"]),
    ("a default that is like it", {"default": "1"}, {"default": 1},
     ['$.default: spec "1", implementation 1']),
    ("a bound", {}, {"minimum": 1}, ["$.minimum: spec has none, implementation 1"]),
    ("a narrower type and required", parameter({"type": "number"}, required=False),
     parameter(INTEGER),
     ["$.properties.x: spec optional, implementation required",
      '$.properties.x.type: spec "number", implementation "integer"']),
    ("another title", {"title": "x"}, {"title": "y"}, ['$.title: spec "x", implementation "y"']),
    ("a title of its own", {}, {"title": "y"}, ['$.title: spec has none, implementation "y"']),
    ("more fixed items", {"prefixItems": [{}]}, {"prefixItems": [{}, {}]},
     ["$.prefixItems: spec [{}], implementation [{},{}]"]),
    ("a parameter that is not there", parameter(STRING), {"type": "object", "properties": {}},
     ['$.properties.x: spec {"type":"string"}, implementation has none']),
    ("a parameter of another name", parameter(STRING),
     {"properties": {"y": STRING}, "required": ["y"]},
     ["$.properties.y: spec has none, implementation required",
      '$.properties.x: spec {"type":"string"}, implementation has none']),
    ("a reference beside a type", parameter(STRING),
     {**parameter({**STRING, "$ref": "#/$defs/A"}), "$defs": {"A": {"maxLength": 3, **NULL}}},
     ['$.properties.x.type: spec "string", implementation "null"']),
    ("all at once", {"properties": {"a": INTEGER, "b": {"default": 1}, "c": {}}},
     {"properties": {"a": STRING, "b": {"default": 2}}},
     ['$.properties.a.type: spec "integer", implementation "string"',
      "$.properties.b.default: spec 1, implementation 2",
      "$.properties.c: spec {}, implementation has none"]),
]  # fmt: skip
DIFFERENT_PARAMETER: list[tuple[str, Any, Any, list[str]]] = [
    ("fewer types", {"type": ["string", "null"]}, STRING,
     ['.type: spec ["null","string"], implementation "string"']),
    ("a stricter bound", {**INTEGER, "minimum": 1}, {**INTEGER, "exclusiveMinimum": 1},
     [".exclusiveMinimum: spec has none, implementation 1"]),
    ("a pattern", STRING, {**STRING, "pattern": "a"},
     ['.pattern: spec has none, implementation "a"']),
    ("a format", STRING, {**STRING, "format": "date"},
     ['.format: spec has none, implementation "date"']),
    ("an enum", STRING, {"enum": ["a"]}, ['.enum: spec has none, implementation ["a"]']),
    ("more of an enum", {"enum": ["a", "b"]}, {"enum": ["a"]},
     ['.enum: spec ["a","b"], implementation ["a"]']),
    ("an alternative that is not there", {"anyOf": [POINT, STRING]}, {"anyOf": [INTEGER, STRING]},
     ['.type: spec "object", implementation ["integer","string"]']),
    ("an alternative that is narrower there", INTEGER,
     {"anyOf": [{**INTEGER, "minimum": 1}, STRING]},
     ['.anyOf: spec {"type":"integer"}, '
      'implementation [{"minimum":1,"type":"integer"},{"type":"string"}]']),
    ("alternatives that are not told apart", INTEGER, {"oneOf": [INTEGER, {"type": "number"}]},
     [".oneOf: spec has none, " 'implementation [{"type":"integer"},{"type":"number"}]']),
    ("an alternative given twice is never the only one", {}, {"oneOf": [{}, {}]},
     [".oneOf: spec has none, implementation [{},{}]"]),
    ("alternatives told apart by a field that may be null in both", POINT,
     {"oneOf": [tagged(["x", None]), tagged([None, "y"])]},
     [".oneOf: spec has none, implementation "
      '[{"properties":{"k":{"enum":["x",null]}},"required":["k"],"type":"object"},{"pro…']),
    ("fields with names like a pattern, where no others are taken",
     {"patternProperties": {"^b": INTEGER}, "additionalProperties": False},
     {"additionalProperties": False},
     ['.patternProperties: spec {"^b":{"type":"integer"}}, ' "implementation has none"]),
    ("what counts as evaluated", {"additionalProperties": True, "unevaluatedProperties": False},
     {"unevaluatedProperties": False},
     [".unevaluatedProperties: spec false, implementation false"]),
    ("narrower items", {"type": "array", "items": {"type": "number"}},
     {"type": "array", "items": INTEGER}, ['.items.type: spec "number", implementation "integer"']),
    ("any items", {"type": "array"}, {"type": "array", "items": INTEGER},
     ['.items.type: spec has none, implementation "integer"']),
    ("a field more that is required", {**POINT, "required": []}, POINT,
     [".properties.a: spec optional, implementation required"]),
    ("any object", {"type": "object"}, {**POINT, "required": []},
     ['.properties.a.type: spec has none, implementation "integer"']),
    ("fields of any name", {"type": "object", "additionalProperties": STRING},
     {"type": "object", "additionalProperties": INTEGER},
     ['.additionalProperties.type: spec "string", implementation "integer"']),
]  # fmt: skip
DIFFERENT += [
    (claim, parameter(spec), parameter(other), [f"$.properties.x{message}" for message in messages])
    for claim, spec, other, messages in DIFFERENT_PARAMETER
]


@pytest.mark.parametrize(("claim", "one", "other"), SAME, ids=[claim for claim, _, _ in SAME])
def test_schemas_that_mean_the_same_have_no_difference(claim: str, one: Any, other: Any) -> None:
    assert differences(one, other) == ()
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(("claim", "spec", "wider"), WIDER, ids=[claim for claim, _, _ in WIDER])
def test_an_implementation_may_take_more(claim: str, spec: Any, wider: Any) -> None:
    assert differences(spec, wider) == ()


@pytest.mark.parametrize(
    ("claim", "spec", "implementation", "messages"), DIFFERENT, ids=[each[0] for each in DIFFERENT]
)
def test_every_difference_is_named(
    claim: str, spec: Any, implementation: Any, messages: list[str]
) -> None:
    assert [str(each) for each in differences(spec, implementation)] == messages


def test_a_difference_knows_its_path_and_what_would_mend_it() -> None:
    (found,) = differences(parameter(INTEGER), parameter(STRING))

    assert found.path == ("properties", "x", "type")
    assert found.hint == "let the implementation take this type, or write the implementation's"


@pytest.mark.parametrize(
    ("spec", "implementation"),
    [
        (STRING, STRING),
        (STRING, None),
        (None, STRING),
        (STRING, {}),
        ({"type": "number"}, INTEGER),
        ({"type": ["string", "null"]}, STRING),
        (POINT, {"type": "object"}),
        (POINT, {**POINT, "properties": {"a": INTEGER, "b": STRING}}),
        ({"type": "array", "items": POINT}, {"type": "array"}),
        ({"type": "array", "items": POINT}, {"type": "array", "items": {}}),
        ({**POINT, "required": []}, POINT),
    ],
)
def test_a_result_may_be_narrower_or_undeclared(spec: Any, implementation: Any) -> None:
    assert differences(spec, implementation, result=True) == ()


@pytest.mark.parametrize(
    ("spec", "implementation", "message"),
    [
        (STRING, INTEGER, '$.type: spec "string", implementation "integer"'),
        (STRING, {"type": ["null", "string"]},
         '$.type: spec "string", implementation ["null","string"]'),
        (STRING, {"type": "object"}, '$.type: spec "string", implementation "object"'),
        (POINT, {**POINT, "required": []},
         "$.properties.a: spec required, implementation optional"),
        (POINT, {"type": "object", "properties": {"b": {}}},
         "$.properties.a: spec required, implementation has none"),
        ({"enum": ["a"]}, STRING, '$.enum: spec ["a"], implementation has none'),
    ],
)  # fmt: skip
def test_a_result_is_what_the_specification_declares(
    spec: Any, implementation: Any, message: str
) -> None:
    assert [str(each) for each in differences(spec, implementation, result=True)] == [message]


def test_match_types_leaves_out_texts_for_readers() -> None:
    spec = {
        "title": "T",
        "properties": {"title": {"type": "number", "description": "d", "format": "float"}},
    }
    implementation = {"properties": {"title": {"type": "number", "examples": [1]}}}

    assert differences(spec, implementation, match="types") == ()
    assert differences(spec, {"properties": {}}, match="types") != ()
    assert differences({"default": 1}, {"default": 2}, match="types") != ()
    assert differences(spec, implementation) != ()


def test_match_name_looks_at_no_schema() -> None:
    assert differences({"type": "object"}, {"type": "string"}, match="name") == ()


def tree(label: str) -> dict[str, Any]:
    node = {"properties": {"next": {"$ref": "#/$defs/N"}, "v": {"type": label}}}
    return {"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": node, "Unused": {}}}


def test_types_that_contain_themselves_are_compared() -> None:
    renamed = tree("integer")
    renamed["$defs"] = {
        "M": {"properties": {"next": {"$ref": "#/$defs/M"}, "v": {"type": "number"}}}
    }
    renamed["properties"] = {"n": {"$ref": "#/$defs/M"}}

    assert differences(tree("string"), tree("string")) == ()
    assert differences(tree("integer"), renamed) == ()
    assert [each.path for each in differences(tree("string"), renamed)] == [
        ("properties", "n", "properties", "v", "type")
    ]


@pytest.mark.parametrize("levels", [5, 20])
def test_alternatives_in_alternatives_are_compared_soon(levels: int) -> None:
    def chain(last: dict[str, Any]) -> dict[str, Any]:
        definitions = {f"D{levels}": last}
        for level in range(levels):
            below = {"$ref": f"#/$defs/D{level + 1}"}
            objects = [{"type": "object", "properties": {key: below}} for key in "ab"]
            definitions[f"D{level}"] = {"anyOf": objects}
        return {**parameter({"$ref": "#/$defs/D0"}), "$defs": definitions}

    assert differences(chain(STRING), chain(INTEGER))
    assert differences(chain(STRING), chain(STRING)) == ()


@given(parameter_schemas(), st.randoms(use_true_random=False))
def test_a_schema_implements_itself_however_keys_and_lists_without_an_order_are_shuffled(
    schema: dict[str, Any], rng: random.Random
) -> None:
    def shuffled(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            entries = [(name, shuffled(item, name)) for name, item in value.items()]
            return dict(rng.sample(entries, len(entries)))
        if isinstance(value, list) and key in ("required", "anyOf", "type"):
            return rng.sample(value, len(value))
        return value

    before = repr(schema)

    assert differences(schema, schema) == differences(schema, shuffled(schema)) == ()
    assert differences(schema, schema, match="types") == ()
    assert repr(schema) == before


# --- what passes is safe


DEFINITIONS = {"A": {"type": ["string", "null"], "maxLength": 1}, "B": {"minimum": 1}}
TYPES = st.sampled_from(["integer", "number", "string", "null", "object", "array", "boolean"])
LISTED = st.sampled_from([0, 1, 2, 1.5, "", "a", None, True, False, [], {"k": "x"}])


def small_schemas() -> st.SearchStrategy[Any]:
    """Schemas made of few words, so that two of them often have something to do with each other."""
    leaves = st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
            "minimum": st.integers(0, 2),
            "exclusiveMinimum": st.integers(0, 2),
            "exclusiveMaximum": st.integers(1, 3),
            "multipleOf": st.integers(1, 2),
            "maxLength": st.integers(0, 2),
            "format": st.sampled_from(["date", "float"]),
            "enum": st.lists(LISTED, min_size=1, max_size=3),
            "const": LISTED,
            "$ref": st.sampled_from(["#/$defs/A", "#/$defs/B"]),
        },
    )
    marks = st.lists(st.sampled_from(["x", "y", None, 1, True]), min_size=1, max_size=2)
    tags = st.lists(marks.map(tagged), min_size=2, max_size=3)

    def around(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        some = st.lists(below, min_size=1, max_size=3)
        return st.fixed_dictionaries(
            {},
            optional={
                "type": TYPES,
                "properties": st.dictionaries(st.sampled_from("abk"), below, max_size=2),
                "required": st.lists(st.sampled_from("abk"), max_size=2, unique=True),
                "additionalProperties": below | st.booleans(),
                "patternProperties": st.dictionaries(
                    st.sampled_from(["a", "^b"]), below, max_size=1
                ),
                "items": below,
                "maxItems": st.integers(0, 2),
                "anyOf": some,
                "oneOf": some | tags,
                "allOf": some,
                "not": below,
                "prefixItems": some,
                "contains": below,
                "$ref": st.sampled_from(["#/$defs/A", "#/$defs/B"]),
            },
        )

    return st.recursive(leaves | st.booleans(), around, max_leaves=6)


def small_values() -> st.SearchStrategy[Any]:
    leaves = st.sampled_from([None, True, 0, 1, 2, 1.5, -1, "", "a", "abc", "x"])
    return st.recursive(
        leaves,
        lambda below: (
            st.lists(below, max_size=2)
            | st.dictionaries(st.sampled_from("abck"), below, max_size=2)
        ),
        max_leaves=4,
    )


def accepts(schema: Any, value: Any) -> bool:
    if isinstance(schema, dict) and "$defs" not in schema:
        schema = {**schema, "$defs": DEFINITIONS}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid(value)


def declares(schema: Any, value: Any, root: Any) -> bool:
    """Whether a schema declares every key of the objects in a value that it says something of."""
    if not isinstance(schema, dict):
        return True
    parts = [resolve_ref(schema["$ref"], root)] if "$ref" in schema else []
    parts += [each for key in ("anyOf", "oneOf", "allOf") for each in schema.get(key, ())]
    if not all(declares(part, value, root) for part in parts):
        return False
    if isinstance(value, list):
        return all(declares(schema.get("items"), item, root) for item in value)
    if not isinstance(value, dict):
        return True
    known, rest = schema.get("properties"), schema.get("additionalProperties")
    if known and rest is None and value.keys() - known.keys():
        return False
    return all(declares((known or {}).get(key, rest), item, root) for key, item in value.items())


@st.composite
def changed(draw: st.DrawFn, schema: Any) -> Any:
    """A schema with a few changes, most of which let it accept more."""
    if isinstance(schema, list):
        return [draw(changed(item)) for item in schema]
    if not isinstance(schema, dict):
        return schema
    new = {key: draw(changed(value)) for key, value in schema.items()}
    match draw(st.integers(0, 12)):
        case 0 if "type" in new and isinstance(new["type"], str):
            new["type"] = draw(st.sampled_from([[new["type"], "null"], "number", "string"]))
        case 1 if new.get("required"):
            new["required"] = new["required"][1:]
        case 2 if isinstance(new.get("properties"), dict):
            new["properties"] = {**new["properties"], "more": {"type": "string"}}
        case 3 if "enum" in new:
            new["enum"] = [*new["enum"], "more"]
        case 4 if "anyOf" in new:
            new["anyOf"] = [*new["anyOf"], {"type": "null"}]
        case 5 if "items" in new:
            del new["items"]
        case 6 if "default" in new:
            del new["default"]
        case 7 if isinstance(new.get("properties"), dict):
            new["properties"] = dict(list(new["properties"].items())[1:])
    return new


@given(small_schemas(), st.data(), st.lists(small_values(), min_size=1, max_size=8))
def test_what_is_valid_for_the_specification_is_valid_for_what_implements_it(
    spec: Any, data: st.DataObject, values: list[Any]
) -> None:
    implementation = data.draw(small_schemas() | changed(spec))
    root = {"$defs": DEFINITIONS}
    if differences(parameter(spec) | root, parameter(implementation) | root):
        return

    for value in values:
        if accepts(spec, value) and declares(spec, value, root):
            assert accepts(implementation, value)


def rewritten(schema: Any) -> st.SearchStrategy[Any]:
    """Another schema for the same values."""
    forms: list[Any] = [{key: [schema]} for key in ("anyOf", "oneOf", "allOf")]
    forms += [{"anyOf": [schema, False]}, {"allOf": [True, schema]}]
    if isinstance(schema, dict):
        if isinstance(types := schema.get("type"), list):
            forms.append({"anyOf": [{**schema, "type": each} for each in types]})
        if "enum" in schema:
            refused = [each for each in (7, "abcd", None) if not accepts(schema, each)]
            rest = {key: value for key, value in schema.items() if key != "enum"}
            more = [each for each in refused if not accepts(rest, each)]
            forms.append({**schema, "enum": [*more, *schema["enum"]]})
        if schema.get("type") == "boolean":
            forms.append({"allOf": [schema, {"enum": [True, False]}]})
        for key, value in {"minLength": 0, "uniqueItems": False, "not": False}.items():
            forms.append({key: value, **schema})
        for key in ("type", "minimum", "maxLength", "enum", "required", "not", "$ref"):
            if key in schema:
                part = {key: schema[key]}
                rest = {name: value for name, value in schema.items() if name != key}
                forms.append({**rest, "allOf": [*rest.get("allOf", ()), part]})
    return st.sampled_from(forms)


@given(small_schemas().flatmap(lambda schema: st.tuples(st.just(schema), rewritten(schema))))
def test_another_way_to_write_a_schema_makes_no_difference(both: tuple[Any, Any]) -> None:
    root = {"$defs": DEFINITIONS}
    one, other = (parameter(schema) | root for schema in both)

    assert differences(one, other) == ()
    assert differences(other, one) == ()


@pytest.mark.parametrize(
    "anything",
    [
        {"anyOf": [{}]},
        {"allOf": [{}, True]},
        {"oneOf": [{"description": "any"}]},
        {"anyOf": [{}, {"type": "null"}]},
        {"anyOf": [{"allOf": [{"anyOf": [{}]}]}]},
    ],
)
def test_alternatives_that_refuse_nothing_declare_nothing(anything: dict[str, Any]) -> None:
    assert canonical(anything) == {}
    assert differences({"type": "integer"}, anything, result=True) == ()
    assert differences(parameter({"type": "integer"}), parameter(anything)) == ()
    assert differences(parameter(anything), parameter({"type": "integer"})) != ()


def test_an_alternative_of_anything_that_another_narrows_is_no_declaration_of_nothing() -> None:
    not_null = {"oneOf": [{}, {"type": "null"}]}

    assert differences({"type": "integer"}, not_null, result=True) != ()
    assert differences({}, not_null, result=True) == ()


@given(small_schemas(), st.data(), st.lists(small_values(), min_size=1, max_size=8))
def test_what_an_implementation_returns_is_valid_for_the_specification(
    implementation: Any, data: st.DataObject, values: list[Any]
) -> None:
    spec = data.draw(small_schemas() | changed(implementation))
    root = {"$defs": DEFINITIONS}
    whole = [each | root if isinstance(each, dict) else each for each in (spec, implementation)]
    if canonical(whole[1]) == {} or differences(*whole, result=True):
        return

    for value in values:  # a bare object or array declares nothing
        if not isinstance(value, dict | list) and accepts(implementation, value):
            assert accepts(spec, value)


@given(strict_arguments(), st.data())
def test_arguments_are_valid_for_every_implementation_that_passes(
    drawn: tuple[dict[str, Any], dict[str, Any]], data: st.DataObject
) -> None:
    spec, arguments = drawn
    implementation = data.draw(changed(spec))

    if not differences(spec, implementation):
        assert accepts(implementation, arguments)
