"""What flows along the arrows of workflows: values of some types, and texts that may leak.

Who writes what an agent reads can tell it what to do. So an agent that reads private data, sees
untrusted text and can send something outward can be talked into sending that data. Tools say what
they do: ``{reads: "private"}``, ``{returns: "untrusted"}``, ``{sends: true}``. What one agent knows
flows on: to those that it calls, back to who called it, and along arrows. A step whose answer is
one of a few values, an enum or a boolean, passes nothing on; nor does one that takes only such.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final, Literal, TypeAlias, TypeVar

from gram import Diagnostic, TreePath
from gram.checks import Reading
from gram.trees import exact
from gram.words import counted

from ..labels import is_agent, is_answer, is_tool, is_workflow
from ..language import tool_spec_of, written_signature
from ..names import Definition, Program, reached
from ..schemas import Schema, differences, json_key, kinds_of, listed, resolve_ref, value_judge
from ..signatures import SignatureError, result_schema, type_signature_to_json_schema
from ..workflows import FlowArrow, Join, Workflow, workflow_of
from .rules import called

K = TypeVar("K")

ANYTHING: dict[str, Any] = {}
"""The schema of any value."""


class Types:
    """The types of what a program defines; ``{}`` is that of any value, and of what is faulty."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.program = reading.once(Program.of)
        self._taken: dict[TreePath, Schema] = {}
        self._given: dict[TreePath, Schema] = {}

    def takes(self, what: Definition) -> Schema:
        """What has to be given to a tool, agent or workflow: a value, or a record of several.

        An agent without a signature takes anything. A workflow without one takes anything where
        all that it gives its input to does; and where some of that does not even take a text,
        which is reported inside.
        """
        is_open = written_signature(what.pattern) is None
        if is_open and is_agent(what.pattern):
            return ANYTHING

        def taken() -> Schema:
            found = self._parameters(what)
            if not is_open or not is_workflow(what.pattern):
                return found
            wanted = self._wanted_of_input(what)
            fit = (not differences(each, found, match="types", result=True) for each in wanted)
            return found if wanted and all(fit) else ANYTHING

        return _once(self._taken, what.path, taken)

    def given_to(self, what: Definition) -> Schema:
        """What a workflow is given; it is what it takes, where nothing in it is wrong."""
        if written_signature(what.pattern) is None and not self._wanted_of_input(what):
            return ANYTHING
        return with_defaults(self._parameters(what))

    def _wanted_of_input(self, what: Definition) -> list[Schema]:
        """What the steps of a workflow take that are given its input, but for those that take all.

        A step that is run for each item takes a list.
        """
        flow = Flow(self, what, ANYTHING)
        found = []
        for arrow in (each for each in flow.read.arrows if each.source is None and each.target):
            target = arrow.target or ""
            if (used := flow.used(target)) is None:
                continue
            wanted = self.takes(used)
            if flow.read.nodes[target].input.is_record and self.several(used):
                wanted = field_of(wanted, flow.read.key_of(arrow)) or ANYTHING
            if arrow.kind == "EACH":
                wanted = list_schema(wanted) if not says_nothing(wanted) else {"type": "array"}
            if not says_nothing(wanted):
                found.append(wanted)
        return found

    def parameters(self, what: Definition) -> Schema:
        """The parameters of a tool, agent or workflow, as the fields of an object."""
        try:
            return type_signature_to_json_schema(tool_spec_of(self.program.completed(what)[0]))
        except SignatureError:  # reported already
            return ANYTHING

    def _parameters(self, what: Definition) -> Schema:
        schema = self.parameters(what)
        names = fields_of(schema)
        if len(names) == 1:
            return field_of(schema, names[0]) or ANYTHING
        return schema if names else ANYTHING

    def several(self, what: Definition) -> bool:
        """Whether it has several parameters, which take the fields of a record."""
        return len(fields_of(self.parameters(what))) > 1

    def gives(self, what: Definition) -> Schema:
        """What a tool, agent or workflow gives."""
        return _once(self._given, what.path, lambda: self._result(what))

    def _result(self, what: Definition) -> Schema:
        if is_workflow(what.pattern) and written_signature(what.pattern) is None:
            flow = Flow(self, what)
            return flow.joined(flow.read.result, None)
        try:
            declared = result_schema(tool_spec_of(self.program.whole(what)))
        except SignatureError:
            return ANYTHING
        return ANYTHING if declared is None else declared


