"""Projects: a program with the files that it imports, each read once.

Reading follows imports inside one folder, the root, and opens nothing outside it: the root is the
nearest folder above the first file that has ``gram.toml``, ``pyproject.toml`` or ``.git``, else the
folder of that file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

import attrs
from attrs import field, frozen

from gram import ArgumentError, Document, GramDecodeError, Pattern, TreePath, walk
from gram.documents import decode, resolved, write_together
from gram.errors import MAX_LEVELS, expect, expect_all
from gram.showing import WAYS
from gram.trees import WHOLE

from ..labels import is_agent
from ..language import folders_of
from ..signatures import parse_program
from ..workflows import grouped
from .imports import (
    IS_FOLDER,
    NO_TEXT,
    SKILL_FILE,
    Import,
    UnreadSkill,
    having_skills,
    imports_of,
    read_skill,
    unread_imports,
)
from .scopes import FILE, Files

_MARKS: Final = ("gram.toml", "pyproject.toml", ".git")
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@frozen(eq=False, slots=False)
class Project:
    """A program of one or several files.

    As a document, it has patterns, and `replace` gives the project that says other ones: those of
    the first file, then one for each further file, which holds the patterns of it.

    Attributes:
        path: the first file, links followed.
        root: the folder that no import leads out of.
        documents: the files by their paths, links followed; the first file first.
        imported: the imports of each file, with the path of the imported one; None for one that
            was not read.
        skills: the skills of each file, by the folders that its agents name.
        skill_files: the files of these skills.
    """

    path: Path
    root: Path
    documents: Mapping[Path, Document]
    imported: Mapping[Path, Sequence[tuple[Import, Path | None]]] = field(repr=False)
    skills: Mapping[Path, Mapping[str, Pattern | UnreadSkill]] = field(factory=dict, repr=False)
    skill_files: frozenset[Path] = frozenset()

    @classmethod
    def of(cls, document: Document) -> Project:
        """A document by itself: no file is opened, and what it imports is a fault."""
        expect(document, Document, "document", by="Project.of")
        path = Path(document.filename or "")
        imports = [(each, None) for each in unread_imports(document.patterns)]
        return cls(path, path.parent, {path: document}, {path: imports})

    @property
    def document(self) -> Document:
        """The document of the first file."""
        return self.documents[self.path]

    @property
    def filename(self) -> str | None:
        """The name of the first file, as it was given."""
        return self.document.filename

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {**WAYS["notebook"](self.document), "text/plain": repr(self)}

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns of the first file, then a pattern for each other file."""
        first, *others = self.documents.values()
        return (*first.patterns, *(Pattern(FILE, each.patterns) for each in others))

    @property
    def with_skills(self) -> tuple[Pattern, ...]:
        """The patterns of the first file, its agents with the skills that were read for them."""
        read = self.skills.get(self.path, {})
        return having_skills(self.document.patterns, read.get)

    @cached_property
    def files(self) -> Files:
        """What is seen from where."""
        first = len(self.document.patterns)
        scopes: dict[Path | None, TreePath] = {self.path: WHOLE}
        for at, path in enumerate(self.documents, -1):
            scopes.setdefault(path, (first + at,))
        imports = {
            scopes[path]: tuple(each._replace(scope=scopes.get(to)) for each, to in found)
            for path, found in self.imported.items()
        }
        return Files(imports, {scopes[path]: found for path, found in self.skills.items()})

    def holder(self, path: TreePath) -> Path:
        """The file that holds the pattern at a path of `patterns`."""
        first = len(self.document.patterns)
        return [*self.documents][max(0, path[0] - first + 1)]

    def replace(self, patterns: Iterable[Pattern]) -> Project:
        """The project that says other patterns; each file changes no more than they ask for.

        Where an edit changes imports or skills, files that are not known yet are read.

        Args:
            patterns: the patterns of the first file, then one for each further file, in the order
                of `patterns`.
        """
        wanted = expect_all(patterns, Pattern, "patterns", by="replace")
        others = len(self.documents) - 1
        first, rest = wanted[: len(wanted) - others], wanted[len(wanted) - others :]
        if len(wanted) < others or any(each.value != FILE for each in rest):
            raise ArgumentError("replace: patterns end with those that hold the further files")
        said = (first, *(each.elements for each in rest))
        pairs = zip(self.documents.items(), said, strict=True)
        documents = {path: document.replace(new) for (path, document), new in pairs}
        if all(map(_names_alike, self.documents.values(), documents.values())):
            return attrs.evolve(self, documents=documents)
        return _Reader(self.root, documents).project(self.path)

    def as_read(self) -> Project:
        """The same with the texts of edited files read again, so that their parts have places."""
        if not any(each.changes for each in self.documents.values()):
            return self
        edited = {path: each for path, each in self.documents.items() if each.changes}
        again = {path: parse_program(each.text, each.filename) for path, each in edited.items()}
        return attrs.evolve(self, documents={**self.documents, **again}) if edited else self

    def changed_since(self, before: Project) -> tuple[Path, ...]:
        """The files that have another text than in ``before``, or that it does not have."""
        expect(before, Project, "before", by="changed_since")
        known = {path: each.text for path, each in before.documents.items()}
        return tuple(path for path, each in self.documents.items() if known.get(path) != each.text)

    def save(self, before: Project) -> tuple[Path, ...]:
        """Write the files that were changed: all of them, or none where one cannot be written.

        Args:
            before: the project as it was read.

        Returns:
            The files that were written.

        Raises:
            OSError: a file cannot be written, or another program has changed it since it was read.
        """
        changed = self.changed_since(before)
        texts = {path: self.documents[path].text for path in changed}
        known = {path: before.documents[path].text for path in changed if path in before.documents}
        write_together(texts, known)
        return changed


