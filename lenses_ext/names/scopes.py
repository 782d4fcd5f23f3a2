"""Scopes: which definitions of a program can be seen from where.

What is defined at the top of a file is seen in all of it, agents and tools in a group or below an
annotation too, and in the files that import it. What is defined inside an agent or workflow is seen
in it; the parameters and types of a tool are seen in that tool.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from attrs import field, frozen

from gram import Diagnostic, Pattern, Subject, TreePath, is_reference, walk
from gram.checks import Reading
from gram.errors import NoPatternError
from gram.reading import spans_in_text
from gram.trees import WHOLE, Scope, Scoped

from ..labels import ANSWER, DEFINITIONS, is_agent, is_answer, is_runnable, is_skill, is_tool
from ..language import SKILLS, folders_of, is_arrows, with_types, written_signature
from ..signatures import RESERVED, shared_shapes, type_names, with_other_elements
from ..workflows import FlowArrow, arrows_in, grouped
from .imports import Import, SkillUse, UnreadSkill, unread_imports


def program_scopes(pattern: Pattern) -> Scope:
    """The scopes of programs: agents, workflows, tools and types keep the names below them.

    For what takes scopes: `gram.check`, `gram.reconcile`, `gram.graph_of`.

    >>> from gram import check, loads
    >>> twice = loads("[a:Agent | (t:Tool {v: 1})] [b:Agent | (t:Tool {v: 2})]")
    >>> len(check(twice)), len(check(twice, scopes=program_scopes))
    (1, 0)
    """
    if is_runnable(pattern) or is_tool(pattern) or pattern.value.labels & _TYPES:
        return "private"
    return "around"


_TYPES = RESERVED | {ANSWER}

FILE: Final = Subject("", {"Gram.File"})
"""The subject of the pattern that holds a further file among the patterns of a program."""


@frozen(eq=False)
class Files:
    """The files of a program, and which of them each imports.

    It tells the scopes of such a program, as `program_scopes` does where there is one file.

    Attributes:
        imports: the imports of each file, by the scope of the file: `WHOLE` is that of the first,
            the path of the pattern that holds it that of a further one.
        skills: the skills of each file, by the scope of the file and the folder that it names.
    """

    imports: Mapping[TreePath, Sequence[Import]]
    skills: Mapping[TreePath, Mapping[str, Pattern | UnreadSkill]] = field(factory=dict)

    @property
    def faults(self) -> Iterator[Diagnostic]:
        """What is wrong with the imports."""
        for scope, imports in self.imports.items():
            yield from (each.fault.below(*scope, 0) for each in imports if each.fault)

    def __call__(self, pattern: Pattern) -> Scope:
        """To which scope the names below a pattern belong."""
        return "private" if pattern.value == FILE else program_scopes(pattern)

    def scope_of(self, path: TreePath) -> TreePath:
        """The scope of the file that a pattern is in."""
        return path[:1] if path[:1] in self.imports else WHOLE

    def skill(self, path: TreePath, folder: str) -> Pattern | UnreadSkill:
        """The skill in a folder that a pattern names."""
        return self.skills.get(self.scope_of(path), {}).get(folder, _NOT_READ)

    def seen_from(self, scope: TreePath) -> Iterator[TreePath]:
        """The scopes of the files that a file imports."""
        return (each.scope for each in self.imports[scope] if each.scope is not None)

    def are_read(self, path: TreePath) -> bool:
        """Whether all was read that the file imports in which a pattern is."""
        return all(each.scope is not None for each in self.imports[self.scope_of(path)])


_NOT_READ: Final = UnreadSkill(
    "a skill is named, and a text opens no files",
    "give the path of the file: load(path), load_project(path), gram COMMAND FILE",
)


class Definition(Scoped):
    """An agent, a workflow, a tool, an answer or a type, in its place.

    Its scope is the path of the agent or workflow that it is defined in, or `WHOLE`.
    """

    @property
    def has_arrows(self) -> bool:
        """Whether there are arrows among its elements."""
        return any(map(is_arrows, self.pattern.elements))

    @property
    def names_in_arrows(self) -> Iterator[tuple[TreePath, str, FlowArrow]]:
        """What the ends of its arrows name, with the path of the end, and the arrow.

        Of another use, ``(again::writer)``, that is ``writer``.
        """
        if not self.has_arrows:
            return
        for arrow in arrows_in(self.pattern):
            for index, end in enumerate(arrow.pattern.elements if arrow.pattern else ()):
                name = min(end.value.labels, default=end.value.identity)
                if name and not is_defined_there(end):
                    yield (*self.path, *arrow.path, index), name, arrow

    @property
    def names_written(self) -> Iterator[tuple[TreePath, str]]:
        """The names by which it refers to others, in elements and in arrows, with their paths."""
        for index, element in enumerate(self.pattern.elements):
            if is_reference(element):
                yield (*self.path, index), element.value.identity
        yield from ((path, name) for path, name, _ in self.names_in_arrows)

    @property
    def names_used(self) -> Iterator[tuple[TreePath, str]]:
        """The same names; one that only arrows have comes once, with its first place."""
        known: dict[str, TreePath] = {}
        for path, name in self.names_written:
            if known.setdefault(name, path) == path or len(path) == len(self.path) + 1:
                yield path, name


def is_defined_there(end: Pattern) -> bool:
    """Whether the end of an arrow is a definition, which is a fault, and not a name."""
    return bool(end.value.properties) or is_runnable(end) or is_tool(end)


class Program:
    """The definitions of a program, by the scope that they are seen in.

    Attributes:
        patterns: its patterns.
        files: the files that they were read from.
        agents, workflows, tools, answers: all of them by path, in the order of the text.
        runnables, named: the agents and workflows, and these with the tools.
        outermost: the agents, workflows and tools of the first file that are not inside one.
        scopes: the paths of the scopes: `WHOLE`, every further file, agent and workflow.
    """

    def __init__(self, patterns: Iterable[Pattern], files: Files | None = None) -> None:
        self.patterns = tuple(patterns)
        self.files = files or Files({WHOLE: (*unread_imports(self.patterns),)})
        self.agents: dict[TreePath, Definition] = {}
        self.workflows: dict[TreePath, Definition] = {}
        self.tools: dict[TreePath, Definition] = {}
        self.answers: dict[TreePath, Definition] = {}
        self._named: dict[TreePath, dict[str, list[Definition]]] = {WHOLE: {}}
        self._others: dict[TreePath, list[Definition]] = {WHOLE: []}
        self._types: dict[TreePath, dict[str, list[Definition]]] = {}
        self._seen: dict[TreePath, Mapping[str, Pattern]] = {}
        self._completed: dict[TreePath, tuple[Pattern, list[Definition]]] = {}
        pending = [Definition((i,), each, WHOLE) for i, each in enumerate(self.patterns)][::-1]
        while pending:
            pending.extend(reversed(self._add(pending.pop())))
        self.runnables = dict(sorted((self.agents | self.workflows).items()))
        self.named = self.runnables | self.tools
        self.outermost = [each for each in self.named.values() if each.scope == WHOLE]
        self.scopes = tuple(self._named)

    @classmethod
    def of(cls, reading: Reading) -> Program:
        """The program that is read."""
        files = reading.scopes if isinstance(reading.scopes, Files) else None
        return cls(reading.patterns, files)

    def _add(self, here: Definition) -> list[Definition]:
        """Note what a pattern defines; the patterns below it that may define something."""
        scope = here.scope
        if here.path in self.files.imports:
            self._named[here.path], self._others[here.path] = {}, []
            return self._below(here, here.path)
        if is_runnable(here.pattern):
            (self.agents if is_agent(here.pattern) else self.workflows)[here.path] = here
            scope = here.path
            self._named[scope], self._others[scope] = {}, []
        elif is_tool(here.pattern):
            self.tools[here.path] = here
        elif is_skill(here.pattern) and not self.is_top(scope):
            return []
        elif is_answer(here.pattern):
            if not self.is_top(scope):
                self.answers[here.path] = here
            return []
        elif not self.is_top(scope) and DEFINITIONS in here.pattern.value.labels:
            return self._below(here, scope)
        else:
            self._others[scope].append(here)
            if not self.is_top(scope) or here.pattern.value.labels & RESERVED:
                return []
            return self._below(here, scope)
        if here.name:
            self._named[here.scope].setdefault(here.name, []).append(here)
        return self._below(here, scope) if is_runnable(here.pattern) else []

    def _below(self, here: Definition, scope: TreePath) -> list[Definition]:
        elements = enumerate(here.pattern.elements)
        return [Definition((*here.path, index), each, scope) for index, each in elements]

    def is_top(self, scope: TreePath) -> bool:
        """Whether a scope is the whole of a file."""
        return scope in self.files.imports

    @property
    def tops(self) -> Iterator[Definition]:
        """What is defined at the top of the files, types too."""
        yield from (each for each in self.named.values() if self.is_top(each.scope))
        for scope in self.files.imports:
            for same in self.types_in(scope).values():
                yield from same

    @cached_property
    def in_files(self) -> Mapping[str, Definition]:
        """What is defined at the top of further files, by name: of one name the first."""
        named = reversed(self.named.values())
        return {it.name: it for it in named if self.is_top(it.scope) and it.scope != WHOLE}

    @cached_property
    def inner(self) -> Mapping[str, Definition]:
        """What is defined inside agents and workflows, by name: of one name the first."""
        return {it.name: it for it in reversed(self.named.values()) if not self.is_top(it.scope)}

    def scopes_from(self, scope: TreePath) -> Iterator[TreePath]:
        """A scope and those around it, from the inside out, then the files that are imported."""
        way = [scope]
        while not self.is_top(way[-1]):
            if way[-1] not in self.runnables:
                raise NoPatternError(f"no scope is at the path {way[-1]}")
            way.append(self.runnables[way[-1]].scope)
        return iter([*way, *self.files.seen_from(way[-1])])

    def are_different(self, meant: Sequence[Definition]) -> bool:
        """Whether some definitions of one name are not all the same."""
        return any(not self._are_same(meant[0], each) for each in meant[1:])

    def _are_same(self, one: Definition, other: Definition) -> bool:
        """Whether two definitions are equal, and where they are in two files, all they name."""
        known: set[tuple[TreePath, TreePath]] = set()
        pending = [(one, other)]
        while pending:
            one, other = pending.pop()
            if one.path == other.path or (one.path, other.path) in known:
                continue
            if one.pattern != other.pattern:
                return False
            known.add((one.path, other.path))
            if self.files.scope_of(one.path) != self.files.scope_of(other.path):
                if [*self.skills_read(one)] != [*self.skills_read(other)]:
                    return False
                for name in _words(one.pattern):
                    ours, theirs = (self._first(name, each.scope) for each in (one, other))
                    if len(ours) != len(theirs):
                        return False
                    pending += zip(ours, theirs, strict=True)
        return True

    def _first(self, name: str, scope: TreePath) -> list[Definition]:
        """The definition that a name means, of whatever kind, if it means one."""
        return [*self.meant(name, scope), *self.types_meant(name, scope)][:1]

    def names_at(self, scope: TreePath) -> Collection[str]:
        """The names that a scope defines, those of types too."""
        return {**self._named[scope], **self.types_in(scope)}

    def definitions_in(self, scope: TreePath) -> Iterator[list[Definition]]:
        """What a scope defines by name, types too, those of one name together."""
        named, types = self._named[scope], self.types_in(scope)
        for name in self.names_at(scope):
            same = [*named.get(name, ()), *types.get(name, ())]
            yield sorted(same, key=lambda each: each.path)

    # --- agents and tools

    def meant(self, name: str, scope: TreePath) -> list[Definition]:
        """The agents, workflows and tools that a name can mean in a scope, the nearest first."""
        scopes = self.scopes_from(scope)
        return [each for around in scopes for each in self._named[around].get(name, ())]

    def nearest(self, name: str, scope: TreePath) -> Definition | None:
        """The nearest of what a name can mean in a scope; None where it means nothing."""
        return next(iter(self.meant(name, scope)), None)

    def defined_by(self, path: TreePath, element: Pattern, around: Definition) -> Definition | None:
        """The definition that an element is, or refers to; None if it is neither."""
        for known in (self.runnables, self.tools, self.answers):
            if path in known:
                return known[path]
        is_name = is_reference(element)
        return self.nearest(element.value.identity, around.path) if is_name else None

    def inside(self, around: Definition) -> list[tuple[TreePath, Definition]]:
        """What an agent or workflow has, or refers to among its elements, each with its element."""
        elements = (((*around.path, at), each) for at, each in enumerate(around.pattern.elements))
        found = ((path, self.defined_by(path, each, around)) for path, each in elements)
        return [(path, meant) for path, meant in found if meant is not None]

    def used_in_arrows(self, around: Definition) -> list[tuple[TreePath, Definition]]:
        """What the arrows of a workflow use without an element for it, each once, with its place.

        Agents that are handed over to are not used; see `handed_over`.
        """
        if around.path not in self.workflows:
            return []
        found = {meant.path for _, meant in self.inside(around)}
        used: dict[TreePath, tuple[TreePath, Definition]] = {}
        for path, name, _ in around.names_in_arrows:
            for meant in self.meant(name, around.path)[:1]:
                used.setdefault(meant.path, (path, meant))
        return [each for meant, each in used.items() if meant not in found]

    def handed_over(self, agent: Definition) -> list[tuple[TreePath, Definition]]:
        """The agents that an agent may hand over to, each with the end of the arrow."""
        arrows = agent.names_in_arrows if agent.path in self.agents else ()
        ends = ((at, it) for at, it, arrow in arrows if arrow.kind == "HANDOFF" and at[-1] == 1)
        return [(path, each) for path, name in ends for each in self.meant(name, agent.path)[:1]]

    def callable_by(self, agent: Definition) -> list[tuple[TreePath, Definition]]:
        """What an agent may call or hand over to; its answer is no such thing."""
        calls = (each for each in self.inside(agent) if each[1].path not in self.answers)
        return [*calls, *self.handed_over(agent)]

    def skills_of(self, agent: Definition) -> Iterator[SkillUse]:
        """The skills that an agent has, and those in the folders that it names."""
        for index, element in enumerate(agent.pattern.elements):
            if is_skill(element):
                yield SkillUse(element, (*agent.path, index), "identity")
        for index, folder in folders_of(agent.pattern):
            spans = spans_in_text(agent.pattern)
            span = spans.value(SKILLS, index) if spans else None
            yield SkillUse(self.files.skill(agent.path, folder), agent.path, SKILLS, span)

    def skills_read(self, agent: Definition) -> Iterator[Pattern]:
        """The skills in the folders that an agent names, but for those that were not read."""
        for each in self.skills_of(agent):
            if each.part == SKILLS and isinstance(each.found, Pattern):
                yield each.found

    def namesakes(self, here: Definition) -> list[Definition]:
        """What is defined under the name of a definition in its scope."""
        return self._named[here.scope].get(here.name, [])

    def names_seen(self, scope: TreePath) -> Iterator[str]:
        """The names of the agents and tools that are seen in a scope."""
        for around in self.scopes_from(scope):
            yield from self._named[around]

    # --- types

    def types_in(self, scope: TreePath) -> Mapping[str, list[Definition]]:
        """The types that a scope defines beside its other definitions, by name."""
        if scope not in self._types:
            here = (each for each in self._others[scope] if each.name and each.path[:-1] == scope)
            others = [each for each in here if not is_reference(each.pattern)]  # no data of a group
            names = shared_shapes(each.pattern for each in others)
            self._types[scope] = grouped((each.name, each) for each in others if each.name in names)
        return self._types[scope]

    def types_meant(self, name: str, scope: TreePath) -> list[Definition]:
        """The types that a label can mean in a scope."""
        around = map(self.types_in, self.scopes_from(scope))
        return [each for types in around for each in types.get(name, ())]

    def types_seen(self, scope: TreePath) -> Mapping[str, Pattern]:
        """The types that signatures in a scope see, by name; of one name the nearest."""
        if scope not in self._seen:
            around = [each for each in self.scopes_from(scope) if self.types_in(each)]
            found: dict[str, Pattern] = {}
            for each in reversed(around):
                found |= {name: same[0].pattern for name, same in self.types_in(each).items()}
            self._seen[scope] = found
        return self._seen[scope]

    def type_uses(self, holder: Definition) -> Iterator[tuple[TreePath, str, list[Definition]]]:
        """The labels and keys in a tool or answer that name types, and what each can mean there.

        Of an agent or workflow they are those in its signature. Those of the types that are
        defined around it and that it uses are among them, because these types are put beside it:
        they mean what they mean where the type is defined. What the holder defines itself hides
        what agents around it define, since an agent may have been put into another.

        Yields:
            The path of the pattern, the part (``labels`` or a key), and the definitions, the
            nearest first.
        """
        elements = self._below(holder, holder.path)
        own: Mapping[str, Definition] = {}
        pending = [(holder.path, holder.pattern, holder.scope)]
        if is_runnable(holder.pattern):
            written = written_signature(holder.pattern)
            signature = (each for each in elements if each.pattern is written)
            pending = [(each.path, each.pattern, holder.path) for each in signature]
        else:
            own = {each.name: each for each in elements if each.name}
        entered: dict[str, Definition] = {}
        while pending:
            at, pattern, around = pending.pop()
            is_inside = at[: len(holder.path)] == holder.path
            seen = self.types_seen(around)
            for path, part, name in type_names(pattern) if seen else ():
                if name not in seen:
                    continue
                meant = self.types_meant(name, around)
                if name in own:
                    meant = [own[name], *meant]
                if is_inside and meant[0].scope == holder.path:
                    meant = [meant[0], *(each for each in meant[1:] if self.is_top(each.scope))]
                first = entered.get(name, meant[0])
                if first.path != meant[0].path:
                    meant = [first, *meant]
                elif name not in entered and name not in own:
                    pending.append((first.path, first.pattern, first.scope))
                entered[name] = first
                yield (*at, *path), part, meant

    def completed(self, holder: Definition) -> tuple[Pattern, list[Definition]]:
        """A tool or an answer with the types put beside it that it uses, and these.

        Of an agent or workflow, those that its signature uses and that are not its own.
        """
        if holder.path in self._completed:
            return self._completed[holder.path]
        used: dict[str, Definition] = {}
        for _, _, (first, *_) in self.type_uses(holder):
            if first.scope != holder.path:
                used.setdefault(first.name, first)
        shapes = {name: each.pattern for name, each in used.items()}
        pattern = with_types(holder.pattern, shapes) if used else holder.pattern
        added = (used.get(each.value.identity) for each in pattern.elements) if used else ()
        self._completed[holder.path] = pattern, [each for each in added if each is not None]
        return self._completed[holder.path]

    def whole(self, what: Definition) -> Pattern:
        """A definition with the types that it uses; the answer in an agent has its own, too."""
        pattern = self.completed(what)[0]
        elements = enumerate(pattern.elements)
        pairs = ((each, self.answers.get((*what.path, at))) for at, each in elements)
        return with_other_elements(
            pattern, (self.completed(answer)[0] if answer else each for each, answer in pairs)
        )


def _words(pattern: Pattern) -> Iterator[str]:
    """All that may be a name in a pattern: identities, labels, and names of types in properties."""
    yield from (each.value.identity for _, each in walk(pattern))
    yield from (name for _, _, name in type_names(pattern))
