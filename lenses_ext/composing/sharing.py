"""Sharing a tool between the agents of a document, or a definition between files.

What agents have once their references are resolved is the same before and after; of files, it may
differ in words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePath

import attrs
from attrs import frozen
from pyrsistent import PVector, pvector

from gram import (
    Document,
    Pattern,
    Subject,
    Value,
    format_text,
    is_reference,
    operations,
    origin,
    walk,
)
from gram.errors import expect, expect_all
from gram.trees import WHOLE, is_header
from gram.words import counted, did_you_mean

from ..errors import FocusError
from ..labels import is_tool
from ..language import each_agent
from ..names import IMPORTS, Program, expect_documents
from ..optics import collect, over
from ..signatures import parse_program


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
    inside = [
        tool for agent in collect(each_agent, patterns) for tool in agent.elements if is_tool(tool)
    ]
    meant = [tool for tool in inside if tool.value.identity == name]
    if not meant:
        known = dict.fromkeys(tool.value.identity for tool in inside)
        reason, hint = f'no agent has a tool "{name}"', did_you_mean(name, known)
        raise FocusError("share_tool", "the agents", patterns, reason, hint)
    tool = meant[0]
    defined = (each.pattern for each in Program(patterns).meant(name, WHOLE))
    for other in (*meant, *defined, *_named(patterns, name)):
        if other != tool:
            reason = f'"{name}" is something else elsewhere in the document'
            raise FocusError("share_tool", "value.identity", other, reason)
    reference = Pattern(Subject(name))
    shared = over(each_agent, partial(_with_each, old=tool, new=reference), patterns)
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
    expect_documents(documents, by=by)
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
            found[path] = program.completed(tops[0])[0], _without(patterns, tops[0].path[0])
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
        path: _importing(documents[path], rest, os.path.relpath(into, path.parent))
        for path, (_, rest) in found.items()
        if path != into
    }
    home = documents.get(into) or parse_program("", str(into))
    if into not in found:
        home = home.replace((*home.patterns, shared))
        is_new = into not in documents
        changed[into] = parse_program(format_text(home.text), str(into)) if is_new else home
    return Shared(shared, {path: one for path, (one, _) in found.items()}, changed)


def _without(patterns: tuple[Pattern, ...], index: int) -> tuple[Pattern, ...]:
    return (*patterns[:index], *patterns[index + 1 :])


def _without_words(pattern: Pattern) -> Pattern:
    """A pattern without the texts that are words."""

    def bare(subject: Subject) -> Subject:
        kept = {key: v for key, v in subject.properties.items() if key not in _WORDS}
        return attrs.evolve(subject, properties=kept)

    return operations.map(bare, pattern)


def _importing(document: Document, rest: tuple[Pattern, ...], file: str) -> Document:
    """A document that imports another file, and says the rest of its patterns."""
    name = PurePath(file).as_posix()
    header = next(filter(is_header, rest[:1]), Pattern())
    known = header.value.properties.get(IMPORTS, pvector())
    files: Value = pvector([*(known if isinstance(known, PVector) else ()), name])
    said = header.value.properties.set(IMPORTS, files)
    changed = attrs.evolve(header, value=attrs.evolve(header.value, properties=said))
    behind = rest[1:] if header.value.properties else rest
    # the header first, so that it is not taken for a definition that goes
    importing = document.replace((changed, *(document.patterns if behind is rest else behind)))
    return importing.replace((importing.patterns[0], *behind))


def _named(patterns: Iterable[Pattern], name: str) -> list[Pattern]:
    return [each for each in patterns if each.value.identity == name and not is_reference(each)]


def _with_each(agent: Pattern, *, old: Pattern, new: Pattern) -> Pattern:
    """An agent with each element that equals ``old`` replaced."""
    if old not in agent.elements:
        return agent
    elements = (new if element == old else element for element in agent.elements)
    return attrs.evolve(agent, elements=tuple(elements))