def _once(known: dict[K, Schema], key: K, make: Callable[[], Schema]) -> Schema:
    """A schema that is made once; it is that of anything where it would need itself, a fault."""
    if key not in known:
        known[key] = ANYTHING
        known[key] = make()
    return known[key]


class Flow:
    """The types along the arrows of one workflow.

    Args:
        types: the types of the program.
        holder: the workflow.
        given: what it is given, instead of what it takes: in a loop, what the next round gets.
    """

    def __init__(self, types: Types, holder: Definition, given: Schema | None = None) -> None:
        self.types = types
        self.holder = holder
        self.read: Workflow = workflow_of(holder.pattern)
        self.given = types.given_to(holder) if given is None else given
        self._at_nodes: dict[str, Schema] = {}
        self._answers: dict[str, Schema] = {}

    def used(self, name: str) -> Definition | None:
        """What a node uses; None where that is not defined."""
        return self.types.program.nearest(self.read.nodes[name].definition, self.holder.path)

    def place_of(self, arrow: FlowArrow) -> TreePath:
        """Where an arrow is written; of one that is not, where its node is."""
        if arrow.is_written:
            return (*self.holder.path, *arrow.path)
        return self.place_of_node(arrow.target or arrow.source or "")

    def place_of_node(self, name: str) -> TreePath:
        """Where a node is written, or where an arrow names it first."""
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
        used = self.used(name)
        return f'"{name}"' if used is None else f'"{name}" ({self.types.reading.cited(used.path)})'

    def answer(self, name: str | None) -> Schema:
        """What a node answers: a list where it is run for each item; None asks for the input.

        Of a node that is mapped over what is no list nothing is known: that is reported once.
        """
        if name is None:
            return self.given
        return _once(self._answers, name, lambda: self._answered(name))

    def _answered(self, name: str) -> Schema:
        used, each = self.used(name), self.read.nodes[name].each
        schema = ANYTHING if used is None else self.types.gives(used)
        if each is None:
            return schema
        return list_schema(schema) if self.is_list(each) else ANYTHING

    def is_list(self, arrow: FlowArrow) -> bool:
        """Whether an arrow starts from what may be a list."""
        return items_of(self.answer(arrow.source)) is not None

    def chosen_on(self, name: str | None) -> Schema:
        """What a choice is made on: what a node answers, or the input, in a loop of any round."""
        if name is None and self.read.loop is not None:
            return any_of([self.given, self.fed_back()])
        return self.answer(name)

    def at(self, name: str) -> Schema:
        """What a node is given."""
        return _once(self._at_nodes, name, lambda: self.joined(self.read.nodes[name].input, name))

    def carried(self, arrow: FlowArrow) -> Schema:
        """What an arrow carries."""
        if arrow.is_choice and arrow.source is not None:
            return self.at(arrow.source)
        answer = self.answer(arrow.source)
        if arrow.kind == "EACH":
            found = items_of(answer)
            return ANYTHING if found is None else found
        return answer

    def joined(self, join: Join, target: str | None) -> Schema:
        """What some arrows carry together to a node, or to the result."""
        if not join.is_record:
            return any_of(map(self.carried, join.arrows)) if join.arrows else ANYTHING
        fields = self.read.by_key(join)
        schemas = {key: any_of(map(self.carried, arrows)) for key, arrows in fields.items()}
        always = [key for key in fields if self.is_always_there(fields[key], target)]
        return record_schema(schemas, always)

    def is_always_there(self, arrows: Iterable[FlowArrow], target: str | None) -> bool:
        """Whether one of some arrows is taken whenever the node they lead to is run."""
        ways = self.read.ways
        indices = {i for i, each in enumerate(ways.arrows) if any(each is one for one in arrows)}
        return all(way & indices for way in ways.live if ways.runs(way, target))

    def fed_back(self) -> Schema:
        """What the next round of a loop is given."""
        assert self.read.loop is not None
        feedback = self.read.loop.feedback
        answers = {each.source or "": self.answer(each.source) for each in feedback.arrows}
        if not feedback.is_record:
            return any_of(answers.values()) if answers else ANYTHING
        always = [n for n in answers if all(self.read.ways.runs(w, n) for w in self.read.ways.live)]
        return record_schema(answers, always)