def load_project(
    path: str | os.PathLike[str], documents: Mapping[Path, Document] | None = None
) -> Project:
    """Read a program from a file, with the files that it imports.

    What is wrong with an import is a fault of the project, which `validate_program` reports.

    Args:
        path: the file.
        documents: documents that are meant instead of what the files at their paths have, such as
            those that somebody edits.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
    """
    expect(path, (str, os.PathLike), "path", by="load_project")
    expect_documents(documents or {}, by="load_project")
    first = resolved(Path(path))
    known = {resolved(where): each for where, each in (documents or {}).items()}
    if first not in known:
        content, name = Path(path).read_bytes(), os.fspath(path)
        known[first] = parse_program(decode(content, name), name)
    return _Reader(project_root(first), known).project(first)


def expect_documents(documents: Mapping[Path, Document], *, by: str) -> None:
    """Refuse what are no documents by their paths."""
    expect(documents, Mapping, "documents", by=by)
    for path, each in documents.items():
        expect(path, (str, os.PathLike), "path", by=by)
        expect(each, Document, "document", by=by)


def load_together(documents: Mapping[Path, Document]) -> tuple[Project, ...]:
    """Programs that are judged together, with the files that they import: one for each root.

    Args:
        documents: documents by their paths, links followed.
    """
    deep = {path for path, each in documents.items() if _is_too_deep(each)}
    groups = grouped((path if path in deep else (project_root(path),), path) for path in documents)
    return tuple(_Reader(project_root(it[0]), documents).project(*it) for it in groups.values())


def project_root(file: Path) -> Path:
    """The folder of a file's project, outside of which nothing is opened for it."""
    marked = (each for each in file.parents if any((each / mark).exists() for mark in _MARKS))
    return next(marked, file.parent)


def _is_too_deep(document: Document) -> bool:
    """Whether a document cannot be put into a pattern."""
    return any(each.levels >= MAX_LEVELS for each in document.patterns)


def _names_alike(before: Document, after: Document) -> bool:
    """Whether two documents name the same files."""
    one, other = ([each.name for each in imports_of(it.patterns)] for it in (before, after))
    return before is after or (one == other and _folders(before) == _folders(after))


def _folders(document: Document) -> list[str]:
    """The folders of skills that the agents of a document name, each once."""
    agents = (each for top in document.patterns for _, each in walk(top) if is_agent(each))
    return [*dict.fromkeys(folder for each in agents for _, folder in folders_of(each))]


