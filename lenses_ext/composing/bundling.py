"""Bundling: a program of several files as one text of the same meaning."""

from __future__ import annotations

import attrs

from gram import Document, Pattern, TreePath, only_errors, origin
from gram.errors import expect
from gram.trees import WHOLE, is_header

from ..errors import ProgramError
from ..labels import DEFINITIONS, is_runnable
from ..language import with_skills
from ..names import (
    IMPORTS,
    Definition,
    Program,
    Project,
    diagnose,
    program_of,
    reached,
    resolve,
)
from ..rules import PROGRAM_CHECKS
from ..signatures import with_other_elements


def bundle(project: Project) -> Document:
    """The first file of a project with what it uses of the others behind it, and without imports.

    A definition whose name means something else at the top of that text is put inside the agents
    and workflows that use it; a type, into the tools. Each agent and workflow of the first file
    is then the same, once resolved.

    Raises:
        ProgramError: the project has errors, or definitions of one name cannot be in one text (the
            message has their places).
    """
    expect(project, Project, "project", by="bundle")
    if errors := only_errors(diagnose(project, PROGRAM_CHECKS)):
        raise ProgramError.of(errors)
    program = program_of(project, by="bundle")
    made = _Bundling(program, project.document.patterns)
    bundled = project.document.replace(made.patterns())
    for each in program.outermost:
        if is_runnable(each.pattern):
            try:
                if resolve(bundled, each.name) == resolve(project, each.name):
                    continue
            except ProgramError:
                pass
            raise ProgramError(f'"{each.name}" cannot be in one file: {made.clashes()}')
    return bundled


class _Bundling:
    """Makes the patterns of one text of those of a program of several files."""

    def __init__(self, program: Program, first: tuple[Pattern, ...]) -> None:
        self._program = program
        self._first = first
        used: set[TreePath] = set()
        for each in program.outermost:
            used |= reached(program, each)
        self._same: dict[str, list[Definition]] = {}
        for each in sorted(program.tops, key=lambda each: each.path):
            if each.scope == WHOLE or each.path in used:
                self._same.setdefault(each.name, []).append(each)
        inside = (scope for scope in program.scopes if not program.is_top(scope))
        self._inside = {name for scope in inside for name in program.names_at(scope)}
        self._added: dict[TreePath, Definition] = {}

    def clashes(self) -> str:
        """Which names are meant in two ways."""
        program = self._program
        several = (same for same in self._same.values() if program.are_different(same))
        told = (f'"{same[0].name}" at {" and ".join(map(_place, same))}' for same in several)
        return f"rename {', '.join(told) or 'what is also defined inside an agent'}"

    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns of the text."""
        own = [each for at, top in enumerate(self._first) for each in self._top((at,), top)]
        made: dict[TreePath, Pattern] = {}
        while missing := self._added.keys() - made.keys():
            made |= {path: self._made(self._added[path]) for path in missing}
        return (*own, *(made[path] for path in sorted(made)))

    def _top(self, path: TreePath, pattern: Pattern) -> list[Pattern]:
        """What becomes of a pattern of the first file that is not inside an agent."""
        if path == (0,) and is_header(pattern):
            said = pattern.value.properties.discard(IMPORTS)
            subject = attrs.evolve(pattern.value, properties=said)
            return [attrs.evolve(pattern, value=subject)] if said else []
        if path in self._program.named:
            return [self._made(self._program.named[path])]
        name = pattern.value.identity
        if any(each.path == path for each in self._program.types_in(WHOLE).get(name, ())):
            return [pattern] if self._is_shared(name) else []
        below = enumerate(pattern.elements)
        elements = [new for at, each in below for new in self._top((*path, at), each)]
        return [with_other_elements(pattern, elements)]

    def _made(self, here: Definition) -> Pattern:
        """A definition, with those put inside that cannot be at the top."""
        completed, types = self._program.completed(here)
        are_shared = all(self._is_shared(each.name) for each in types)
        if are_shared:
            self._add(*types)
        if not is_runnable(here.pattern):
            return here.pattern if are_shared else completed
        elements = []
        for at, element in enumerate(here.pattern.elements):
            path = (*here.path, at)
            meant = self._program.defined_by(path, element, here)
            if DEFINITIONS in element.value.labels:
                elements += self._top(path, element)
            elif meant is None or (meant.path != path and self._is_at_top(meant)):
                elements.append(element)
            else:
                elements.append(self._made(meant))
        for _, meant in self._program.used_in_arrows(here):
            if not self._is_at_top(meant):
                elements.append(self._made(meant))
        self._add(*(meant for _, meant in self._program.handed_over(here)))
        if not are_shared:
            elements += completed.elements[len(here.pattern.elements) :]
        made = with_other_elements(here.pattern, elements)
        return with_skills(made, self._program.skills_read(here))

    def _is_shared(self, name: str) -> bool:
        """Whether a type can be at the top: nothing else there, or further in, has its name."""
        same = self._same.get(name, [])
        return name not in self._inside and not self._program.are_different(same)

    def _is_at_top(self, meant: Definition) -> bool:
        """Whether a definition is seen at the top by its name, where it is added if need be."""
        if not self._program.is_top(meant.scope):
            return True  # in the agent around
        first = self._same[meant.name][0]
        if self._program.are_different([first, meant]):
            return False
        if first.scope != WHOLE and meant.name in self._inside:
            return False
        self._add(first)
        return True

    def _add(self, *definitions: Definition) -> None:
        """Add definitions at the top; of equal ones of one name the first."""
        for each in definitions:
            same = self._same[each.name] if self._program.is_top(each.scope) else []
            first = next(iter(same), each)
            meant = each if self._program.are_different([first, each]) else first
            if same and meant.scope != WHOLE:
                self._added[meant.path] = meant


def _place(each: Definition) -> str:
    return str(origin(each.pattern) or each.path)