# --- schemas put together of others, and taken apart
#
# Each schema is whole: what it refers to is in its own ``$defs``. Definitions of one name that
# differ cannot be in one schema; a schema with them says nothing, ``{}``.


def record_schema(fields: Mapping[str, Schema], required: Iterable[str]) -> Schema:
    """The schema of an object with some fields, no others being declared.

    >>> record_schema({"a": {"type": "string"}}, ["a"])
    {'type': 'object', 'properties': {'a': {'type': 'string'}}, 'required': ['a']}
    """
    inner, definitions = _apart(fields.values())
    if inner is None:
        return ANYTHING
    properties = dict(zip(fields, inner, strict=True))
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {**schema, **definitions}


def list_schema(items: Schema) -> Schema:
    """The schema of a list of some items."""
    inner, definitions = _apart([items])
    return ANYTHING if inner is None else {"type": "array", "items": inner[0], **definitions}


def with_defaults(schema: Schema, around: Mapping[str, Any] | None = None) -> Schema:
    """The schema of arguments whose defaults are filled in: the fields that have one are there.

    Args:
        schema: what they have to be.
        around: the schema that has its definitions.

    >>> with_defaults({"properties": {"n": {"default": 1}}})["required"]
    ['n']
    """
    if not isinstance(schema, dict):
        return schema
    around = schema if around is None else around
    schema = dict(schema)
    if "items" in schema:
        schema["items"] = with_defaults(schema["items"], around)
    if "properties" in schema:
        fields = {key: with_defaults(each, around) for key, each in schema["properties"].items()}
        there = dict.fromkeys(schema.get("required", ()))
        for key, each in fields.items():
            if isinstance(each, dict) and "default" in each:
                accepts = value_judge(_inside(around, each))
                there |= {key: None} if accepts and accepts(each["default"]) else {}
        schema |= {"properties": fields, "required": list(there)}
    return schema


def any_of(schemas: Iterable[Schema]) -> Schema:
    """The schema of what is valid for one of some schemas."""
    different = {exact(each): each for each in schemas}
    if len(different) == 1:
        return next(iter(different.values()))
    if any(says_nothing(each) for each in different.values()):
        return ANYTHING
    inner, definitions = _apart(different.values())
    return ANYTHING if not inner else {"anyOf": inner, **definitions}


def items_of(schema: Schema) -> Schema | None:
    """The schema of the items of a list; None when a value of the schema is never a list."""
    if says_nothing(schema):
        return ANYTHING
    lists = [each for each in alternatives_of(schema) if "array" in kinds_of(each)]
    if not lists:
        return None
    return any_of(_inside(each, each.get("items", ANYTHING)) for each in lists)


def field_of(schema: Schema, name: str) -> Schema | None:
    """The schema of a field of an object; None when there is no such field."""
    if says_nothing(schema):
        return ANYTHING
    found = []
    for each in alternatives_of(schema):
        properties = each.get("properties", {})
        if name in properties:
            found.append(_inside(each, properties[name]))
        elif "object" in kinds_of(each) and not properties:
            found.append(ANYTHING)
    return any_of(found) if found else None


def is_required(schema: Schema, name: str) -> bool:
    """Whether an object of a schema always has a field."""
    return all(name in each.get("required", ()) for each in alternatives_of(schema))


def fields_of(schema: Schema) -> list[str]:
    """The names of the fields that an object of a schema declares."""
    each_one = (each.get("properties", {}) for each in alternatives_of(schema))
    return list(dict.fromkeys(chain.from_iterable(each_one)))