class _RefusedError(Exception):
    """An import that is not followed: the code of its fault, the message, and perhaps a hint."""


class _Reader:
    """Follows imports from file to file."""

    def __init__(self, root: Path, known: Mapping[Path, Document]) -> None:
        self._root = root
        self._known = known
        self._documents: dict[Path, Document] = {}
        self._skills: dict[Path, Pattern | UnreadSkill] = {}

    def project(self, *first: Path) -> Project:
        imported: dict[Path, list[tuple[Import, Path | None]]] = {}
        self._documents |= {path: self._known[path] for path in first}
        pending = [*first]
        for path in pending:
            header, imported[path] = self._documents[path].patterns[:1], []
            for each in imports_of(header):
                try:
                    target = self._target(path, each.name)
                    if target in (known for _, known in imported[path]):
                        raise _RefusedError("repeated-import", f'"{each.name}" is imported already')
                    if target not in self._documents:
                        self._documents[target] = self._read(target)
                        pending.append(target)
                    imported[path].append((each, target))
                except _RefusedError as why:
                    imported[path].append((each.refused(header[0], *why.args), None))
        folders = {path: _folders(document) for path, document in self._documents.items()}
        skills = {at: {it: self._skill(at, it) for it in some} for at, some in folders.items()}
        files = frozenset(self._skills)
        return Project(first[0], self._root, self._documents, imported, skills, files)

    def _skill(self, importer: Path, folder: str) -> Pattern | UnreadSkill:
        """The skill in a folder that a file names."""
        try:
            file = self._inside(importer, f"{folder}/{SKILL_FILE}")
        except _RefusedError as why:
            told, hint, *_ = (*why.args[1:], IS_FOLDER)
            return UnreadSkill(told, hint)
        if file not in self._skills:
            folder = file.parent.relative_to(self._root).as_posix()
            self._skills[file] = read_skill(file, _shown(file), folder)
        return self._skills[file]

    def _target(self, importer: Path, name: str | None) -> Path:
        """The file that an import names."""
        if name is None:
            raise _RefusedError(*NO_TEXT)
        found = self._inside(importer, name)
        if found == importer:
            raise _RefusedError("repeated-import", "the file imports itself")
        if not found.exists() and found not in self._known:
            raise _RefusedError("missing-import", f'"{name}" is not there: no file {_shown(found)}')
        return found

    def _inside(self, importer: Path, name: str) -> Path:
        """What is at a path from a file, links followed, inside the root."""
        outside = "import-outside"
        if _ADDRESS.match(name):
            raise _RefusedError(outside, f'"{name}" is an address, and nothing is fetched')
        if Path(name).is_absolute():
            hint = "write the path from the folder of this file"
            raise _RefusedError(outside, f'"{name}" is an absolute path', hint)
        try:
            found = resolved(importer.parent / name)
        except OSError as error:
            raise _RefusedError("missing-import", f'"{name}": {error.strerror}') from None
        if not found.is_relative_to(self._root):
            hint = f"the project is {self._root}; a gram.toml above both files widens it"
            raise _RefusedError(outside, f'"{name}" is outside the project', hint)
        return found

    def _read(self, path: Path) -> Document:
        """The document of a file inside the root."""
        unreadable, shown = "unreadable-import", _shown(path)
        if path not in self._known and not path.is_file():
            what = "a folder" if path.is_dir() else "not a regular file"
            hint = "import its files one by one" if path.is_dir() else None
            raise _RefusedError("missing-import", f"{shown} is {what}", hint)
        try:
            read = self._known.get(path)
            document = read or parse_program(decode(path.read_bytes(), shown), shown)
        except GramDecodeError as error:
            told = f"{shown}:{error.lineno}:{error.colno}: {error.msg}"
            raise _RefusedError(unreadable, told, error.hint) from None
        except OSError as error:
            raise _RefusedError(unreadable, f"{shown}: {error.strerror}") from None
        if _is_too_deep(document):
            told = f"{shown} has {MAX_LEVELS} levels, one more than can be imported"
            raise _RefusedError(unreadable, told)
        return document


def _shown(path: Path) -> str:
    """A path for messages: from the current folder."""
    return os.path.relpath(path)
