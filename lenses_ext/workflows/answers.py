"""Whether an answer is the value that ``is`` of an arrow or ``until`` of a loop asks for.

The run of a workflow, its checks and the combinations of its choices all ask here.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from pyrsistent import PMap

from gram import Value

from ..schemas import NotJson, json_key, to_json_value


def conditions_of(value: Value | None) -> Mapping[str, Value]:
    """The wanted values by field of the answer; under ``""`` that of the whole answer."""
    if value is None:
        return {}
    return value if isinstance(value, PMap) else {"": value}


def parts_of(answer: object) -> Mapping[str, object]:
    """The fields of an answer, and under ``""`` the whole answer."""
    return {**(answer if isinstance(answer, dict) else {}), "": answer}


def all_hold(conditions: Mapping[str, Value], parts: Mapping[str, object]) -> bool:
    """Whether the parts of an answer are the wanted values; a part that is missing is none."""
    return all(name in parts and is_value(parts[name], conditions[name]) for name in conditions)


def is_value(answer: object, value: Value) -> bool:
    """Whether JSON is what a value of the notation says, as JSON Schema compares.

    >>> from gram import Symbol, TaggedString
    >>> is_value("ok", Symbol("ok")), is_value(1.0, 1), is_value(True, 1)
    (True, True, False)
    >>> is_value(None, TaggedString("json", "null"))
    True
    """
    return json_key(answer) == answer_key(value)


def answer_key(value: Value) -> Hashable:
    """What all answers that are a value have in common; of what no answer is, a key of its own."""
    try:
        return json_key(to_json_value(value))
    except NotJson:
        return NotJson