def options_of(schema: Schema) -> list[Any] | None:
    """The values that are valid for a schema, where it lists them; None where it does not.

    >>> options_of({"enum": ["a", "b"]}), options_of({"type": "string"})
    (['a', 'b'], None)
    >>> options_of({"anyOf": [{"type": "string"}, {"type": "null"}], "enum": ["a", 1, None]})
    ['a', None]
    """
    says_itself = isinstance(schema, dict) and not schema.keys().isdisjoint(("enum", "const"))
    options: dict[object, Any] = {}
    for each in [schema] if says_itself else alternatives_of(schema):
        if (values := listed(each)) is None:
            return None
        accepts = value_judge(each)
        options |= {json_key(it): it for it in values if accepts is None or accepts(it)}
    return list(options.values())


def alternatives_of(schema: Schema) -> list[dict[str, Any]]:
    """The schemas of which one holds: those of ``anyOf`` and ``oneOf``, references followed."""
    found: list[dict[str, Any]] = []
    pending: list[tuple[Schema, int]] = [(schema, 0)]
    while pending:
        each, depth = pending.pop(0)
        if not isinstance(each, dict) or depth > 20:
            found.append({})
            continue
        reference = each.get("$ref")
        branches = each.get("anyOf", each.get("oneOf"))
        if isinstance(reference, str):
            pending.append((_inside(each, resolve_ref(reference, each) or ANYTHING), depth + 1))
        elif isinstance(branches, list):
            pending += ((_inside(each, branch), depth + 1) for branch in branches)
        else:
            found.append(each)
    return found


def says_nothing(schema: Schema) -> bool:
    """Whether any value is valid for a schema."""
    return schema is True or schema == {}


def _inside(around: Mapping[str, Any], inner: object) -> Schema:
    """A schema inside another with the definitions that it may refer to."""
    if not isinstance(inner, dict):
        return inner is not False
    definitions = around.get("$defs")
    return {**inner, "$defs": definitions} if definitions and inner else inner


def _apart(schemas: Iterable[Schema]) -> tuple[list[Schema] | None, dict[str, Any]]:
    """Schemas without their definitions, and these; None for schemas where the two differ."""
    inner: list[Schema] = []
    definitions: dict[str, Any] = {}
    for each in schemas:
        if not isinstance(each, dict):
            inner.append(each)
            continue
        for name, value in each.get("$defs", {}).items():
            if exact(definitions.setdefault(name, value)) != exact(value):
                return None, {}
        inner.append({key: value for key, value in each.items() if key != "$defs"})
    return inner, {"$defs": definitions} if definitions else {}


# --- private data, words of strangers and a way outward that come together in one agent

_Fact: TypeAlias = tuple[Literal["private", "untrusted"], TreePath]
"""A kind of text, and the path of the tool that it is from."""
_Spot: TypeAlias = tuple[Literal["given", "known", "said"], TreePath]
"""What a definition is given, what it knows, and what it says to who uses it."""

_BY_SERVER: Final = ", as its server says"
_DANGEROUS: Final = {"reads": "private", "returns": "untrusted", "sends": True}
"""What a tool says that counts."""


def lethal_trifecta(reading: Reading) -> Iterator[Diagnostic]:
    """An agent that reads private data, sees untrusted text and can send outward, all at once."""
    program = reading.once(Program.of)
    says = {at: tool.pattern.value.properties for at, tool in program.tools.items()}
    dangers = _DANGEROUS.items()
    tools = [{at for at, it in says.items() if it.get(key) == value} for key, value in dangers]
    if not all(tools):
        return
    reach = {each.path: reached(program, each) for each in program.runnables.values()}
    told: dict[TreePath, set[TreePath]] = defaultdict(set)

    def names(paths: Iterable[TreePath]) -> str:
        found = ((program.tools[at].name, "source" in says[at]) for at in sorted(paths))
        return ", ".join(name + _BY_SERVER * is_of_server for name, is_of_server in found)

    for path in sorted(reach, key=lambda path: (len(reach[path]), path)):
        inside = reach[path]
        if not all(inside & some for some in tools):
            continue
        facts = _Spread(reading, inside).facts
        known = set[TreePath]().union(*(told[each] for each in inside))
        for at in (inside & tools[2]) - known:
            if len({kind for kind, _ in facts["given", at]}) == 2:
                told[path].add(at)
        if not told[path]:
            continue
        come = {fact for at in told[path] for fact in facts["given", at]}
        private = names(at for kind, at in come if kind == "private")
        untrusted = names(at for kind, at in come if kind == "untrusted")
        message = f"{called(program.runnables[path].pattern)} reads private data ({private}), sees "
        message += f"untrusted text ({untrusted}) and can send outward ({names(told[path])})"
        if silent := sum(_DANGEROUS.keys().isdisjoint(says[at]) for at in inside & says.keys()):
            say = "says" if silent == 1 else "say"
            message += f"; {counted(silent, 'tool')} {say} nothing of it"
        hint = "let another agent read the untrusted text, and answer with an enum or a boolean"
        yield Diagnostic.found(message, path, "identity", hint=hint)


