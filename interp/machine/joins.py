"""Joins: which arrows of a workflow are taken, and what they carry together.

What is carried depends on what the nodes gave alone, never on the order in which they gave it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lenses_ext import Workflow
from lenses_ext.workflows import FlowArrow, Join, Loop

from ..json_text import JsonText, write_json
from .frames import EndedNode, WorkflowFrame


def arrivals(
    flow: Workflow, frame: WorkflowFrame, join: Join
) -> list[tuple[FlowArrow, JsonText]] | None:
    """The arrows of a join that are live, with what they carry; None while one is not decided."""
    found: list[tuple[FlowArrow, JsonText]] = []
    for arrow in join.arrows:
        # what the input is to the arrows that start from it
        given = EndedNode(frame.given, frame.given)
        ended = given if arrow.source is None else frame.ended.get(arrow.source)
        if ended is None:
            return None
        if ended.said is not None and _is_taken(flow, arrow, ended.said):
            found.append((arrow, ended.given if arrow.is_choice and ended.given else ended.said))
    return found


def _is_taken(flow: Workflow, arrow: FlowArrow, said: JsonText) -> bool:
    if arrow.kind == "OTHERWISE":
        tests = (each for each in flow.arrows if (each.kind, each.source) == ("WHEN", arrow.source))
        return not any(_is_taken(flow, each, said) for each in tests)
    return arrow.kind != "WHEN" or arrow.is_for(said.value)


def joined(flow: Workflow, join: Join, arrived: Iterable[tuple[FlowArrow, JsonText]]) -> JsonText:
    """What some live arrows give together: a record, or what the only one carries."""
    if join.is_record:
        return record_of({flow.key_of(arrow): value for arrow, value in arrived})
    ((_, value), *_rest) = arrived
    return value


def record_of(values: Mapping[str, JsonText]) -> JsonText:
    """Some values under their names."""
    return JsonText("{" + ",".join(f"{write_json(key)}:{values[key]}" for key in values) + "}")


def list_of(values: Iterable[JsonText]) -> JsonText:
    """Some values in their order."""
    return JsonText("[" + ",".join(values) + "]")


def is_enough(frame: WorkflowFrame, loop: Loop) -> bool:
    """Whether the nodes that end a loop have said what ends it."""
    said = {name: frame.ended.get(name, EndedNode()).said for name in loop.until}
    return loop.is_ended_by({name: each.value for name, each in said.items() if each is not None})
