"""What can be wrong with the types along the arrows of a workflow, its choices and its loops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import islice, product
from typing import Any, NamedTuple

import attrs
from pyrsistent import pmap

from gram import Diagnostic, Pattern, TreePath, Value
from gram.checks import Reading
from gram.words import did_you_mean

from .. import schemas
from ..labels import is_loop
from ..language import INPUT, written_signature
from ..names import Definition, Program
from ..schemas import NotJson, Schema, dump_json, json_key
from ..signatures import SignatureError, json_schema_to_type_signature
from ..workflows import FlowArrow, Join, all_hold, answer_key, conditions_of, grouped, parts_of
from .element_rules import cycles_of, hand_over, unconnected
from .flows import (
    Flow,
    Types,
    field_of,
    fields_of,
    is_required,
    items_of,
    list_schema,
    options_of,
    record_schema,
    says_nothing,
)
from .rules import called, judged, meant_key

_MOST_ANSWERS = 1_000
"""How many combinations of answers are held against the choices of a node."""


def of_flows(
    rule: Callable[[Flow], Iterator[Diagnostic]],
) -> Callable[[Reading], Iterator[Diagnostic]]:
    """A rule about the workflows that are judged, and whose nodes and arrows have no faults.

    Types along an arrow to a misspelt name, say, would be one mistake told twice.
    """

    @wraps(rule)
    def find(reading: Reading) -> Iterator[Diagnostic]:
        for flow in reading.once(_sound_flows):
            yield from rule(flow)

    return find


def _sound_flows(reading: Reading) -> list[Flow]:
    flows = (Flow(reading.once(Types), holder) for holder in judged(reading, "workflows"))
    return [
        each
        for each in flows
        if not each.read.ways.too_many
        and all(arrow.conditions for arrow in each.read.arrows if arrow.kind == "WHEN")
        and all(arrow.kind not in ("UNKNOWN", "HANDOFF") for arrow in each.read.arrows)
        and all(each.used(name) not in (None, each.holder) for name in each.read.nodes)
        and not any(cycles_of(each.read.arrows))
        and not any(unconnected(each.holder.pattern))
    ]


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


def _takers(flow: Flow) -> Iterator[_Taker]:
    types = flow.types
    for name, node in flow.read.nodes.items():
        used = flow.used(name)
        if used is not None and not says_nothing(wanted := types.takes(used)):
            words = flow.words(name)
            yield _Taker(name, node.input, wanted, words, types.several(used), used)
    has_signature = written_signature(flow.holder.pattern) is not None
    if has_signature and not says_nothing(wanted := types.gives(flow.holder)):
        words = f"the signature of {called(flow.holder.pattern)}"
        yield _Taker(None, flow.read.result, wanted, words, bool(fields_of(wanted)))


def arrow_type(flow: Flow) -> Iterator[Diagnostic]:
    """An arrow that carries what the node it leads to does not take."""
    found = list(_misfits(flow, flow.read.arrows))
    yield from found
    if flow.read.loop is not None:
        again = Flow(flow.types, flow.holder, flow.fed_back())
        for each in _misfits(again, [it for it in flow.read.arrows if it.source is None]):
            if all(each.path != first.path for first in found):
                yield attrs.evolve(each, message=f"in the next round {each.message}")


def _misfits(flow: Flow, judged: Sequence[FlowArrow]) -> Iterator[Diagnostic]:
    """What some arrows carry and is not taken."""
    mine = {*map(id, judged)}
    for taker in _takers(flow):
        is_record, takes = taker.join.is_record, taker.that("takes")
        arrows = [each for each in taker.join.arrows if id(each) in mine]
        if is_record and not taker.fields and arrows:
            record = flow.joined(taker.join, taker.name)
            what = "a record is carried, which"
            yield from _unlike(flow, taker, arrows[0], what, taker.wanted, record)
            continue
        for arrow in arrows:
            key = flow.read.key_of(arrow)
            wanted = field_of(taker.wanted, key) if is_record else taker.wanted
            if wanted is not None:
                giver = _giver(flow, arrow)
                yield from _unlike(flow, taker, arrow, giver, wanted, flow.carried(arrow))
                continue
            known = fields_of(taker.wanted)
            hint = did_you_mean(key, known) or f'name it with {{as: "…"}}: {", ".join(known)}'
            yield Diagnostic.found(f'what {takes} has no "{key}"', flow.place_of(arrow), hint=hint)


def _unlike(
    flow: Flow, taker: _Taker, arrow: FlowArrow, what: str, wanted: Schema, carried: Schema
) -> Iterator[Diagnostic]:
    """What an arrow carries, where that is not what is wanted."""
    if found := schemas.differences(wanted, carried, match="types", result=True):
        hint = None
        if arrow.source is None and taker.used:
            hint = _signature_hint(flow, flow.types.parameters(taker.used))
        message = f"{what} is not what {taker.that('takes')}: {_shown(found)}"
        yield Diagnostic.found(message, flow.place_of(arrow), hint=hint or _HINT)


_HINT = "change one of the two types, or put a step between them"


def _signature_hint(flow: Flow, parameters: Schema) -> str | None:
    """The signature that a workflow without one needs to have some parameters."""
    holder = flow.holder
    if written_signature(holder.pattern) is not None or not isinstance(parameters, dict):
        return None
    try:
        given = flow.types.gives(holder) or None
        text = json_schema_to_type_signature(parameters, return_schema=given)
    except SignatureError:
        return None
    text = re.sub(r"::String\b", "::Text", text).replace("\n", ", ")
    return f"write {text} in {holder.name}" if holder.name else f"write {text}"


def _giver(flow: Flow, arrow: FlowArrow) -> str:
    if arrow.is_choice and arrow.source is not None:
        return f"what {flow.words(arrow.source)} was given"
    if arrow.source is None:
        return f"the input of {called(flow.holder.pattern)}"
    each = "each item that" if arrow.kind == "EACH" else "what"
    return f"{each} {flow.words(arrow.source)} gives"


def _shown(found: Sequence[schemas.Difference]) -> str:
    """The differences between what is carried and what is wanted."""
    shown = []
    for each in found[:3]:
        path = "".join(f".{step}" for step in each.path if step != "properties")
        shown.append(f"{path[1:] or 'type'} {each.implementation} instead of {each.spec}")
    return "; ".join(shown)


def missing_field(flow: Flow) -> Iterator[Diagnostic]:
    """A node that needs a field which the arrows to it do not carry, or not always."""
    for taker in _takers(flow):
        if not taker.join.is_record or not taker.fields:
            continue
        wanted, needs, by_key = taker.wanted, taker.that("needs"), flow.read.by_key(taker.join)
        is_misspelt = any(field_of(wanted, key) is None for key in by_key)  # one of them, perhaps
        for key in (each for each in fields_of(wanted) if is_required(wanted, each)):
            carry = by_key.get(key)
            if carry is None and not is_misspelt:
                message = f'{needs} "{key}", which no arrow carries'
                yield Diagnostic.found(message, flow.place_of(taker.join.arrows[0]), hint=_NAME_IT)
            elif carry and not flow.is_always_there(carry, taker.name):
                message = f'{needs} "{key}", which is missing where another arm is taken'
                hint = f'make "{key}" optional, or carry it always'
                yield Diagnostic.found(message, flow.place_of(carry[0]), hint=hint)


_NAME_IT = 'carry it with an arrow of this name: -[{as: "…"}]->'


def no_result(flow: Flow) -> Iterator[Diagnostic]:
    """A workflow without a result, or without one where some arm is taken."""
    ways = flow.read.ways
    if flow.read.nodes and not all(ways.runs(way, None) for way in ways.live):
        written = (flow.place_of(each) for each in flow.read.result.arrows if each.is_written)
        message = f"{called(flow.holder.pattern)} has no result where another arm is taken"
        at = next(written, flow.holder.path)
        yield Diagnostic.found(message, at, hint="let every arm lead to ()")


def each_type(flow: Flow) -> Iterator[Diagnostic]:
    """An arrow EACH from what gives no list."""
    for arrow in (each for each in flow.read.arrows if each.kind == "EACH"):
        giver, at = flow.words(arrow.source), flow.place_of(arrow)
        if not flow.is_list(arrow):
            gives, hint = "gives", None
            if arrow.source is None:
                used = flow.used(arrow.target) if arrow.target else None
                items = list_schema((used and flow.types.takes(used)) or {"type": "string"})
                gives, hint = "is", _signature_hint(flow, record_schema({INPUT: items}, [INPUT]))
            yield Diagnostic.found(f"{giver} {gives} no list", at, hint=hint or _ARRAY)
        elif not arrow.source and flow.read.loop and items_of(flow.fed_back()) is None:
            yield Diagnostic.found(f"in the next round {giver} is no list", at, hint=_NEXT_ROUND)


_ARRAY = "declare an Array: (::Array {elementType: String})"
_NEXT_ROUND = "let the step that comes last give a list, or map inside a workflow that is a step"


def handoff_type(reading: Reading) -> Iterator[Diagnostic]:
    """A step, or an agent with a signature, that hands over to one which gives something else."""
    types = reading.once(Types)
    program = types.program
    flows = program.workflows.values()
    used = (it for each in flows for it in (*program.inside(each), *program.used_in_arrows(each)))
    steps = {meant.path for _, meant in used}
    for holder in hand_over(reading):
        is_function = holder.path in steps or written_signature(holder.pattern) is not None
        wanted = types.gives(holder) if is_function else {}
        if says_nothing(wanted):
            continue
        for at, other in _may_answer_for(program, holder):
            if found := schemas.differences(wanted, types.gives(other), match="types", result=True):
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


def impossible_choice(flow: Flow) -> Iterator[Diagnostic]:
    """An arrow WHEN for an answer that its source never gives."""
    for arrow in (each for each in flow.read.arrows if each.kind == "WHEN"):
        answer, giver = flow.chosen_on(arrow.source), flow.words(arrow.source)
        for problem, hint in _impossible(answer, arrow.conditions, giver):
            yield Diagnostic.found(problem, flow.place_of(arrow), "is", hint=hint)


def _impossible(
    answer: Schema, conditions: Mapping[str, Value], giver: str
) -> list[tuple[str, str | None]]:
    """What is asked of an answer that it can never be, with a hint."""
    parts = (_never(answer, each, giver) for each in sorted(conditions.items()))
    found = [each for each in parts if each is not None]
    if found or [*conditions] == [""]:  # the whole answer may be what is asked for
        return found
    options = options_of(answer)
    if options is None or any(all_hold(conditions, parts_of(each)) for each in options):
        return []
    wanted = {name: schemas.to_json_value(value) for name, value in conditions.items()}
    return [(f"{giver} never gives {dump_json(wanted)}", _it_gives(options))]


def _never(
    answer: Schema, condition: tuple[str, Value], giver: str
) -> tuple[str, str | None] | None:
    """Why a part of an answer is never what is asked of it, with a hint; None if it may be."""
    name, value = condition
    schema = field_of(answer, name) if name else answer
    if schema is None:
        known = fields_of(answer)
        hint = did_you_mean(name, known) or (f"it has {', '.join(known)}" if known else None)
        return f'{giver} gives nothing that has a field "{name}"', hint
    try:
        wanted = schemas.to_json_value(value)
    except NotJson as error:
        return f"an answer is JSON: {error}", None
    if says_nothing(schema) or schemas.accepts_value(schema, wanted):
        return None
    options = options_of(schema)
    texts = [each for each in options or () if isinstance(each, str)]
    near = did_you_mean(wanted, texts) if isinstance(wanted, str) else None
    hint = "declare it in the type of the answer" if options is None else _it_gives(options)
    field = f' as "{name}"' if name else ""
    return f"{giver} never gives {dump_json(wanted)}{field}", near or hint


def _it_gives(options: list[Any]) -> str:
    return f"it gives {' or '.join(map(dump_json, options))}"


def uncovered_choice(flow: Flow) -> Iterator[Diagnostic]:
    """A choice that has no arrow for some answer."""
    for source, tests, rest in _choices(flow):
        giver, answer = flow.words(source), flow.chosen_on(source)
        if not tests:
            message = f"OTHERWISE is taken where no WHEN is, and {giver} has none"
            hint = "leave out the label, or add an arrow WHEN"
            yield Diagnostic.found(message, flow.place_of(rest[0]), hint=hint)
        elif rest or any(_impossible(answer, test.conditions, "") for test in tests):
            continue
        elif left := _uncovered(answer, tests):
            one_each = "" if left == _TOO_MANY else ", or one WHEN for each answer"
            hint = f"add an arrow OTHERWISE{one_each}"
            yield Diagnostic.found(f"{giver} may give {left}", flow.place_of(tests[-1]), hint=hint)


def needless_otherwise(flow: Flow) -> Iterator[Diagnostic]:
    """An arrow OTHERWISE that is never taken, because every answer has an arrow of its own."""
    for source, tests, rest in _choices(flow):
        if tests and rest and not _uncovered(flow.chosen_on(source), tests):
            message = f"every answer of {flow.words(source)} has an arrow of its own"
            yield Diagnostic.found(f"{message}, so this is never taken", flow.place_of(rest[0]))


def _choices(flow: Flow) -> Iterator[tuple[str | None, list[FlowArrow], list[FlowArrow]]]:
    """The nodes that choose, each with its arrows WHEN and OTHERWISE; None is the input."""
    choices = grouped((each.source, each) for each in flow.read.arrows if each.is_choice)
    for source, leaving in choices.items():
        tests = [each for each in leaving if each.kind == "WHEN"]
        yield source, tests, [each for each in leaving if each.kind == "OTHERWISE"]


_TOO_MANY = f"more than {_MOST_ANSWERS:,} combinations of answers, too many to look at each"


def _uncovered(answer: Schema, tests: Sequence[FlowArrow]) -> str:
    """The part of a message about answers that no arrow covers; empty if all are covered."""
    names = sorted({name for test in tests for name in test.conditions})  # in one order always
    answers = _answers(answer, names)
    if answers is None:
        return "other answers, and no arrow is for them"
    conditions = [test.conditions for test in tests]
    shapes = {(*each,) for each in conditions}
    asked = {tuple((name, answer_key(each[name])) for name in each) for each in conditions}

    def is_covered(answer: Any) -> bool:
        parts = {name: json_key(part) for name, part in parts_of(answer).items()}
        found = (tuple((name, parts.get(name, NotJson)) for name in each) for each in shapes)
        return not asked.isdisjoint(found)

    first = islice(answers, _MOST_ANSWERS)
    if left := [each for each in first if not is_covered(each)]:
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


def loop_rounds(workflow: Pattern) -> Iterator[Diagnostic]:
    """A loop without a bound, or without an end."""
    record, name = workflow.value.properties, called(workflow)
    if not is_loop(workflow):
        for key in sorted(record.keys() & {"max", "until"}):
            message = f"{key} belongs to a Loop, and {name} is a Workflow"
            hint = f"label it Loop, or leave out {key}"
            yield Diagnostic.found(message, part=key, hint=hint)
        return
    most = record.get("max", 1)
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        yield Diagnostic.found("max is a whole number above 0", part="max")
    for key, is_there, lacks, example in (
        ("max", "max" in record, "how many rounds there are at most", "3"),
        ("until", record.get("until", pmap()) != pmap(), "when it ends", '{node: "approved"}'),
    ):
        if not is_there:
            slips = (it for it in sorted(record) if it != key and meant_key(it) == key)
            meant = (f"did you mean {key} instead of {slip}?" for slip in slips)
            hint = next(meant, f"add {key}: {example}")
            yield Diagnostic.found(f"{name} does not say {lacks}", part="identity", hint=hint)


def loop_end(flow: Flow) -> Iterator[Diagnostic]:
    """A loop whose end is no possible answer of its nodes."""
    loop, path = flow.read.loop, flow.holder.path
    for name, value in loop.until.items() if loop and flow.read.nodes else ():
        keys: tuple[str, ...] = ()
        problems: list[tuple[str, str | None]]
        if loop and not name:
            last = ", ".join(each.source or "" for each in loop.feedback.arrows)
            message = f"several nodes come last, so until names one of them: {last}"
            problems = [(message, 'write until: {node: "approved"}')]
        elif name not in flow.read.nodes:
            keys, known = (name,), flow.read.nodes
            message = f'until asks for what "{name}" answers, which is no node of the loop'
            problems = [(message, did_you_mean(name, known) or f"it has {', '.join(known)}")]
        elif fields := conditions_of(value):
            answer, words = flow.answer(name), flow.words(name)
            problems = _impossible(answer, fields, words)
        else:
            message = f"until does not say which answer of {flow.words(name)} ends the loop"
            problems = [(message, f'write until: {{{name}: "approved"}}')]
        for message, hint in problems:
            yield Diagnostic.found(message, path, "until", keys=keys, hint=hint)
