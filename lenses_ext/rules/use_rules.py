"""What a program defines without use, more than once, or in two ways; and settings that clash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from pyrsistent import PMap

from gram import Diagnostic, TreePath, Value, walk
from gram.checks import Reading
from gram.trees import exact

from ..labels import is_answer, is_runnable, is_tool, kind_of
from ..language import written_signature
from ..names import Definition, Program, uses
from ..schemas import NotJson, canonical, kinds_of
from ..signatures import SignatureError, result_schema, type_signature_to_json_schema
from .flow_types import Types, field_of, fields_of
from .rules import called, judged


def unused_tool(reading: Reading) -> Iterator[Diagnostic]:
    """A tool that no agent or workflow uses, in a file that has some, or that others import."""
    for each in reading.once(_Uses).unused:
        if is_tool(each.pattern):
            message = f'no agent or workflow uses the tool "{each.name}"'
            hint = "refer to it, remove it, or lint it together with the files that import it"
            yield Diagnostic.found(message, each.path, "identity", hint=hint)


def unused_definition(reading: Reading) -> Iterator[Diagnostic]:
    """A type that no signature names, or an agent of a group that nothing hands over to."""
    program = reading.once(Program.of)
    for each in reading.once(_Uses).unused:
        kind = kind_of(each.pattern) if is_runnable(each.pattern) else "type"
        if not is_tool(each.pattern) and not (kind != "type" and program.is_top(each.scope)):
            message = f'nothing uses the {kind} "{each.name}"'
            yield Diagnostic.found(message, each.path, "identity", hint="remove it")


def lone_agent(reading: Reading) -> Iterator[Diagnostic]:
    """An agent that nothing refers to, beside others that work together."""
    program, found = reading.once(Program.of), reading.once(_Uses)
    working = {program.files.scope_of(path) for path in found.leading}
    for each in found.unused:
        is_alone = each.path in program.runnables and each.path not in found.leading
        if is_alone and program.is_top(each.scope) and each.scope in working:
            message = f'nothing refers to the agent "{each.name}": it runs only by its name'
            yield Diagnostic.found(message, each.path, "identity")


class _Uses:
    """What is used of a program, and what is not.

    Attributes:
        unused: the definitions that nothing uses, but for those of files of definitions alone that
            no other imports.
        leading: the paths of what refers to an agent or workflow.
    """

    def __init__(self, reading: Reading) -> None:
        program = reading.once(Program.of)
        files = program.files
        used: set[TreePath] = set()
        self.leading: set[TreePath] = set()
        for path, _, meant in uses(program):
            if path[: len(meant.path)] != meant.path:
                used.add(meant.path)
                if is_runnable(meant.pattern):
                    self.leading |= {path[:length] for length in range(1, len(path))}
        imported = {each.scope for some in files.imports.values() for each in some}
        whole = {files.scope_of(path) for path in program.runnables} | imported
        self.unused = [
            each
            for scope in program.scopes
            if files.scope_of(scope) in whole
            for same in program.definitions_in(scope)
            for each in same
            if each.path not in used and not _is_offered(program, each)
        ]


def _is_offered(program: Program, each: Definition) -> bool:
    """Whether a definition is an element of an agent or workflow, which thereby has it."""
    is_element = len(each.path) == len(each.scope) + 1 and not program.is_top(each.scope)
    return is_element and each.path in program.named


def near_duplicate(reading: Reading) -> Iterator[Diagnostic]:
    """A tool or agent that does what another does, but for its name or its words."""
    program = reading.once(Program.of)
    first: dict[Hashable, Definition] = {}
    for each in (*judged(reading, "tools"), *judged(reading, "agents")):
        found = [first.setdefault(key, each) for key in _keys(program, each)]
        if other := next((it for it in found if it is not each), None):
            where = f'"{other.name}" at {reading.cited(other.path)}'
            is_reworded = other.name == each.name and other.pattern != each.pattern
            message = f"{called(each.pattern)} repeats {where}{', in other words' * is_reworded}"
            hint = (
                "write it once, and refer to it by its name; gram share does so from file to file"
            )
            yield Diagnostic.found(message, each.path, "identity", hint=hint)


def _keys(program: Program, each: Definition) -> Iterator[Hashable]:
    """What tools or agents have in common that do the same."""
    key = "description" if is_tool(each.pattern) else "instruction"
    words = " ".join(str(each.pattern.value.properties.get(key, "")).lower().split())
    if not is_tool(each.pattern):
        yield words or each.path, tuple(meant.name for _, meant in program.inside(each))
        return
    with suppress(SignatureError, NotJson):  # reported already
        tool = program.completed(each)[0]
        schemas = type_signature_to_json_schema(tool), result_schema(tool)
        types = exact([canonical(it or {}, match="types") for it in schemas])
        yield "words", words or each.path, types
        yield "name", each.name, types


def namesake_differs(reading: Reading) -> Iterator[Diagnostic]:
    """A definition that differs from the one of its name in another file."""
    program = reading.once(Program.of)
    types = (each for each in program.tops if each.path not in program.named)
    by_name: dict[tuple[str, str], list[Definition]] = {}
    for each in (*program.named.values(), *types):
        kind = kind_of(each.pattern) if each.path in program.named else "type"
        by_name.setdefault((kind, each.name), []).append(each)
    for (kind, name), same in by_name.items():
        usual, _ = Counter(each.pattern for each in same).most_common(1)[0]
        first = next(each for each in same if each.pattern == usual)
        file = program.files.scope_of(first.path)
        for each in same:
            if each.pattern != usual and program.files.scope_of(each.path) != file:
                message = f'the {kind} "{name}" differs from the one at {reading.cited(first.path)}'
                hint = "import one definition, or take another name"
                yield Diagnostic.found(message, each.path, "identity", hint=hint)


def parameter_types(reading: Reading) -> Iterator[Diagnostic]:
    """A name that parameters of different types have."""
    types = reading.once(Types)
    first: dict[str, dict[frozenset[str], Definition]] = {}
    for each in judged(reading, "named"):
        if not is_tool(each.pattern) and written_signature(each.pattern) is None:
            continue
        schema = types.parameters(each)
        for name in fields_of(schema):
            kinds = {
                "number" if kind == "integer" else kind for kind in kinds_of(field_of(schema, name))
            }
            known = first.setdefault(name, {})
            if known and kinds - {"null"} and all(kinds.isdisjoint(other) for other in known):
                other, holder = next(iter(known.items()))
                where = f"{called(holder.pattern)} at {reading.cited(holder.path)}"
                message = f'"{name}" is {_either(kinds)} here, and {_either(other)} in {where}'
                places = (at for at, it in walk(each.pattern.elements) if it.value.identity == name)
                yield Diagnostic.found(message, (*each.path, *next(places, ())), "identity")
            known.setdefault(frozenset(kinds), each)


def _either(kinds: Iterable[str]) -> str:
    return " or ".join(sorted(kinds))


def contradictory_settings(reading: Reading) -> Iterator[Diagnostic]:
    """A setting that another one, or the lack of tools, leaves without effect or contradicts."""
    program = reading.once(Program.of)
    for agent in judged(reading, "agents"):
        settings = agent.pattern.value.properties.get("settings")
        if isinstance(settings, PMap):
            offered = (*program.inside(agent), *program.handed_over(agent))
            tools = [each.name for _, each in offered if not is_answer(each.pattern)]
            for key, why in _contradictions(settings, tools):
                message = f"{key} of {called(agent.pattern)} {why}"
                yield Diagnostic.found(message, agent.path, "settings", keys=(key,))


def _contradictions(settings: PMap[str, Value], tools: list[str]) -> Iterator[tuple[str, str]]:
    """The settings that are in vain, each with why."""
    get: Any = settings.get
    choice, most, window = get("toolChoice", "auto"), get("maxTokens"), get("contextWindow")
    is_full = isinstance(most, int) and isinstance(window, int) and most >= window
    is_missed = bool(tools) and choice not in ("auto", "none", "required", *tools)
    is_silent, is_long = get("reasoningEffort") == "none", "compactAt" not in settings
    rows: tuple[tuple[str, object, str], ...] = (
        ("toolChoice", choice == "none" and tools, "is none, so that none of its tools is called"),
        ("toolChoice", choice not in ("auto", "none") and not tools, "is in vain without tools"),
        ("toolChoice", is_missed, f"is {choice}, and its tools are {', '.join(tools)}"),
        ("reasoningSummary", is_silent, "is in vain: reasoningEffort is none"),
        ("topP", get("temperature") == 0, "is in vain: temperature is 0"),
        ("maxTokens", is_full, "is all of the contextWindow: nothing is left for what it is told"),
        ("compactBy", is_long, "is in vain without compactAt"),
        ("contextWindow", is_long, "is in vain without compactAt"),
    )
    yield from ((key, why) for key, holds, why in rows if key in settings and holds)
    extra, known = get("extraBody"), {name.lower(): name for name in settings}
    for key in sorted(extra) if isinstance(extra, PMap) else ():
        if same := known.get(key.replace("_", "").lower()):
            yield "extraBody", f"has {key}, which is sent instead of {same}: keep one of them"
