"""Renaming: another name for an agent, tool, type, parameter or node, wherever it is meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial, reduce
from typing import Any, TypeAlias

from attrs import evolve, frozen
from pyrsistent import PMap, PVector, pmap, pvector

from gram import Pattern, Subject, Symbol, TreePath, origin, pattern_at
from gram.errors import expect
from gram.trees import WHOLE, Scoped, is_symbol

from ..errors import PartError, ProgramError
from ..labels import TOOL, is_runnable, is_tool, kind_of
from ..language import parameter_names, rename_parameter, tool_spec_of, written_signature
from ..names import D, Definition, Program, ProgramLike, program_of, uses, with_patterns
from ..optics import any_property, identity, over, put
from ..signatures import RESERVED, type_names
from ..workflows import grouped
from .finding import find_places
from .place import Kind, PathError, Place, change_places, read_path, write_path

_Change: TypeAlias = Callable[[Pattern], Pattern]


@frozen
class Named:
    """What a path names.

    Attributes:
        kind: ``agent``, ``workflow``, ``loop``, ``tool``, ``type``, ``parameter`` or ``node``.
        name: its name.
        path: where it is defined; of a parameter and a node, where the one is that has it.
    """

    kind: str
    name: str
    path: TreePath

    @classmethod
    def of(cls, definition: Scoped) -> Named:
        """What a definition of a program is called: an agent, workflow, tool or type."""
        is_node = is_runnable(definition.pattern) or is_tool(definition.pattern)
        kind = kind_of(definition.pattern) if is_node else "type"
        return cls(kind, definition.name, definition.path)


def rename(program: D, path: str | Named, new: str, *, instructions: bool = False) -> D:
    """A program with another name for what a path names, wherever it is meant.

    That is in its definition, in references, at the ends of arrows, in signatures, in the ``until``
    of loops, and in the ``as`` of arrows that lead to an agent with such a parameter.

    Args:
        program: a document or project, of which every other byte stays, or patterns.
        path: the path to an agent, workflow, tool or type, to a node of a workflow that is another
            use of an agent (``news.nodes.again``), or to a parameter (``search.parameters.query``);
            or what `named_at` finds there.
        new: the new name.
        instructions: rename it in instructions, too, that name it in backticks; see `mentions`.

    Raises:
        PathError: the path leads to nothing that has a name, or to several things.
        ProgramError: the new name is empty or taken, or something would mean another thing.

    >>> from gram import parse
    >>> team = parse("[a:Agent | t, u] // first\\n(t:Tool) (u:Tool)")
    >>> print(rename(team, "t", "find").text)
    [a:Agent | find, u] // first
    (find:Tool) (u:Tool)
    """
    expect(new, str, "new", by="rename")
    expect(path, (str, Named), "path", by="rename")
    before = program_of(program, by="rename")
    named = named_at(program, path) if isinstance(path, str) else path
    if not new.strip():
        raise ProgramError(f"the new name of {named.name} is empty")
    if named.kind == "type" and new in RESERVED:
        raise ProgramError(f"{new} is a type of the language: take another name")
    told = partial(_told, old=named.name, new=new)
    agents = mentions(program, named) if instructions else ()
    changes = grouped((*_changes(before, named, new), *((each.path, told) for each in agents)))
    each_one = partial(reduce, lambda each, change: change(each))
    all_of = {at: partial(each_one, what) for at, what in changes.items()}
    places = ((Place((), Kind.PATTERN, at), change) for at, change in all_of.items())
    changed = change_places(before.patterns, places)
    _refuse_other_meanings(before, Program(changed, before.files), named, new)
    return with_patterns(program, changed)


def named_at(program: ProgramLike, path: str) -> Named:
    """What a path names.

    Raises:
        PathError: it leads to nothing that has a name, or to several things.
    """
    *head, last = read_path(path)
    patterns = program_of(program, by="named_at").patterns
    if head and head[-1] in ("parameters", "nodes"):
        holder = _one(program, write_path(head[:-1]), path)
        pattern = pattern_at(patterns, holder)
        if head[-1] == "nodes" and last in _used_again(pattern):
            return Named("node", last, holder)
        if head[-1] == "parameters" and (is_runnable(pattern) or is_tool(pattern)):
            is_written = is_tool(pattern) or written_signature(pattern) is not None
            known = parameter_names(tool_spec_of(pattern)) if is_written else ()
            if last in known:
                return Named("parameter", last, holder)
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise PathError(f"`{path}` leads nowhere: there is no such parameter; {has}", path)
    try:
        found = _one(program, path, path)
    except PathError:
        holder = _one(program, write_path(head), path) if head else ()
        elements = enumerate(pattern_at(patterns, holder).elements) if head else ()
        named = (at for at, each in elements if each.value.identity == last and _is_type(each))
        if (at := next(named, None)) is None:
            raise
        found = (*holder, at)
    pattern = pattern_at(patterns, found)
    if is_runnable(pattern) or is_tool(pattern) or _is_type(pattern):
        return Named.of(Scoped(found, pattern, WHOLE))
    raise PathError(f"`{path}` is no agent, tool or type, nor a parameter or node of one", path)


def mentions(program: ProgramLike, named: Named) -> tuple[Definition, ...]:
    """The agents whose instructions name something in backticks that they see or are."""
    defined, word = program_of(program, by="mentions"), _word(named.name)
    found = []
    for agent in defined.agents.values():
        text = agent.pattern.value.properties.get("instruction")
        if isinstance(text, str) and word.search(text):
            seen = [each.path for each in defined.meant(named.name, agent.path)[:1]]
            holds = [meant.path for _, meant in defined.inside(agent)]
            if named.path in (seen if named.kind != "parameter" else [agent.path, *holds]):
                found.append(agent)
    return tuple(found)


# --- what is named


def _one(program: ProgramLike, path: str, whole: str) -> TreePath:
    """The one pattern that a path leads to."""
    places = find_places(program, path)
    if len({each.tree_path for each in places}) > 1:
        raise PathError(f"`{whole}` leads to {len(places)} places: rename one at a time", whole)
    if places[0].kind is not Kind.PATTERN:
        raise PathError(f"`{whole}` leads to no name", whole)
    return places[0].tree_path


def _is_type(pattern: Pattern) -> bool:
    return bool(pattern.value.labels & RESERVED) and bool(pattern.value.identity)


def _used_again(workflow: Pattern) -> set[str]:
    """The nodes that are other uses of agents: ``again`` of ``(again::writer)``."""
    ends = _ends(Definition((), workflow, ()))
    return {end.value.identity for _, end in ends if end.value.labels and end.value.identity}


def _ends(holder: Definition) -> Iterator[tuple[TreePath, Pattern]]:
    for path, _, arrow in holder.names_in_arrows:
        assert arrow.pattern is not None, "it is written"
        yield path, arrow.pattern.elements[path[-1]]


# --- where it is meant


def _changes(program: Program, named: Named, new: str) -> Iterator[tuple[TreePath, _Change]]:
    """Each place where something is named, with what gives it another name there."""
    old = named.name
    respelled = partial(_respelled, old=old, new=new)
    holder = pattern_at(program.patterns, named.path)
    if named.kind == "parameter":
        yield named.path, partial(_with_parameter, old=old, new=new)
        for flow in program.workflows.values():
            for path, name, arrow in flow.names_in_arrows:
                meant = program.nearest(name, flow.path)
                if path[-1] == 1 and arrow.key == old and meant and meant.path == named.path:
                    yield path[:-1], partial(respelled, part="as")
        return
    if named.kind == "node":
        for path, end in _ends(Definition(named.path, holder, ())):
            if end.value.identity == old:
                yield path, partial(respelled, part="identity")
        yield named.path, partial(_with_until, old=old, new=new)
        return
    owner = named.path[:-1]
    if owner in program.tools:  # a type of its own
        yield named.path, partial(respelled, part="identity")
        for path, part, name in type_names(program.tools[owner].pattern):
            if name == old:
                yield (*owner, *path), partial(respelled, part=part)
        return
    for use in uses(program):
        if use.meant.path == named.path:
            yield use.path, partial(respelled, part=use.part)
    for flow in program.workflows.values():
        meant = program.nearest(old, flow.path)
        if meant and meant.path == named.path:
            yield flow.path, partial(_with_until, old=old, new=new)


def _respelled(pattern: Pattern, *, part: str, old: str, new: str) -> Pattern:
    """A pattern with a name in its identity, its labels or a property replaced."""
    if part == "identity":
        return put(identity("rename"), new, pattern)
    if part == "labels":
        labels = pattern.value.labels - {old} | {new}
        return evolve(pattern, value=evolve(pattern.value, labels=labels))
    return over(any_property(part), partial(_in_value, old=old, new=new), pattern)


def _in_value(value: Any, *, old: str, new: str) -> Any:
    again = partial(_in_value, old=old, new=new)
    if isinstance(value, PVector):
        return pvector(map(again, value))
    if isinstance(value, PMap):
        return pmap({key: again(each) for key, each in value.items()})
    if value == old:
        return new
    return (Symbol(new) if is_symbol(new) else new) if value == Symbol(old) else value


def _with_until(workflow: Pattern, *, old: str, new: str) -> Pattern:
    """A loop whose ``until`` names a node by its new name."""
    until = workflow.value.properties.get("until")
    if not isinstance(until, PMap) or old not in until:
        return workflow
    return put(any_property("until"), until.remove(old).set(new, until[old]), workflow)


def _with_parameter(pattern: Pattern, *, old: str, new: str) -> Pattern:
    path = written_signature(pattern) if is_runnable(pattern) else None
    try:
        if path is None:
            return rename_parameter(pattern, old, new)
        (renamed,) = rename_parameter(Pattern(Subject("", {TOOL}), [path]), old, new).elements
    except PartError as error:
        raise ProgramError(str(error)) from None
    return evolve(pattern, elements=[renamed if e is path else e for e in pattern.elements])


def _word(name: str) -> re.Pattern[str]:
    """A name in backticks, or a call of it."""
    return re.compile(rf"(?<=`){re.escape(name)}(?=`|\()")


def _told(agent: Pattern, *, old: str, new: str) -> Pattern:
    """An agent whose instruction names something by its new name."""
    word, text = _word(old), any_property("instruction")
    return over(text, lambda it: word.sub(lambda _: new, str(it)), agent)


# --- what may not be


def _refuse_other_meanings(before: Program, after: Program, named: Named, new: str) -> None:
    """Refuse a name that is taken where the old one is seen, or used there for something else."""
    had, has = _meanings(before), _meanings(after)
    around = [each for each in after.scopes if named.path[: len(each)] == each != named.path]
    same = (it for some in after.definitions_in(max(around, key=len)) for it in some)
    taken = [each for each in same if each.name == new and each.path != named.path]
    if named.kind == "node":
        holder = before.runnables[named.path]
        names = {name for _, name in holder.names_used} | _used_again(holder.pattern)
        taken += [holder] * (new in names or any(it.name == new for _, it in before.inside(holder)))
    owner = before.tools.get(named.path[:-1])
    if named.kind == "type" and owner is not None:
        own = {each.value.identity for each in owner.pattern.elements}
        own.update(name for _, _, name in type_names(owner.pattern))
        taken += [owner] * (new in own)
    differ = [key for key in (*had, *has) if had.get(key) != has.get(key)]
    if not taken and not differ:
        return
    paths = [each.path for each in taken] or [path for path, _ in differ]
    place = origin(pattern_at(before.patterns, paths[0]))
    what, more = ("defined", "") if taken else ("used", ", and would mean another thing")
    where = f"already at {place}" if place else "already"
    raise ProgramError(f'"{new}" is {what} {where}{more}: take another name')


def _meanings(program: Program) -> dict[tuple[TreePath, str], tuple[TreePath, ...]]:
    """What each name that is used can mean: the places of the definitions."""
    found: dict[tuple[TreePath, str], tuple[TreePath, ...]] = {}
    for holder in program.runnables.values():
        for path, name in holder.names_written:
            found[path, "identity"] = tuple(it.path for it in program.meant(name, holder.path))
    for holder in (program.tools | program.answers | program.runnables).values():
        for path, part, meant in program.type_uses(holder):
            key = path, part
            found[key] = (*found.get(key, ()), *(each.path for each in meant))
    return found
