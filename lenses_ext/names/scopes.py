"""Scopes: which definitions of a program can be seen from where.

What is defined at the top of a file is seen in all of it, agents and tools in a group or below an
annotation too. What is defined inside an agent or workflow is seen in it; the parameters and types
of a tool are seen in that tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from gram import Pattern, TreePath, is_reference
from gram.checks import Reading
from gram.trees import WHOLE, Scope, Scoped, scopes_from

from ..labels import ANSWER, DEFINITIONS, is_agent, is_answer, is_runnable, is_tool
from ..language import (
    answer_with_shared_shapes,
    is_arrows,
    signature_with_shared_shapes,
    written_signature,
)
from ..signatures import RESERVED, shared_shapes, type_names, with_shared_shapes
from ..workflows import FlowArrow, arrows_in


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


class Definition(Scoped):
    """An agent, a workflow, a tool, an answer or a type, in its place.

    Its scope is the path of the agent or workflow that it is defined in, or `WHOLE`.
    """

    @property
    def references(self) -> Iterator[tuple[TreePath, Pattern]]:
        """The elements that only name a tool, an agent or a workflow, with their paths."""
        for index, element in enumerate(self.pattern.elements):
            if is_reference(element):
                yield (*self.path, index), element

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
    def names_used(self) -> Iterator[tuple[TreePath, str]]:
        """The names by which it refers to others, in elements and in arrows, with their paths."""
        known: dict[str, TreePath] = {}
        for path, element in self.references:
            known.setdefault(element.value.identity, path)
            yield path, element.value.identity
        for path, name, _ in self.names_in_arrows:
            if known.setdefault(name, path) == path:  # once, where it is named first
                yield path, name


def is_defined_there(end: Pattern) -> bool:
    """Whether the end of an arrow is a definition, which is a fault, and not a name."""
    return bool(end.value.properties) or is_runnable(end) or is_tool(end)


class Program:
    """The definitions of a program, by the scope that they are seen in.

    Attributes:
        patterns: its patterns.
        agents, workflows, tools, answers: all of them by path, in the order of the text.
        runnables, named: the agents and workflows, and these with the tools.
        outermost: the agents, workflows and tools that are not inside one.
        scopes: the paths of the scopes: `WHOLE`, every agent and every workflow.
    """

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self.patterns = tuple(patterns)
        self.agents: dict[TreePath, Definition] = {}
        self.workflows: dict[TreePath, Definition] = {}
        self.tools: dict[TreePath, Definition] = {}
        self.answers: dict[TreePath, Definition] = {}
        self._named: dict[TreePath, dict[str, list[Definition]]] = {WHOLE: {}}
        self._others: dict[TreePath, list[Definition]] = {WHOLE: []}
        self._types: dict[TreePath, dict[str, list[Definition]]] = {}
        self._seen: dict[TreePath, Mapping[str, Pattern]] = {}
        self._completed: dict[TreePath, tuple[Pattern, list[str]]] = {}
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
        return cls(reading.patterns)

    def _add(self, here: Definition) -> list[Definition]:
        """Note what a pattern defines; the patterns below it that may define something."""
        scope = here.scope
        if is_runnable(here.pattern):
            (self.agents if is_agent(here.pattern) else self.workflows)[here.path] = here
            scope = here.path
            self._named[scope], self._others[scope] = {}, []
        elif is_tool(here.pattern):
            self.tools[here.path] = here
        elif is_answer(here.pattern):
            if scope != WHOLE:
                self.answers[here.path] = here
            return []
        elif scope != WHOLE and DEFINITIONS in here.pattern.value.labels:
            return self._below(here, scope)
        else:
            self._others[scope].append(here)
            if scope != WHOLE or here.pattern.value.labels & RESERVED:
                return []
            return self._below(here, scope)
        if here.name:
            self._named[here.scope].setdefault(here.name, []).append(here)
        return self._below(here, scope) if is_runnable(here.pattern) else []

    def _below(self, here: Definition, scope: TreePath) -> list[Definition]:
        elements = enumerate(here.pattern.elements)
        return [Definition((*here.path, index), each, scope) for index, each in elements]

    def scopes_from(self, scope: TreePath) -> Iterator[TreePath]:
        """A scope and those around it, from the inside out."""
        return scopes_from(scope, self.runnables)

    def definitions_in(self, scope: TreePath) -> Iterator[list[Definition]]:
        """What a scope defines by name, types too, those of one name together."""
        named, types = self._named[scope], self.types_in(scope)
        for name in {**named, **types}:
            same = [*named.get(name, ()), *types.get(name, ())]
            yield sorted(same, key=lambda each: each.path)

    # --- agents and tools

    def meant(self, name: str, scope: TreePath) -> list[Definition]:
        """The agents, workflows and tools that a name can mean in a scope, the nearest first."""
        return [
            each for around in self.scopes_from(scope) for each in self._named[around].get(name, ())
        ]

    def defined_by(self, path: TreePath, element: Pattern, around: Definition) -> Definition | None:
        """The definition that an element is, or refers to; None if it is neither."""
        for known in (self.runnables, self.tools, self.answers):
            if path in known:
                return known[path]
        if not is_reference(element):
            return None
        return next(iter(self.meant(element.value.identity, around.path)), None)

    def inside(self, around: Definition) -> list[tuple[TreePath, Definition]]:
        """What an agent or workflow has, or refers to among its elements, each with its element."""
        found = []
        for index, element in enumerate(around.pattern.elements):
            path = (*around.path, index)
            meant = self.defined_by(path, element, around)
            if meant is not None:
                found.append((path, meant))
        return found

    def used_in_arrows(self, around: Definition) -> list[tuple[TreePath, Definition]]:
        """What the arrows of a workflow use without an element for it, each once, with its place.

        Agents that are handed over to are not used; see `handed_over`.
        """
        if around.path not in self.workflows:
            return []
        found = {meant.path for _, meant in self.inside(around)}
        used = []
        for path, name, _ in around.names_in_arrows:
            meant = next(iter(self.meant(name, around.path)), None)
            if meant is not None and meant.path not in found:
                found.add(meant.path)
                used.append((path, meant))
        return used

    def handed_over(self, agent: Definition) -> list[tuple[TreePath, Definition]]:
        """The agents that an agent may hand over to, each with the end of the arrow."""
        found = []
        for path, name, arrow in agent.names_in_arrows if agent.path in self.agents else ():
            if arrow.kind == "HANDOFF" and path[-1] == 1:
                found += [(path, each) for each in self.meant(name, agent.path)[:1]]
        return found

    def names_seen(self, scope: TreePath) -> Iterator[str]:
        """The names of the agents and tools that are seen in a scope."""
        for around in self.scopes_from(scope):
            yield from self._named[around]

    @cached_property
    def inner(self) -> Mapping[str, Definition]:
        """What is defined inside agents and workflows, by name: of one name the first."""
        found: dict[str, Definition] = {}
        for each in self.named.values():
            if each.scope != WHOLE:
                found.setdefault(each.name, each)
        return found

    # --- types

    def types_in(self, scope: TreePath) -> Mapping[str, list[Definition]]:
        """The types that a scope defines beside its other definitions, by name."""
        if scope not in self._types:
            tops = len(scope) + 1  # what is in a group is data
            others = [
                each
                for each in self._others[scope]
                if each.name and len(each.path) == tops and not is_reference(each.pattern)
            ]
            names = shared_shapes(each.pattern for each in others)
            found: dict[str, list[Definition]] = {}
            for each in others:
                if each.name in names:
                    found.setdefault(each.name, []).append(each)
            self._types[scope] = found
        return self._types[scope]

    def types_meant(self, name: str, scope: TreePath) -> list[Definition]:
        """The types that a label can mean in a scope."""
        return [
            each
            for around in self.scopes_from(scope)
            for each in self.types_in(around).get(name, ())
        ]

    def types_seen(self, scope: TreePath) -> Mapping[str, Pattern]:
        """The types that signatures in a scope see, by name; of one name the nearest."""
        if scope not in self._seen:
            own = {name: same[0].pattern for name, same in self.types_in(scope).items()}
            outer = self.types_seen(self.runnables[scope].scope) if scope != WHOLE else {}
            self._seen[scope] = {**outer, **own} if own and outer else own or outer
        return self._seen[scope]

    def type_uses(self, holder: Definition) -> Iterator[tuple[TreePath, str, list[Definition]]]:
        """The labels and keys in a tool or answer that name types, and what each can mean there.

        Of an agent or workflow they are those in its signature. Those of the types that are
        defined around it and that it uses are among them, because these types are put beside it.

        Yields:
            The path of the pattern, the part (``labels`` or a key), and the definitions, the
            nearest first.
        """
        seen = self.types_seen(holder.scope)
        own = {
            element.value.identity: Definition((*holder.path, index), element, holder.path)
            for index, element in enumerate(holder.pattern.elements)
            if element.value.identity in seen
        }
        entered: set[str] = set()
        pending = [(holder.path, holder.pattern)] if seen else []
        if is_runnable(holder.pattern):
            written = written_signature(holder.pattern)
            elements = enumerate(holder.pattern.elements if seen else ())
            pending = [((*holder.path, at), each) for at, each in elements if each is written]
        while pending:
            at, pattern = pending.pop()
            for path, part, name in type_names(pattern):
                if name not in seen:
                    continue
                meant = self.types_meant(name, holder.scope)
                yield (*at, *path), part, [own[name], *meant] if name in own else meant
                if name not in own and name not in entered:
                    entered.add(name)
                    pending.append((meant[0].path, meant[0].pattern))

    def completed(self, holder: Definition) -> tuple[Pattern, list[str]]:
        """A tool or an answer with the types put beside it that it uses, and their names.

        Of an agent or workflow, those that its signature uses and that are not its own.
        """
        if holder.path not in self._completed:
            self._completed[holder.path] = self._complete(holder)
        return self._completed[holder.path]

    def _complete(self, holder: Definition) -> tuple[Pattern, list[str]]:
        seen = self.types_seen(holder.scope)
        if not seen:
            return holder.pattern, []
        pattern = _put_beside(holder.pattern)(holder.pattern, seen)
        if pattern is holder.pattern:
            return pattern, []
        named = [(each.value.identity, each) for each in pattern.elements]
        return pattern, [name for name, each in named if seen.get(name) is each]


def _put_beside(pattern: Pattern) -> Callable[[Pattern, Mapping[str, Pattern]], Pattern]:
    if is_runnable(pattern):
        return signature_with_shared_shapes
    return with_shared_shapes if is_tool(pattern) else answer_with_shared_shapes