class _Spread:
    """What flows where among an agent or workflow and all that it reaches.

    Attributes:
        facts: what of which kind comes to each spot.
    """

    def __init__(self, reading: Reading, inside: frozenset[TreePath]) -> None:
        self._program = reading.once(Program.of)
        self._types = reading.once(Types)
        self._ways: dict[_Spot, set[_Spot]] = defaultdict(set)
        self.facts: dict[_Spot, set[_Fact]] = defaultdict(set)
        for path in inside & self._program.named.keys():
            self._connect(self._program.named[path])
        pending = [spot for spot, facts in self.facts.items() if facts]
        while pending:
            spot = pending.pop()
            for other in self._ways[spot]:
                if not self.facts[spot] <= self.facts[other]:
                    self.facts[other] |= self.facts[spot]
                    pending.append(other)

    def _connect(self, here: Definition) -> None:
        path = here.path
        if is_tool(here.pattern):
            self._ways["given", path].add(("said", path))
            record = here.pattern.value.properties
            if record.get("reads") == "private":  # it may send what it reads
                self.facts["given", path].add(("private", path))
            if record.get("returns") == "untrusted":
                self.facts["said", path].add(("untrusted", path))
        elif is_agent(here.pattern):
            self._ways["given", path].add(("known", path))
            self._ways["known", path].add(("said", path))
            handed = {meant.path: meant for _, meant in self._program.handed_over(here)}
            for _, meant in self._program.inside(here):
                if meant.path not in handed and not is_answer(meant.pattern):
                    self._lead(("known", path), meant)
                    if self._says_much(meant):
                        self._ways["said", meant.path].add(("known", path))
            for other in handed:  # with the whole conversation
                self._ways["known", path].add(("given", other))
                self._ways["said", other].add(("said", path))
        else:
            flow = workflow_of(here.pattern)
            for arrow in flow.arrows:
                self._follow(here, flow, arrow, ("said", path))
            for arrow in flow.loop.feedback.arrows if flow.loop else ():
                self._follow(here, flow, arrow, ("given", path))

    def _follow(self, here: Definition, flow: Workflow, arrow: FlowArrow, result: _Spot) -> None:
        """Lead what an arrow carries to its node, or to the result."""

        def used(name: str) -> Definition | None:
            return self._program.nearest(flow.nodes[name].definition, here.path)

        start: _Spot = ("given", here.path)
        if arrow.source is not None:
            source = used(arrow.source)
            if source is None or not (arrow.is_choice or self._says_much(source)):
                return
            start = ("given" if arrow.is_choice else "said", source.path)
        if arrow.target is None:
            self._ways[start].add(result)
        elif (target := used(arrow.target)) is not None:
            self._lead(start, target)

    def _lead(self, start: _Spot, taker: Definition) -> None:
        """Lead what is at a spot to what takes it, but for one that takes only a few values."""
        schema = self._types.parameters(taker)
        fields = (field_of(schema, name) for name in fields_of(schema))
        if says_nothing(schema) or any(options_of(each or {}) is None for each in fields):
            self._ways[start].add(("given", taker.path))

    def _says_much(self, giver: Definition) -> bool:
        """Whether an answer is more than one of a few values."""
        return options_of(self._types.gives(giver)) is None
