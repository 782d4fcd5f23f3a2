"""Binding: finds the implementation of each tool of a program in a library.

A program is bound when it runs, so the same program can run with different libraries, which also
decide whether a tool is code or an agent. An implementation fits if it accepts every call that the
specification allows and returns the declared type. Errors have the places of both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from types import FunctionType
from typing import get_args

import attrs

import lenses_ext
from gram import Pattern, origin
from gram.errors import expect
from gram.trees import carry_origin
from gram.words import did_you_mean
from lenses_ext import ProgramLike, is_tool, view
from lenses_ext.labels import DEFINITIONS
from lenses_ext.schemas import Difference, Match, differences
from lenses_ext.signatures import with_other_elements
from lenses_ext.weak_cache import memo

from ..errors import ConfigurationError, ToolBindingError
from ..json_text import Json, write_json
from ..programs import the_agent, tools_to_bind
from .from_functions.callables import place_of
from .implementation import Tool, ToolResult
from .library import LibraryLike, ToolLibrary, library_of

_NONE = "has none"


def difference_in_words(difference: Difference, who: str, *, result: bool = False) -> str:
    """A difference as people read it who know the program and the function, and no schemas.

    >>> needs = Difference(("properties", "n"), "has none", "required")
    >>> difference_in_words(needs, "function")
    'the function needs `n`, which the program does not declare'
    >>> other = Difference(("properties", "n", "default"), "10", "20")
    >>> difference_in_words(other, "function")
    'default of `n`: spec 10, implementation 20'
    """
    spec, implementation = difference.spec, difference.implementation
    *above, last = difference.path or ("",)
    is_field = bool(above) and above[-1] == "properties"
    name = called(difference.path, result=result)
    if is_field and not result and implementation == "required":
        says = "does not declare" if spec == _NONE else "makes optional"
        return f"the {who} needs {name}, which the program {says}"
    if is_field and result and spec == "required":
        says = "never" if implementation == _NONE else "not always"
        return f"the {who} {says} returns {name}, which the program declares"
    if is_field and implementation == _NONE:
        return f"the {who} does not take {name}, which the program declares"
    if is_field or not difference.path:
        return f"{name}: spec {spec}, implementation {implementation}"
    whole = called(tuple(above), result=result)
    return f"{last} of {whole}: spec {spec}, implementation {implementation}"


def called(path: tuple[str | int, ...], *, result: bool = False) -> str:
    """The part of the arguments or the result that a path in their schema is about.

    >>> called(("properties", "at", "properties", "lat")), called(("properties", "xs", "items"))
    ('`at.lat`', 'the items of `xs`')
    >>> called((), result=True)
    'the result'
    """
    *above, last = path or ("",)
    if last in ("items", "additionalProperties"):
        part = "items" if last == "items" else "other fields"
        return f"the {part} of {called(tuple(above), result=result)}"
    names = [str(name) for at, name in pairwise(path) if at == "properties"]
    if not names:
        return "the result" if result else "the arguments"
    return f"`{'.'.join(names)}`" + (" of the result" if result else "")


def bind_tool(spec: Pattern, library: LibraryLike, *, match: Match = "full") -> Tool | None:
    """The tool of a library that implements a specification, or None.

    Args:
        spec: a tool specification.
        library: where to look.
        match: what has to agree: ``full`` (name, description and types), ``types`` (name and
            types, but not descriptions) or ``name``.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ConfigurationError: ``match`` is none of these words.
    """
    library = library_of(library, by="bind_tool")
    return None if binding_problems(spec, library, match) else _bound_as(spec, library)


def explain_binding(spec: Pattern, library: LibraryLike, *, match: Match = "full") -> str | None:
    """Why a specification does not bind, with one line for each difference, or None if it binds.

    A line has the place of the specification, the place of the function, and a hint how to fix
    the difference. The arguments and errors are those of `bind_tool`.
    """
    library = library_of(library, by="explain_binding")
    return "\n".join(binding_problems(spec, library, match)) or None


def bind_agent_tools(
    program: ProgramLike, library: LibraryLike, *, agent: str | None = None, match: Match = "full"
) -> tuple[Tool, ...]:
    """The tools of a library that implement those of an agent or workflow, in its order.

    Tools of the agents and workflows in it are among them, each once.

    Args:
        program: an agent or workflow, a document, or the patterns of one.
        library: where to look.
        agent: the name of the agent; without it, the only one.
        match: what has to agree; see `bind_tool`.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ValidationError: the agent does not exist or has a fault, such as a reference to a name
            that is not defined (see ``faults``).
        ToolBindingError: some tools do not bind; the message lists all differences of all tools.
    """
    expect(agent, (str, type(None)), "agent", by="bind_agent_tools")
    library = library_of(library, by="bind_agent_tools")
    expect_match(match)
    if agent is None and isinstance(program, Pattern):  # what was bound was judged before
        bound = _bound(program)(library)
        if match in bound:
            return bound[match]
    chosen = the_agent(program, agent, by="bind_agent_tools")
    bound = _bound(chosen)(library)
    if match not in bound:
        specs = tools_to_bind(chosen)
        problems: list[str] = []
        for same in specs_by_name(specs).values():
            found_in = [each for spec in same for each in binding_problems(spec, library, match)]
            clash = clash_of(same, match) if found_in else None
            problems += [clash] if clash else found_in
        if problems:
            raise ToolBindingError(problems)
        found: dict[str, Tool] = {}
        for spec in specs:
            tool = _bound_as(spec, library)
            if tool.once or tool.name not in found:
                found[tool.name] = tool
        bound[match] = tuple(found.values())
    return bound[match]


_bound: Callable[[Pattern], Callable[[ToolLibrary], dict[Match, tuple[Tool, ...]]]] = memo(
    lambda _: memo(lambda _: {})
)
"""The tools of an agent that a library has bound before."""


def _bound_as(spec: Pattern, library: ToolLibrary) -> Tool:
    """The tool that implements a specification, ``once`` where the program says so."""
    tool = _fitted(library[view(lenses_ext.tool_spec_name, spec)], spec)
    is_right = tool.once or not view(lenses_ext.tool_spec_once, spec)
    return tool if is_right else attrs.evolve(tool, once=True)


def _fitted(tool: Tool, spec: Pattern) -> Tool:
    """The tool, without the object that its server wraps a result in which is declared as none.

    Structured results of MCP are objects, so that servers give another as ``{"result": …}``.
    """
    listed = tool.result_schema or {} if tool.server is not None else {}
    wrapped = listed.get("properties", {}).get("result")
    is_alone = [*listed.get("properties", {})] == listed.get("required") == ["result"]
    declared: Json = (lenses_ext.result_schema(spec) or {}).get("type", "object")
    if not is_alone or not isinstance(wrapped, dict) or "object" in declared:
        return tool
    if not inspect.iscoroutinefunction(tool.invoke):  # those of servers are
        return tool

    async def invoke(arguments: dict[str, Json]) -> Json | ToolResult:
        return _unwrapped(await tool.invoke(arguments))

    inner = {**wrapped, "$defs": listed.get("$defs", {})}
    inner.pop("title", None)  # that of the field
    return attrs.evolve(tool, result_schema=inner, invoke=invoke)


def _unwrapped(given: Json | ToolResult) -> Json | ToolResult:
    if isinstance(given, ToolResult):
        return given._replace(text=write_json(_unwrapped(given.text.value)))
    is_wrapped = isinstance(given, dict) and given.keys() == {"result"}
    return given["result"] if is_wrapped else given


def binding_problems(spec: Pattern, library: ToolLibrary, match: Match) -> tuple[str, ...]:
    """The reasons why a specification does not bind; empty if it binds."""
    expect_match(match)
    name = view(lenses_ext.tool_spec_name, spec)
    if (tool := library.get(name)) is not None:
        return tuple(_differences(spec, _fitted(tool, spec), match))
    hint = _undecorated(name, library) or did_you_mean(name, library)
    hint = hint or f"it has {', '.join(library) or 'no tools'}"
    absent = f'tool "{name}" is not in the library; {hint}'
    return (f"{_place(spec)}{library.why_ambiguous(name) or absent}",)


def specs_by_name(specs: Iterable[Pattern]) -> dict[str, list[Pattern]]:
    """Specifications by their names; agents of one program may have different ones of a name."""
    found: dict[str, list[Pattern]] = {}
    for spec in specs:
        found.setdefault(view(lenses_ext.tool_spec_name, spec), []).append(spec)
    return found


def clash_of(specs: Iterable[Pattern], match: Match = "full") -> str | None:
    """That specifications of one name say different things, so that no tool may be all of them."""
    first, *others = specs
    for each in others if match != "name" else ():
        if _said(each, match) != _said(first, match):
            where = f"at {place}" if (place := origin(first)) else "elsewhere in the program"
            text = f'{_place(each)}tool "{view(lenses_ext.tool_spec_name, each)}" has other '
            text += f"{'words or types' if match == 'full' else 'types'} {where}, "
            return f"{text}{ONE_OF_A_NAME}: rename one of them, or let them be the same"
    return None


ONE_OF_A_NAME = "and a library has one tool of each name"


def _said(spec: Pattern, match: Match) -> tuple[object, ...]:
    words = view(lenses_ext.tool_spec_description, spec) if match == "full" else ""
    return words.strip(), view(lenses_ext.tool_spec_schema, spec), lenses_ext.result_schema(spec)


def _undecorated(name: str, library: ToolLibrary) -> str | None:
    """A hint where a function beside the tools has this name, and no ``@tool``."""
    for each in library.tools.values():
        beside = getattr(each.function, "__globals__", {}).get(name)
        if isinstance(beside, FunctionType):
            return f"the function {name} at {place_of(beside)} has no @tool"
    return None


def expect_match(match: Match) -> None:
    """Refuse a word that says nothing about how closely tools have to match."""
    if match not in _MATCHES:
        raise ConfigurationError(f"match is one of {', '.join(_MATCHES)}, found {match!r}")


_MATCHES = get_args(Match)


def _differences(spec: Pattern, tool: Tool, match: Match) -> Iterable[str]:
    if match == "name":
        return
    found: list[tuple[str, str | None]] = []
    who = "function" if tool.server is None else "server"
    for result, written, made in (
        (False, view(lenses_ext.tool_spec_schema, spec), tool.schema),
        (True, lenses_ext.result_schema(spec), tool.result_schema),
    ):
        for each in differences(written, made, match=match, result=result):
            found.append((difference_in_words(each, who, result=result), each.hint))
    if match == "full":
        both = view(lenses_ext.tool_spec_description, spec), tool.description
        description, implemented = (each.replace("\r\n", "\n").strip() for each in both)
        if tool.why_undescribed:
            yield tool.why_undescribed
        elif description != implemented:
            text = f"description: spec {description!r}, implementation {implemented!r}"
            found.insert(0, (text, "state the same description in both"))
        if found and not any(True for _ in _differences(spec, tool, "types")):
            found = [(text, 'match="types" would bind it') for text, _ in found]
    where = f" (implemented at {tool.place})" if tool.place else ""
    for text, hint in found:
        line = f'{_place(spec)}tool "{tool.name}" differs: {text}{where}'
        yield f"{line}; {hint}" if hint else line


def _place(spec: Pattern) -> str:
    place = origin(spec)
    return f"{place}: " if place else ""


def with_agents(program: Pattern, library: ToolLibrary, *, match: Match = "full") -> Pattern:
    """A program whose tools are replaced by the agents that a library holds under their names.

    One that does not implement its tool as written, or contains itself, is a ToolBindingError.
    """
    if not _agents_in(library):
        return program
    problems: list[str] = []
    found = _with_agents(program, library, match, problems)
    if problems:
        raise ToolBindingError(problems)
    return found


@memo
def _agents_in(library: ToolLibrary) -> Mapping[str, Pattern]:
    """The agents of a library, each under its name there."""
    found: dict[str, Pattern] = {}
    for name, tool in library.items():
        if (agent := tool.agent) is not None:
            renamed = attrs.evolve(agent, value=attrs.evolve(agent.value, identity=name))
            is_own = agent.value.identity == name
            found[name] = agent if is_own else carry_origin(renamed, agent)
    return found


def _with_agents(
    program: Pattern,
    library: ToolLibrary,
    match: Match,
    problems: list[str],
    around: tuple[str, ...] = (),
) -> Pattern:
    """The program, its tools replaced, those of the agents that replace them too.

    Problems are added to the others; ``around`` names the agents that the program is inside of.
    """
    agents, elements = _agents_in(library), list[Pattern]()
    for each in program.elements:
        name = each.value.identity
        if is_tool(each) and name in agents:
            problems.extend(binding_problems(each, library, match))
            if name in around:
                way = " -> ".join([*around[around.index(name) :], name])
                problems.append(f'the agent "{name}" of the library contains itself: {way}')
                continue
            each = _with_agents(agents[name], library, match, problems, (*around, name))
        elif lenses_ext.is_runnable(each) or DEFINITIONS in each.value.labels:
            each = _with_agents(each, library, match, problems, around)
        elements.append(each)
    return with_other_elements(program, elements)
