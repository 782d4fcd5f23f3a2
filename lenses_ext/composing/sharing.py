"""Sharing a tool between agents, or a definition between files; bundling files as one text.

What agents have once their references are resolved is the same before and after; of files, it may
differ in words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath

import attrs
from attrs import frozen
from pyrsistent import PVector, pvector

from gram import Document, format_text, only_errors, operations, origin
from gram.errors import expect, expect_all
from gram.trees import WHOLE, Pattern, Subject, TreePath, Value, is_header, is_reference, walk
from gram.words import counted, did_you_mean

from .. import names
from ..errors import FocusError, ProgramError
from ..labels import DEFINITIONS, is_runnable, is_tool
from ..language import each_agent, with_skills
from ..names import IMPORTS, Definition, Program
from ..optics import any_property, collect, over, put
from ..rules import PROGRAM_CHECKS
from ..signatures import parse_program, with_other_elements
from ..workflows import grouped


def share_tool(patterns: Iterable[Pattern], name: str) -> tuple[Pattern, ...]:
    """A document with one definition of a tool, at its end, to which its agents refer by name.

    Agents at any depth are meant. A definition that is at the top level already stays there.

    Args:
        patterns: the patterns of the document, as `gram.loads` gives them.
        name: the name of the tool.

    Raises:
        FocusError: no agent has a tool of this name written out (the message has the nearest),
            agents differ in what it is, or something else in the document has this name.

    >>> from gram import dumps, loads
    >>> print(dumps(share_tool(loads("[a:Agent | (t:Tool)] [b:Agent | (t:Tool)]"), "t")))
    [a:Agent | t]
    [b:Agent | t]
    (t:Tool)
    """
    patterns = expect_all(patterns, Pattern, "patterns", by="share_tool")
    expect(name, str, "name", by="share_tool")
    elements = (each for agent in collect(each_agent, patterns) for each in agent.elements)
    inside = [each for each in elements if is_tool(each)]
    meant = [tool for tool in inside if tool.value.identity == name]
    if not meant:
        known = dict.fromkeys(tool.value.identity for tool in inside)
        reason, hint = f'no agent has a tool "{name}"', did_you_mean(name, known)
        raise FocusError("share_tool", "the agents", patterns, reason, hint)
    tool = meant[0]
    defined = (each.pattern for each in Program(patterns).meant(name, WHOLE))
    named = (each for each in patterns if each.value.identity == name)
    for other in (*meant, *defined, *named):
        if other != tool and not is_reference(other):
            reason = f'"{name}" is something else elsewhere in the document'
            raise FocusError("share_tool", "value.identity", other, reason)

    def referring(agent: Pattern) -> Pattern:
        elements = (Pattern(Subject(name)) if each == tool else each for each in agent.elements)
        return with_other_elements(agent, elements)

    shared = over(each_agent, referring, patterns)
    return shared if tool in patterns else (*shared, tool)


_WORDS = ("description", "instruction")
"""The properties that are words for people and models."""


@frozen
class Shared:
    """A definition that files share.

    Attributes:
        definition: the definition.
        replaced: what it takes the place of, by file.
        documents: the documents that changed, that of the definition among them.
    """

    definition: Pattern
    replaced: Mapping[Path, Pattern]
    documents: Mapping[Path, Document]

    @property
    def words(self) -> Iterator[tuple[Pattern, str, Value | None, Value | None]]:
        """Where words change: the pattern, the key, what it said and what it says then."""
        for old in self.replaced.values():
            for (_, one), (_, other) in zip(walk(old), walk(self.definition), strict=True):
                for key in _WORDS:
                    said, says = (it.value.properties.get(key) for it in (one, other))
                    if said != says:
                        yield one, key, said, says


def share_definition(documents: Mapping[Path, Document], name: str, into: Path) -> Shared:
    """Files with one definition of what each of them defines, which they import.

    Tools inside agents are meant, and what is at the top of a file. The definition is that of the
    file ``into``, if it has one, else of the first file.

    Args:
        documents: the files by their paths, links followed; those without it stay as they are.
        name: the name of the definition.
        into: the file that has it then; it is new, or one of these.

    Raises:
        FocusError: fewer than two files define it, or the definitions differ in more than words.
    """
    by = "share_definition"
    names.expect_documents(documents, by=by)
    expect(name, str, "name", by=by)
    expect(into, Path, "into", by=by)
    found: dict[Path, tuple[Pattern, tuple[Pattern, ...]]] = {}
    for path, document in documents.items():
        inside = (each for agent in collect(each_agent, document) for each in agent.elements)
        is_inside = any(is_tool(each) and each.value.identity == name for each in inside)
        patterns = share_tool(document.patterns, name) if is_inside else document.patterns
        program = Program(patterns)
        tops = [*program.meant(name, WHOLE), *program.types_meant(name, WHOLE)]
        if tops and len(tops[0].path) == 1:
            (at,) = tops[0].path
            found[path] = program.completed(tops[0])[0], (*patterns[:at], *patterns[at + 1 :])
    if len(found) < 2:
        count = counted(len(found), "file")
        reason = f'"{name}" is defined at the top, or in an agent, of {count}'
        raise FocusError(by, "", tuple(found.values())[:0], reason, "it takes two to share it")
    shared = found[into][0] if into in found else next(iter(found.values()))[0]
    for one, _ in found.values():
        if _without_words(one) != _without_words(shared):
            reason = f'this "{name}" differs in more than words from the one at {origin(shared)}'
            raise FocusError(by, "", one, reason, "gram diff says how two files differ")
    changed = {
        path: importing(documents[path], rest, path.parent, into)
        for path, (_, rest) in found.items()
        if path != into
    }
    home = documents.get(into) or parse_program("", str(into))
    if into not in found:
        home = home.replace((*home.patterns, shared))
        is_new = into not in documents
        changed[into] = parse_program(format_text(home.text), str(into)) if is_new else home
    return Shared(shared, {path: one for path, (one, _) in found.items()}, changed)


def _without_words(pattern: Pattern) -> Pattern:
    """A pattern without the texts that are words."""

    def bare(subject: Subject) -> Subject:
        kept = {key: v for key, v in subject.properties.items() if key not in _WORDS}
        return attrs.evolve(subject, properties=kept)

    return operations.map(bare, pattern)


def with_other_meaning(before: names.Project, after: names.Project) -> Iterator[str]:
    """The agents and workflows of a file that are not what they were, but for words."""
    for each in names.find_runnables(before.document):
        name = each.value.identity
        try:
            was, now = (_without_words(names.resolve(it, name)) for it in (before, after))
        except ProgramError:  # which is reported as such
            continue
        if was != now:
            yield name


def importing(document: Document, rest: tuple[Pattern, ...], folder: Path, file: Path) -> Document:
    """A document in a folder that imports another file, and says the rest of its patterns."""
    header = next(filter(is_header, rest[:1]), Pattern())
    known = header.value.properties.get(IMPORTS)
    files = [*(known if isinstance(known, PVector) else ())]
    if not any(os.path.realpath(folder / str(each)) == str(file) for each in files):
        files.append(PurePath(os.path.relpath(file, folder)).as_posix())
    changed = put(any_property(IMPORTS), pvector(files), header)
    behind = rest[1:] if header.value.properties else rest
    # the header first, so that it is not taken for a definition that goes
    importing = document.replace((changed, *(document.patterns if behind is rest else behind)))
    return importing.replace((importing.patterns[0], *behind))


def bundle(project: names.Project) -> Document:
    """The first file of a project with what it uses of the others behind it, and without imports.

    A definition whose name means something else at the top of that text is put inside the agents
    and workflows that use it; a type, into the tools. Each agent and workflow of the first file
    is then the same, once resolved.

    Raises:
        ProgramError: the project has errors, or definitions of one name cannot be in one text (the
            message has their places).
    """
    expect(project, names.Project, "project", by="bundle")
    if errors := only_errors(names.diagnose(project, PROGRAM_CHECKS)):
        raise ProgramError.of(errors)
    program = names.program_of(project, by="bundle")
    made = _Bundling(program, project.document.patterns)
    bundled = project.document.replace(made.patterns())
    for each in program.outermost:
        if is_runnable(each.pattern):
            try:
                if names.resolve(bundled, each.name) == names.resolve(project, each.name):
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
            used |= names.reached(program, each)
        tops = sorted(program.tops, key=lambda each: each.path)
        meant = (each for each in tops if each.scope == WHOLE or each.path in used)
        self._same = grouped((each.name, each) for each in meant)
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
            header = put(any_property(IMPORTS), None, pattern)
            return [header] if header.value.properties else []
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
