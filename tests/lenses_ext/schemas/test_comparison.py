"""A tool implements its specification when it takes all that is promised; else every difference."""

import json
import random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, strategies as st

from lenses_ext.schemas import differences, resolve_ref
from lenses_ext.schemas.canonical_form import canonical
from tests.by_day import given_few
from tests.lenses_ext.strategies import parameter_schemas
from tests.paths import DATA


def parameter(schema: Any, *, required: bool = True) -> dict[str, Any]:
    """The schema of one parameter ``x``."""
    names = ["x"] if required else []
    return {"type": "object", "properties": {"x": schema}, "required": names}


INTEGER, STRING, NULL = {"type": "integer"}, {"type": "string"}, {"type": "null"}
POINT = {"type": "object", "properties": {"a": INTEGER}, "required": ["a"]}


def tagged(marks: list[Any]) -> dict[str, Any]:
    """Objects with one of some values as their field ``k``."""
    return {"type": "object", "properties": {"k": {"enum": marks}}, "required": ["k"]}


CASES: dict[str, list[Any]] = json.loads((DATA / "schemas" / "comparison.json").read_text("utf-8"))


def cases(*names: str) -> Any:
    """Rows of the file: a claim, two schemas and, where they differ, the messages.

    The schemas of the second name are those of one parameter.
    """
    claims, rows = [], []
    for name in names:
        for claim, *both, messages in ([*row, []][:4] for row in CASES[name]):
            if name != names[0]:
                both = [parameter(each) for each in both]
                messages = [f"$.properties.x{each}" for each in messages]
            claims.append(claim)
            rows.append((*both, messages))
    return pytest.mark.parametrize(("spec", "implementation", "messages"), rows, ids=claims)


@cases("same")
def test_schemas_that_mean_the_same_have_no_difference(
    spec: Any, implementation: Any, messages: list[str]
) -> None:
    assert [*differences(spec, implementation)] == messages == []
    assert canonical(spec) == canonical(implementation)


@cases("compared", "compared_parameter")
def test_an_implementation_may_take_more_and_every_other_difference_is_named(
    spec: Any, implementation: Any, messages: list[str]
) -> None:
    assert [str(each) for each in differences(spec, implementation)] == messages


def test_a_difference_knows_its_path_and_what_would_mend_it() -> None:
    (found,) = differences(parameter(INTEGER), parameter(STRING))
    assert found.path == ("properties", "x", "type")
    assert found.hint == "let the implementation take this type, or write the implementation's"


@cases("results")
def test_a_result_may_be_narrower_or_undeclared_but_is_what_the_specification_declares(
    spec: Any, implementation: Any, messages: list[str]
) -> None:
    assert [str(each) for each in differences(spec, implementation, result=True)] == messages


def test_match_types_leaves_out_texts_for_readers_and_match_name_all() -> None:
    field = {"type": "number", "description": "d", "format": "float"}
    spec = {"title": "T", "properties": {"title": field}}
    implementation = {"properties": {"title": {"type": "number", "examples": [1]}}}

    assert differences(spec, implementation, match="types") == ()
    assert differences(spec, {"properties": {}}, match="types") != ()
    assert differences({"default": 1}, {"default": 2}, match="types") != ()
    assert differences(spec, implementation) != ()
    assert differences({"type": "object"}, {"type": "string"}, match="name") == ()


def tree(label: str, name: str = "N") -> dict[str, Any]:
    own = {"$ref": f"#/$defs/{name}"}
    node = {"properties": {"next": own, "v": {"type": label}}}
    return {"properties": {"n": own}, "$defs": {name: node, "Unused": {}}}


def test_types_that_contain_themselves_are_compared() -> None:
    renamed = tree("number", "M")
    assert differences(tree("string"), tree("string")) == ()
    assert differences(tree("integer"), renamed) == ()
    (found,) = differences(tree("string"), renamed)
    assert found.path == ("properties", "n", "properties", "v", "type")


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
            **dict.fromkeys(("minimum", "exclusiveMinimum", "maxLength"), st.integers(0, 2)),
            "exclusiveMaximum": st.integers(1, 3),
            "multipleOf": st.integers(1, 2),
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
        patterns = st.dictionaries(st.sampled_from(["a", "^b"]), below, max_size=1)
        return st.fixed_dictionaries(
            {},
            optional={
                "type": TYPES,
                "properties": st.dictionaries(st.sampled_from("abk"), below, max_size=2),
                "required": st.lists(st.sampled_from("abk"), max_size=2, unique=True),
                "additionalProperties": below | st.booleans(),
                "patternProperties": patterns,
                "maxItems": st.integers(0, 2),
                "oneOf": some | tags,
                **dict.fromkeys(("anyOf", "allOf", "prefixItems"), some),
                **dict.fromkeys(("items", "not", "contains"), below),
                "$ref": st.sampled_from(["#/$defs/A", "#/$defs/B"]),
            },
        )

    return st.recursive(leaves | st.booleans(), around, max_leaves=6)


def small_values() -> st.SearchStrategy[Any]:
    def around(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        objects = st.dictionaries(st.sampled_from("abck"), below, max_size=2)
        return st.lists(below, max_size=2) | objects

    leaves = st.sampled_from([None, True, 0, 1, 2, 1.5, -1, "", "a", "abc", "x"])
    return st.recursive(leaves, around, max_leaves=4)


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
        case 5 | 6 as key:
            new.pop(("items", "default")[key - 5], None)
        case 7 if isinstance(new.get("properties"), dict):
            new["properties"] = dict(list(new["properties"].items())[1:])
    return new


@pytest.mark.parametrize("result", [False, True], ids=["arguments", "results"])
@given_few(small_schemas(), st.data(), st.lists(small_values(), min_size=1, max_size=8))
def test_what_one_side_promises_the_other_accepts(
    result: bool, promised: Any, data: st.DataObject, values: list[Any]
) -> None:
    """A specification promises arguments, an implementation its results."""
    taken = data.draw(small_schemas() | changed(promised))
    root = {"$defs": DEFINITIONS}
    if result:
        whole = [each | root if isinstance(each, dict) else each for each in (taken, promised)]
        differs = canonical(whole[1]) == {} or differences(*whole, result=True)
    else:
        differs = differences(parameter(promised) | root, parameter(taken) | root)

    for value in () if differs else values:
        if result:  # a bare object or array declares nothing
            is_promised = not isinstance(value, dict | list)
        else:
            is_promised = declares(promised, value, root)
        if is_promised and accepts(promised, value):
            assert accepts(taken, value)


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


def test_alternatives_declare_nothing_unless_one_narrows_another() -> None:
    anything, not_null = {"oneOf": [{"description": "any"}]}, {"oneOf": [{}, NULL]}
    assert differences(INTEGER, anything, result=True) == ()
    assert differences(parameter(INTEGER), parameter(anything)) == ()
    assert differences(parameter(anything), parameter(INTEGER)) != ()
    assert differences(INTEGER, not_null, result=True) != ()
    assert differences({}, not_null, result=True) == ()
