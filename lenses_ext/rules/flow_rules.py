"""What can be wrong with the types along the arrows of a workflow, its choices and its loops."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, NamedTuple

import attrs
from pyrsistent import pmap

from gram import Diagnostic, TreePath, Value
from gram.checks import Reading
from gram.words import did_you_mean

from ..labels import is_agent, is_loop
from ..language import INPUT, written_signature
from ..names import Definition, Program
from ..schemas import (
    Difference,
    NotJson,
    Schema,
    accepts_value,
    differences,
    dump_json,
    to_json_value,
)
from ..signatures import SignatureError, json_schema_to_type_signature
from ..workflows import HANDOFF, FlowArrow, Join, all_hold, conditions_of, parts_of
from .arrow_rules import cycles_of, holders, unconnected, workflows
from .flow_types import (
    Flow,
    Types,
    field_of,
    fields_of,
    is_required,
    list_schema,
    options_of,
    record_schema,
    says_nothing,
)
from .rules import called, meant_key

_MOST_ANSWERS = 1_000
"""How many combinations of answers are held against the choices of a node."""


class _Place:
    """A workflow with its types, and where the parts of it are written."""

    def __init__(self, reading: Reading, holder: Definition, given: Schema | None = None) -> None:
        self.reading = reading
        self.holder = holder
        self.flow = Flow(reading.once(Types), holder, given)
        self.read = self.flow.read

    def of(self, arrow: FlowArrow) -> TreePath:
        """Where an arrow is written; of one that is not, where its node is."""
        if arrow.is_written:
            return (*self.holder.path, *arrow.path)
        return self.of_node(arrow.target or arrow.source or "")

    def of_node(self, name: str) -> TreePath:
        for index, element in enumerate(self.holder.pattern.elements):
            if element.value.identity == name:
                return (*self.holder.path, index)
        for each in self.read.arrows:
            if each.is_written and name in (each.source, each.target):
                return (*self.holder.path, *each.path, int(each.source != name))
        return self.holder.path

    def words(self, name: str | None) -> str:
        """A node for messages, with the place of what it uses."""
        if name is None:
            return f"the input of {called(self.holder.pattern)}"
        used = self.flow.used(name)
        return f'"{name}"' if used is None else f'"{name}" ({self.reading.cited(used.path)})'


def _places(reading: Reading) -> Iterator[_Place]:
    """The workflows that are judged, and whose nodes and arrows are what they should be.

    Types along an arrow to a misspelt name, say, would be one mistake told twice.
    """
    for holder in workflows(reading):
        place = _Place(reading, holder)
        read, used = place.read, place.flow.used
        are_sound = (
            not read.ways.too_many
            and all(map(_is_sound, read.arrows))
            and all(used(name) not in (None, holder) for name in read.nodes)
            and not any(cycles_of(read.arrows))
            and not any(unconnected(holder))
        )
        if are_sound:
            yield place


def _is_sound(arrow: FlowArrow) -> bool:
    if arrow.kind == "WHEN":
        return bool(arrow.conditions)
    return arrow.kind not in ("UNKNOWN", HANDOFF)


class _Taker(NamedTuple):
    """What takes something along arrows: a node, or the result that a workflow's signature says.

    Attributes:
        name: the node; None for the result.
        join: the arrows to it.
        wanted: what it takes.
        words: what messages call it.
        fields: whether the fields of a record are taken one by one.
        used: what the node uses.
    """

    name: str | None
    join: Join
    wanted: Schema
    words: str
    fields: bool
    used: Definition | None = None

    def that(self, verb: str) -> str:
        """What messages say that it does: a node takes or needs, a signature gives."""
        return f"{self.words} {verb if self.used else 'gives'}"


def _takers(place: _Place) -> Iterator[_Taker]:
    types = place.flow.types
    for name, node in place.read.nodes.items():
        used = place.flow.used(name)
        if used is not None and not says_nothing(wanted := types.takes(used)):
            words = place.words(name)
            yield _Taker(name, node.input, wanted, words, types.several(used), used)
    wanted = types.declared_result(place.holder)
    if not says_nothing(wanted):
        words = f"the signature of {called(place.holder.pattern)}"
        yield _Taker(None, place.read.result, wanted, words, bool(fields_of(wanted)))


def arrow_type(reading: Reading) -> Iterator[Diagnostic]:
    """An arrow that carries what the node it leads to does not take."""
    for place in _places(reading):
        found = list(_misfits(place, place.read.arrows))
        yield from found
        if place.read.loop is not None:
            again = _Place(reading, place.holder, place.flow.fed_back())
            of_input = [each for each in place.read.arrows if each.source is None]
            for each in _misfits(again, of_input):
                if all(each.path != first.path for first in found):
                    yield attrs.evolve(each, message=f"in the next round {each.message}")


def _misfits(place: _Place, arrows: Sequence[FlowArrow]) -> Iterator[Diagnostic]:
    """What some arrows carry and is not taken."""
    judged = set(map(id, arrows))
    for taker in _takers(place):
        if mine := [each for each in taker.join.arrows if id(each) in judged]:
            yield from _unfit(place, taker, mine)


def _unfit(place: _Place, taker: _Taker, arrows: list[FlowArrow]) -> Iterator[Diagnostic]:
    flow, wanted, takes = place.flow, taker.wanted, taker.that("takes")
    of_input = _signature_hint(place, flow.types.parameters(taker.used)) if taker.used else None

    def mend(arrow: FlowArrow) -> str:
        return (of_input if arrow.source is None else None) or _HINT

    if taker.join.is_record and not taker.fields:
        record = flow.joined(taker.join, taker.name)
        if found := differences(wanted, record, match="types", result=True):
            message = f"a record is carried, which is not what {takes}: {_shown(found)}"
            yield Diagnostic.found(message, place.of(arrows[0]), hint=mend(arrows[0]))
        return
    for arrow in arrows:
        here: Schema | None = wanted
        if taker.join.is_record:
            key, known = flow.read.key_of(arrow), fields_of(wanted)
            here = field_of(wanted, key)
            if here is None:
                hint = did_you_mean(key, known) or f'name it with {{as: "…"}}: {", ".join(known)}'
                yield Diagnostic.found(f'what {takes} has no "{key}"', place.of(arrow), hint=hint)
                continue
        carried = flow.carried(arrow)
        if here is None or says_nothing(here) or says_nothing(carried):
            continue
        if found := differences(here, carried, match="types", result=True):
            message = f"{_giver(place, arrow)} is not what {takes}: {_shown(found)}"
            yield Diagnostic.found(message, place.of(arrow), hint=mend(arrow))


_HINT = "change one of the two types, or put a step between them"


def _signature_hint(place: _Place, parameters: Schema) -> str | None:
    """The signature that a workflow without one needs to have some parameters."""
    holder = place.holder
    if written_signature(holder.pattern) is not None or not isinstance(parameters, dict):
        return None
    given = place.flow.types.gives(holder)
    try:
        text = json_schema_to_type_signature(parameters, return_schema=given or None)
    except SignatureError:
        return None
    text = _STRING.sub("::Text", text).replace("\n", ", ")
    return f"write {text} in {holder.name}" if holder.name else f"write {text}"


_STRING = re.compile(r"::String\b")


def _giver(place: _Place, arrow: FlowArrow) -> str:
    if arrow.is_choice and arrow.source is not None:
        return f"what {place.words(arrow.source)} was given"
    if arrow.source is None:
        return f"the input of {called(place.holder.pattern)}"
    each = "each item that" if arrow.kind == "EACH" else "what"
    return f"{each} {place.words(arrow.source)} gives"


def _shown(found: Sequence[Difference]) -> str:
    """The differences between what is carried and what is wanted."""
    shown = []
    for each in found[:3]:
        path = "".join(f".{step}" for step in each.path if step != "properties")
        shown.append(f"{path[1:] or 'type'} {each.implementation} instead of {each.spec}")
    return "; ".join(shown)


def missing_field(reading: Reading) -> Iterator[Diagnostic]:
    """A node that needs a field which the arrows to it do not carry, or not always."""
    for place in _places(reading):
        for taker in _takers(place):
            wanted, needs, arrows = taker.wanted, taker.that("needs"), taker.join.arrows
            if not taker.join.is_record or not taker.fields:
                continue
            keys = list(map(place.read.key_of, arrows))
            is_misspelt = any(field_of(wanted, key) is None for key in keys)  # one of them, perhaps
            for key in (each for each in fields_of(wanted) if is_required(wanted, each)):
                carry = [each for each, its in zip(arrows, keys, strict=True) if its == key]
                at = place.of((carry or arrows)[0])
                if not carry and not is_misspelt:
                    message = f'{needs} "{key}", which no arrow carries'
                    yield Diagnostic.found(message, at, hint=_NAME_IT)
                elif carry and not place.flow.is_always_there(carry, taker.name):
                    message = f'{needs} "{key}", which is missing where another arm is taken'
                    hint = f'make "{key}" optional, or carry it always'
                    yield Diagnostic.found(message, at, hint=hint)


_NAME_IT = 'carry it with an arrow of this name: -[{as: "…"}]->'


def no_result(reading: Reading) -> Iterator[Diagnostic]:
    """A workflow without a result, or without one where some arm is taken."""
    for place in _places(reading):
        ways = place.read.ways
        if place.read.nodes and not all(ways.runs(way, None) for way in ways.live):
            written = [each for each in place.read.result.arrows if each.is_written]
            at = place.of(written[0]) if written else place.holder.path
            message = f"{called(place.holder.pattern)} has no result where another arm is taken"
            yield Diagnostic.found(message, at, hint="let every arm lead to ()")


def each_type(reading: Reading) -> Iterator[Diagnostic]:
    """An arrow EACH from what gives no list."""
    for place in _places(reading):
        for arrow in place.read.arrows:
            if arrow.kind != "EACH":
                continue
            hint = "declare an Array: (::Array {elementType: String})"
            if arrow.source is None:
                items = place.flow.types.item_of(place.flow, arrow) or {"type": "string"}
                parameters = record_schema({INPUT: list_schema(items)}, [INPUT])
                hint = _signature_hint(place, parameters) or hint
            giver, at = place.words(arrow.source), place.of(arrow)
            if not place.flow.is_list(arrow):
                gives = "is" if arrow.source is None else "gives"
                yield Diagnostic.found(f"{giver} {gives} no list", at, hint=hint)
            elif arrow.source is None and not place.flow.is_list_again():
                yield Diagnostic.found(
                    f"in the next round {giver} is no list", at, hint=_NEXT_ROUND
                )


_NEXT_ROUND = "let the step that comes last give a list, or map inside a workflow that is a step"


def handoff_type(reading: Reading) -> Iterator[Diagnostic]:
    """A step, or an agent with a signature, that hands over to one which gives something else."""
    types = reading.once(Types)
    program = types.program
    steps = {
        meant.path
        for each in program.workflows.values()
        for _, meant in (*program.inside(each), *program.used_in_arrows(each))
    }
    for holder in holders(reading):
        is_function = holder.path in steps or written_signature(holder.pattern) is not None
        wanted = types.gives(holder) if is_function and is_agent(holder.pattern) else {}
        if says_nothing(wanted):
            continue
        for at, other in _may_answer_for(program, holder):
            if found := differences(wanted, types.gives(other), match="types", result=True):
                gives = f'what "{other.name}" ({reading.cited(other.path)}) gives'
                is_for = f'what "{holder.name}" ({reading.cited(holder.path)}) gives'
                message = f"{gives} when it has taken over is not {is_for}: {_shown(found)}"
                yield Diagnostic.found(message, at, hint="give both the same type")


def _may_answer_for(program: Program, agent: Definition) -> Iterator[tuple[TreePath, Definition]]:
    """The agents that may end up with a conversation, each with where the agent hands it over."""
    entered = {agent.path}
    pending = program.handed_over(agent)
    while pending:
        at, other = pending.pop(0)
        if other.path not in entered:
            entered.add(other.path)
            yield at, other
            pending += [(at, each) for _, each in program.handed_over(other)]


# --- choices


def impossible_choice(reading: Reading) -> Iterator[Diagnostic]:
    """An arrow WHEN for an answer that its source never gives."""
    for place in _places(reading):
        for arrow in place.read.arrows:
            if arrow.kind != "WHEN":
                continue
            answer, giver = place.flow.chosen_on(arrow.source), place.words(arrow.source)
            for problem, hint in _impossible(answer, arrow.conditions, giver):
                yield Diagnostic.found(problem, place.of(arrow), "is", hint=hint)


def _impossible(
    answer: Schema,
    conditions: Mapping[str, Value],
    giver: str,
    one_of: str = "write an arrow WHEN for each",
) -> list[tuple[str, str | None]]:
    """What is asked of an answer that it can never be, with a hint."""
    parts = (_never(answer, each, giver, one_of) for each in conditions.items())
    if found := [each for each in parts if each is not None]:
        return found
    options = options_of(answer)
    if options is None or any(all_hold(conditions, parts_of(each)) for each in options):
        return []
    wanted = {name: to_json_value(value) for name, value in conditions.items()}
    return [(f"{giver} never gives {dump_json(wanted)}", _it_gives(options))]


def _never(
    answer: Schema, condition: tuple[str, Value], giver: str, one_of: str
) -> tuple[str, str | None] | None:
    """Why a part of an answer is never what is asked of it, with a hint; None if it may be."""
    name, value = condition
    schema = field_of(answer, name) if name else answer
    if schema is None:
        known = fields_of(answer)
        hint = did_you_mean(name, known) or (f"it has {', '.join(known)}" if known else None)
        return f'{giver} gives nothing that has a field "{name}"', hint
    try:
        wanted = to_json_value(value)
    except NotJson as error:
        return f"an answer is JSON: {error}", None
    if says_nothing(schema) or accepts_value(schema, wanted):
        return None
    if isinstance(wanted, list) and all(accepts_value(schema, each) for each in wanted):
        return f"{giver} gives one of {dump_json(wanted)}, not all", one_of
    options = options_of(schema)
    hint = "declare it in the type of the answer"
    if options is not None:
        texts = [each for each in options if isinstance(each, str)]
        near = did_you_mean(wanted, texts) if isinstance(wanted, str) else None
        hint = near or _it_gives(options)
    field = f' as "{name}"' if name else ""
    return f"{giver} never gives {dump_json(wanted)}{field}", hint


def _it_gives(options: list[Any]) -> str:
    return f"it gives {' or '.join(map(dump_json, options))}"


def uncovered_choice(reading: Reading) -> Iterator[Diagnostic]:
    """A choice that has no arrow for some answer."""
    for place in _places(reading):
        for source, tests, rest in _choices(place):
            if not tests:
                yield Diagnostic.found(
                    f"OTHERWISE is taken where no WHEN is, and {place.words(source)} has none",
                    place.of(rest[0]),
                    hint="leave out the label, or add an arrow WHEN",
                )
                continue
            if rest:
                continue
            answer, at = place.flow.chosen_on(source), place.of(tests[-1])
            if any(_impossible(answer, test.conditions, "") for test in tests):
                continue
            if left := _uncovered(answer, tests):
                hint = "add an arrow OTHERWISE, or one WHEN for each answer"
                if left == _TOO_MANY:
                    hint = "add an arrow OTHERWISE"
                yield Diagnostic.found(f"{place.words(source)} may give {left}", at, hint=hint)


def needless_otherwise(reading: Reading) -> Iterator[Diagnostic]:
    """An arrow OTHERWISE that is never taken, because every answer has an arrow of its own."""
    for place in _places(reading):
        for source, tests, rest in _choices(place):
            if tests and rest and not _uncovered(place.flow.chosen_on(source), tests):
                message = f"every answer of {place.words(source)} has an arrow of its own"
                yield Diagnostic.found(f"{message}, so this is never taken", place.of(rest[0]))


def _choices(place: _Place) -> Iterator[tuple[str | None, list[FlowArrow], list[FlowArrow]]]:
    """The nodes that choose, each with its arrows WHEN and OTHERWISE; None is the input."""
    of_input = tuple(each for each in place.read.arrows if each.source is None)
    of_nodes = ((name, node.outgoing) for name, node in place.read.nodes.items())
    for source, leaving in ((None, of_input), *of_nodes):
        tests = [each for each in leaving if each.kind == "WHEN"]
        rest = [each for each in leaving if each.kind == "OTHERWISE"]
        if tests or rest:
            yield source, tests, rest


_TOO_MANY = f"more than {_MOST_ANSWERS:,} combinations of answers, too many to look at each"


def _uncovered(answer: Schema, tests: Sequence[FlowArrow]) -> str:
    """The part of a message about answers that no arrow covers; empty if all are covered."""
    answers = _answers(answer, dict.fromkeys(name for test in tests for name in test.conditions))
    if answers is None:
        return "other answers, and no arrow is for them"
    first = islice(answers, _MOST_ANSWERS)
    if left := [each for each in first if not any(test.is_for(each) for test in tests)]:
        return f"{', '.join(map(dump_json, left[:3]))}, and no arrow is for that"
    return "" if next(answers, None) is None else _TOO_MANY


def _answers(answer: Schema, names: Iterable[str]) -> Iterator[Any] | None:
    """The answers that differ, as a whole or in some fields; None where they are not listed."""
    if (options := options_of(answer)) is not None:
        return iter(options)
    values: dict[str, list[Any]] = {}
    for name in names:
        schema = field_of(answer, name) if name else None
        options = None if schema is None else options_of(schema)
        if options is None or not is_required(answer, name):
            return None
        values[name] = options
    return (dict(zip(values, each, strict=True)) for each in product(*values.values()))


# --- loops


def loop_rounds(reading: Reading) -> Iterator[Diagnostic]:
    """A loop without a bound, or without an end."""
    for holder in workflows(reading):
        record = holder.pattern.value.properties
        if not is_loop(holder.pattern):
            for key in sorted(record.keys() & {"max", "until"}):
                message = f"{key} belongs to a Loop, and {called(holder.pattern)} is a Workflow"
                yield Diagnostic.found(
                    message, holder.path, key, hint=f"label it Loop, or leave out {key}"
                )
            continue
        if "max" not in record:
            message = f"{called(holder.pattern)} does not say how many rounds there are at most"
            hint = _slip(record, "max") or "add max: 3"
            yield Diagnostic.found(message, holder.path, "identity", hint=hint)
        else:
            most = record["max"]
            if isinstance(most, bool) or not isinstance(most, int) or most < 1:
                yield Diagnostic.found("max is a whole number above 0", holder.path, "max")
        if record.get("until", pmap()) == pmap():
            message = f"{called(holder.pattern)} does not say when it ends"
            hint = _slip(record, "until") or 'add until: {node: "approved"}'
            yield Diagnostic.found(message, holder.path, "identity", hint=hint)


def _slip(record: Mapping[str, Value], key: str) -> str | None:
    """The hint for a key that is a slip for one that a loop has to have."""
    slips = (each for each in sorted(record) if each != key and meant_key(each) == key)
    return next((f"did you mean {key} instead of {slip}?" for slip in slips), None)


def loop_end(reading: Reading) -> Iterator[Diagnostic]:
    """A loop whose end is no possible answer of its nodes."""
    for place in _places(reading):
        loop, path = place.read.loop, place.holder.path
        if loop is None or not place.read.nodes:
            continue
        for name, value in loop.until.items():
            if not name:
                last = ", ".join(each.source or "" for each in loop.feedback.arrows)
                message = f"several nodes come last, so until names one of them: {last}"
                yield Diagnostic.found(
                    message, path, "until", hint='write until: {node: "approved"}'
                )
                continue
            if name not in place.read.nodes:
                hint = did_you_mean(name, place.read.nodes)
                hint = hint or f"it has {', '.join(place.read.nodes)}"
                message = f'until asks for what "{name}" answers, which is no node of the loop'
                yield Diagnostic.found(message, path, "until", keys=(name,), hint=hint)
                continue
            fields = conditions_of(value)
            if not fields:
                message = f"until does not say which answer of {place.words(name)} ends the loop"
                yield Diagnostic.found(
                    message, path, "until", hint=f'write until: {{{name}: "approved"}}'
                )
            answer, giver = place.flow.answer(name), place.words(name)
            for problem, hint in _impossible(answer, fields, giver, "name the one that ends it"):
                yield Diagnostic.found(problem, path, "until", hint=hint)
