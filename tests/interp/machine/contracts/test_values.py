"""Values held to schemas: a tool's arguments, with defaults and nothing lost, and answers."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest

from gram import Pattern, loads_one
from interp import ValidationError, begin, run
from interp.machine import validate_tool_args
from interp.machine.contracts import values
from interp.machine.contracts.values import response_format
from tests.by_day import given_few
from tests.interp.model_server import ModelServer
from tests.lenses_ext import strategies as strategies


def parameters(**properties: Any) -> dict[str, Any]:
    """The schema of some parameters, none of them required."""
    return {"type": "object", "properties": properties}


INTEGER = {"type": "integer"}


def refusal(schema: dict[str, Any], args: Any) -> str:
    """What is said of arguments that are not accepted."""
    with pytest.raises(ValidationError) as caught:
        validate_tool_args(schema, args)
    return str(caught.value)


# --- what comes back


def keeps(found: Any, given_: Any) -> bool:
    """Whether everything of a value is there still, of the same type and in the same order."""
    if isinstance(given_, dict) and isinstance(found, dict):
        kept = [key for key in found if key in given_]
        return kept == list(given_) and all(keeps(found[key], given_[key]) for key in given_)
    if isinstance(given_, list) and isinstance(found, list):
        return len(found) == len(given_) and all(map(keeps, found, given_))
    return type(found) is type(given_) and found == given_


def additions(found: Any, given_: Any) -> list[Any]:
    """What was filled in."""
    if isinstance(found, list):
        return [each for pair in zip(found, given_, strict=True) for each in additions(*pair)]
    if not isinstance(found, dict):
        return []
    below = [additions(found[key], given_[key]) for key in given_]
    new = [found[key] for key in found if key not in given_]
    return [*new, *(each for some in below for each in some)]


def defaults(schema: Any) -> list[Any]:
    """Every default in a schema, wherever it is."""
    if isinstance(schema, list):
        return [each for below in schema for each in defaults(below)]
    if not isinstance(schema, dict):
        return []
    own = [schema["default"]] if "default" in schema else []
    return [*own, *(each for below in schema.values() for each in defaults(below))]


@given_few(strategies.strict_arguments())
def test_valid_arguments_come_back_with_nothing_lost_and_defaults_added(
    case: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    schema, args = case
    before = copy.deepcopy((schema, args))

    found = validate_tool_args(schema, args)

    assert keeps(found, args)
    assert all(value in defaults(schema) for value in additions(found, args))
    if "{" not in json.dumps(additions(found, args)):  # nothing is filled into a default itself
        assert json.dumps(validate_tool_args(schema, found)) == json.dumps(found)
    assert json.dumps((schema, args)) == json.dumps(before)


NESTED = parameters(
    place=parameters(city={"type": "string", "default": "Oslo"}, zip=INTEGER),
    stops={"type": "array", "items": parameters(minutes={**INTEGER, "default": 5})},
    rows={"type": "array", "items": {"type": "array", "items": parameters(n={"default": 1})}},
    tags={"type": "array", "default": ["a"]},
)


def test_defaults_are_filled_into_objects_and_arrays_that_are_there() -> None:
    args = {"place": {"zip": 1}, "stops": [{}, {"minutes": 9}], "rows": [[{}], []]}

    assert validate_tool_args(NESTED, args) == {
        "place": {"zip": 1, "city": "Oslo"},
        "stops": [{"minutes": 5}, {"minutes": 9}],
        "rows": [[{"n": 1}], []],
        "tags": ["a"],
    }
    assert args == {"place": {"zip": 1}, "stops": [{}, {"minutes": 9}], "rows": [[{}], []]}


@pytest.mark.parametrize("deeper", [{}, {"list": {"type": "array", "default": []}}])
def test_arguments_keep_the_order_in_which_they_were_given(deeper: Any) -> None:
    schema = parameters(
        a={**INTEGER, "default": 1}, b=INTEGER, c={**INTEGER, "default": 1}, **deeper
    )
    assert list(validate_tool_args(schema, {"b": 1, "a": 2})) == ["b", "a", "c", *deeper]


def test_what_is_not_there_is_not_made_up_of_its_parts() -> None:
    assert validate_tool_args(NESTED, {}) == {"tags": ["a"]}
    assert validate_tool_args({**NESTED, "required": ["tags"]}, {"tags": []}) == {"tags": []}


def test_whether_a_default_fits_is_judged_once_however_many_objects_lack_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged: list[Any] = []
    accepts = values.accepts
    monkeypatch.setattr(
        values, "accepts", lambda below, *about: judged.append(below) or accepts(below, *about)
    )
    count = {**INTEGER, "default": 7}
    schema = parameters(rows={"type": "array", "items": parameters(n=count)})

    found = validate_tool_args(schema, {"rows": [{}] * 100})

    assert found == {"rows": [{"n": 7}] * 100}
    assert judged == [count]


def test_a_default_beside_a_reference_is_filled_in() -> None:
    schema = {
        "type": "object",
        "properties": {
            "u": {"$ref": "#/$defs/U", "default": {"n": "x"}},
            "v": {"$ref": "#/properties/u", "default": {"n": "y"}},
        },
        "$defs": {"U": {"type": "object", "required": ["n"]}},
    }

    assert validate_tool_args(schema, {}) == {"u": {"n": "x"}, "v": {"n": "y"}}
    with pytest.raises(ValidationError):
        validate_tool_args(schema, {"u": {}})


# --- null

NULLABLE = {"type": ["integer", "null"]}
DEFS = {"$defs": {"N": INTEGER, "M": NULLABLE}}
TAGS = {"type": "array", "default": ["a"]}


@pytest.mark.parametrize(
    ("schema", "args", "meant"),
    [
        # a null for a type without null means the default
        (parameters(n={**INTEGER, "default": 1}, t=TAGS),
         {"n": None, "t": None}, {"n": 1, "t": ["a"]}),
        (parameters(n={"$ref": "#/$defs/N", "default": 1}) | DEFS, {"n": None}, {"n": 1}),
        # one that is allowed stays null, beside others, too
        (parameters(n={**NULLABLE, "default": 1}, any={"default": 2}, bare=NULLABLE),
         {"n": None, "any": None, "bare": None}, {"n": None, "any": None, "bare": None}),
        (parameters(n={**NULLABLE, "default": 1}, other={**INTEGER, "default": 3}),
         {"n": None, "other": None}, {"n": None, "other": 3}),
        (parameters(n={"$ref": "#/$defs/M", "default": 1}) | DEFS, {"n": None}, {"n": None}),
        # a default that is null for a type without null means no value
        (parameters(n={**INTEGER, "default": None}), {}, {}),
        (parameters(n={**INTEGER, "default": None}), {"n": None}, {}),
        (parameters(n={**INTEGER, "default": None}), {"n": 1}, {"n": 1}),
    ],
)  # fmt: skip
def test_a_null_is_what_the_schema_makes_of_it(schema: Any, args: Any, meant: Any) -> None:
    assert validate_tool_args(schema, args) == meant


# --- what is refused


CLOSED = {**parameters(b=INTEGER, a=INTEGER), "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "args", "said"),
    [
        (parameters(n=INTEGER), {"n": None}, '$.n: null is not of type "integer"'),
        (CLOSED, {"c": 1, "d": 2, "a": 1}, '$: unknown "c", "d"; known: a, b'),
        (parameters(a=CLOSED), {"a": {"x": 1}}, '$.a: unknown "x"'),
        (parameters(a=False), {"a": 1}, "$.a: nothing may be given, found 1"),
        ({**parameters(n=INTEGER), "allOf": [parameters(n=INTEGER)]}, {"n": "x"},
         '$.n: "x" is not of type "integer"'),  # once, though it is found twice
    ],
)  # fmt: skip
def test_what_is_refused_is_told_once_with_its_place(schema: Any, args: Any, said: str) -> None:
    assert refusal(schema, args) == said


def test_every_violation_has_its_path() -> None:
    schema = {
        **parameters(
            **{"a b": INTEGER, "tags": {"type": "array", "items": {"type": "string"}}},
            user={"$ref": "#/$defs/User"},
        ),
        "required": ["n"],
        "$defs": {"User": {**parameters(age=INTEGER), "required": ["name"]}},
    }

    args = {"a b": "x", "tags": ["a", 1], "user": {"age": "1"}}

    assert sorted(refusal(schema, args).splitlines()) == [
        '$.tags[1]: 1 is not of type "string"',
        '$.user.age: "1" is not of type "integer"',
        '$.user: missing required "name"',
        '$: missing required "n"',
        '$["a b"]: "x" is not of type "integer"',
    ]


@pytest.mark.parametrize(("count", "more"), [(5, []), (6, ["and 1 more"]), (9, ["and 4 more"])])
def test_of_many_violations_the_first_five_are_told(count: int, more: list[str]) -> None:
    names = [f"p{i}" for i in range(count)]
    lines = refusal(parameters(**dict.fromkeys(names, INTEGER)), dict.fromkeys(names, "x"))
    told = [f'$.{name}: "x" is not of type "integer"' for name in names]
    assert lines.splitlines() == told[:5] + more


@pytest.mark.parametrize("whole", [False, True])
def test_violations_of_nested_alternatives_are_reported_at_the_outermost(whole: bool) -> None:
    """Each level of alternatives doubles what there is to describe."""
    either = {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}, {"type": "null"}]}
    node = {kind: parameters(x={"type": kind}, c=either) for kind in ("integer", "string")}
    defs = {"A": node["integer"], "B": node["string"]}
    schema = {**parameters(a=either, n=INTEGER), "$defs": defs}
    nested: Any = None
    for _ in range(15):
        nested = {"c": nested, "x": 1 if whole else True}
    where = "$" if whole else "$.a"
    schema |= {"not": {"type": "object"}} if whole else {}
    told = refusal(schema, {"a": nested, "n": 1})
    assert told == f"{where}: fits none of the types that are allowed"


def test_defaults_are_filled_behind_references_as_deep_as_the_value_goes() -> None:
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "$defs": {
            "Tree": {
                "type": "object",
                "properties": {
                    "size": {"type": "integer", "default": 1},
                    "left": {"$ref": "#/$defs/Tree"},
                    "others": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                },
            }
        },
    }

    filled = validate_tool_args(schema, {"tree": {"left": {}, "others": [{"size": 2}, {}]}})

    assert filled == {
        "tree": {"size": 1, "left": {"size": 1}, "others": [{"size": 2}, {"size": 1}]}
    }


TREE = {"$ref": "#/$defs/Tree"}


@pytest.mark.parametrize(
    ("child", "default"), [(TREE, {}), ({"type": "array", "items": TREE}, [{}])]
)
def test_a_default_that_holds_its_own_type_is_put_in_as_it_is(child: Any, default: Any) -> None:
    tree = parameters(size={**INTEGER, "default": 1}, child={**child, "default": default})
    schema = {**parameters(tree=TREE), "$defs": {"Tree": tree}}
    assert validate_tool_args(schema, {"tree": {}}) == {"tree": {"size": 1, "child": default}}


@pytest.mark.parametrize(
    "schema", [{"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}, {"$ref": "#/nowhere"}]
)
def test_references_that_lead_nowhere_are_told_or_hold_no_defaults(schema: dict[str, Any]) -> None:
    with suppress(ValidationError):
        assert validate_tool_args({"type": "object", "properties": {"a": schema}}, {}) == {}


def doubling(levels: int) -> dict[str, Any]:
    """Types that each refer to the next in two alternatives."""
    chain: dict[str, Any] = {
        f"T{i}": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"next": {"$ref": f"#/$defs/T{i + 1}"}},
                    "required": [key, "next"],
                }
                for key in ("a", "b")
            ]
        }
        for i in range(levels)
    }
    chain[f"T{levels}"] = {"type": "integer"}
    return {**parameters(x={"$ref": "#/$defs/T0"}), "$defs": chain}


def nested(levels: int, last: Any) -> Any:
    for _ in range(levels):
        last = {"a": 1, "b": 1, "next": last}
    return last


def test_types_that_double_with_each_level_are_checked() -> None:
    for levels in (5, 15):
        assert validate_tool_args(doubling(levels), {"x": nested(levels, 1)})
        assert "$.x" in refusal(doubling(levels), {"x": nested(levels, "1")})


def test_what_cannot_be_checked_in_time_is_refused() -> None:
    schema = doubling(60)
    assert refusal(schema, {"x": nested(60, "1")}).startswith("checking it would take too long")


def agent(answer: str) -> Pattern:
    return loads_one(f'[a:Agent {{instruction: "x", model: "OpenAI/m"}} | {answer}]')


NAMES = agent('[:Answer | (:Array {elementType: "Who"}), [Who:Type:Object | (name::String)]]')
WHO = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def streamed(program: Pattern) -> Any:
    begun = begin(program, "hi")
    *_, last = begun.stream()
    return last.response  # type: ignore[union-attr]  # the last observation is Finished


def test_a_type_other_than_an_object_is_asked_for_inside_an_object() -> None:
    format_ = response_format(NAMES.elements[0])

    assert format_["json_schema"] == {
        "name": "answer",
        "schema": {
            "type": "object",
            "properties": {"answer": {"type": "array", "items": {"$ref": "#/$defs/Who"}}},
            "required": ["answer"],
            "additionalProperties": False,
            "$defs": {"Who": WHO},
        },
    }


@pytest.mark.parametrize("said", ['{"answer": [{"name": "Bob"}]}', '[{"name":"Bob"}]'])
@pytest.mark.parametrize("drive", [lambda a: run(a, "hi"), streamed])
def test_the_answer_is_given_without_what_was_around_it(
    model_server: ModelServer, drive: Any, said: str
) -> None:
    model_server.will_say(said)
    response = drive(NAMES)
    assert response.value == [{"name": "Bob"}]
    assert response.context[-1].content == '[{"name":"Bob"}]'


def test_an_object_of_the_programs_own_is_not_taken_apart(model_server: ModelServer) -> None:
    model_server.will_say('{"answer": 5}')
    assert run(agent("[:Answer:Object | (answer::Integer)]"), "hi").value == {"answer": 5}
