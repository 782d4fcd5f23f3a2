"""What several files mean by one name: ``rename`` gives another, ``share`` makes copies one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import attrs
from attrs import define, field
from pyrsistent import PMap

import lenses_ext
from gram import Document, GramError, Pattern, Source, origin, pattern_at, walk
from gram.documents import decode, write_together
from lenses_ext import Place, Project, change_places, load_project, parse_program
from lenses_ext.composing import importing, with_other_meaning
from lenses_ext.names import choose, program_of, reached
from lenses_ext.places import Kind, Named, mentions, named_at, read_path

from ...errors import ValidationError
from ...evaluation.cases import Case, rename_in_cases
from ...machine import POLICY
from ..each_file import Nowhere, ShowOptions, each_file, held_file, refuse_new_errors
from ..failures import Refused
from ..inputs.declaring import command, option, path_argument
from ..inputs.files import STDIN, SUFFIX, find_files, read_document, words_and_files
from ..inputs.libraries import read_libraries
from ..process import interruptible
from ..terminal.console import forbid, note, show_diff, tell

_CASES = (SUFFIX, ".csv", ".jsonl")


@define(eq=False)
class _Renaming:
    """Finds what a path names in files, and gives it another name wherever it is meant.

    Attributes:
        found: what the path names: the file that defines it, and the name in that file.
        texts: the old and the new texts of the files that change.
    """

    path: str
    new: str
    instructions: bool
    force: bool
    found: list[tuple[Path, Named]] = field(factory=list)
    texts: dict[Path, tuple[str, str]] = field(factory=dict)
    told: list[str] = field(factory=list)

    def find(self, file: str) -> dict[str, Any]:
        project = load_project(file)
        try:
            named = named_at(project, self.path)
        except lenses_ext.PathError as error:
            raise Nowhere(f"{file}: {error}") from None
        holder = project.holder(named.path)
        inside = named.path[1:] if holder != project.path else named.path
        if (one := (holder, attrs.evolve(named, path=inside))) not in self.found:
            self.found.append(one)
        return {}

    def change(self, files: Sequence[str]) -> None:
        """Change what means it: in the files, and in those of their projects that import it."""
        given = [Path(each).resolve() for name in files for each in find_files(name)]
        for file, named in self.found:
            meant = []
            for root in dict.fromkeys([file, *given, *_importers(file)]):
                with suppress(OSError, GramError):  # it is told, or was not named
                    project = load_project(shown_path(root))
                    if file in project.documents:
                        meant.append((project, _there(project, file, named)))
            for project, there in meant:
                self._change_program(project, there)
            folders = {each.parent for each in (*self.texts, *(it.path for it, _ in meant))}
            around = {each for folder in folders for each in folder.iterdir()}
            for other in sorted({*around, *given}):
                if other.suffix in _CASES and other.is_file():
                    self._change_beside(other, meant)

    def unbound(self, tools: Sequence[str]) -> Iterator[str]:
        """Which functions of Python files do not bind any more."""
        library = read_libraries(tools) if tools else {}
        for file, named in self.found:
            holder = pattern_at(load_project(file).patterns, named.path).value.identity
            holder = named.name if named.kind == "tool" else holder
            tool = library.get(holder)
            if tool is not None and named.kind in ("tool", "parameter"):
                what = "" if named.kind == "tool" else f"the parameter {named.name} of "
                yield f"{tool.place}: {what}{holder} does not bind any more: call it {self.new}"

    # --- programs

    def _change_program(self, project: Project, named: Named) -> None:
        try:
            renamed = lenses_ext.rename(project, named, self.new, instructions=self.instructions)
        except lenses_ext.ProgramError as error:
            raise Refused(f"refused: {error}") from None
        if not self.force:
            refuse_new_errors(project, renamed)
        for agent in () if self.instructions else mentions(project, named):
            said = f"{origin(agent.pattern)}: the instruction of {agent.name} names `{named.name}`"
            if (told := f"{said}: --instructions changes it, too") not in self.told:
                self.told.append(told)
        for each in renamed.changed_since(project):
            self._note(each, project.documents[each].text, renamed.documents[each].text)

    def _note(self, file: Path, old: str, new: str) -> None:
        known, before = self.texts.get(file, (old, old))
        if before not in (old, new):
            raise Refused(
                f"{shown_path(file)}: two names change in this file: rename one at a time"
            )
        if new != known:
            self.texts[file] = known, new

    # --- what is beside a program

    def _change_beside(self, file: Path, meant: Sequence[tuple[Project, Named]]) -> None:
        """Change the approval rules and the cases in a file."""
        project, named = meant[0]
        try:
            before = decode(file.read_bytes(), str(file))
            text = self.texts.get(file, (before, before))[1]
            if named.name not in text or named.kind in ("type", "node"):
                return
            holder = pattern_at(project.patterns, named.path)
            if file.suffix == SUFFIX:
                text = self._in_policies(parse_program(text, shown_path(file)), named, holder)
            source, called = Source(text, str(file)), holder.value.identity
            is_meant = partial(_is_meant, meant=meant)
            text = rename_in_cases(source, named.kind, named.name, self.new, called, is_meant)
        except Refused:
            raise
        except ValidationError as error:
            if not error.faults:
                self.told.append(str(error))
        except (OSError, GramError):
            return  # it is no program and has no cases; what was named is told
        if text != before:
            self.texts[file] = before, text

    def _in_policies(self, document: Document, named: Named, holder: Pattern) -> str:
        """The text of a document with the new name in the rules of its approval policies."""
        rules = [
            (Place((), Kind.PATTERN, (*path, index)), partial(self._rule, named, holder))
            for path, policy in walk(document.patterns)
            if POLICY in policy.value.labels
            for index in range(len(policy.elements))
        ]
        return document.replace(change_places(document.patterns, rules)).text

    def _rule(self, named: Named, holder: Pattern, rule: Pattern) -> Pattern:
        properties = rule.value.properties
        tool = properties.get("tool")
        arguments: Any = properties.get("arguments")
        if not isinstance(tool, str):
            return rule
        parts = tool.split("/")
        if named.kind == "parameter":
            is_asked = isinstance(arguments, PMap) and named.name in arguments
            if is_asked and parts[-1] == holder.value.identity:
                kept = arguments.remove(named.name).set(self.new, arguments[named.name])
                properties = properties.set("arguments", kept)
        else:
            for part in parts:
                fits = [fnmatchcase(name, part) for name in (named.name, self.new)]
                if part not in (named.name, "*") and fits[0] != fits[1] and not self.force:
                    raise Refused(
                        f"{origin(rule)}: refused: the rule for {tool} would fit {named.name} "
                        "and not the new name, or the other way round (use --force)"
                    )
            new = "/".join(self.new if part == named.name else part for part in parts)
            properties = properties.set("tool", new)
        return attrs.evolve(rule, value=attrs.evolve(rule.value, properties=properties))


def show_or_write(texts: Mapping[Path, tuple[str | None, str]], in_place: bool) -> None:
    """Show what would change in files, or write all of them, or none."""
    for path, (old, new) in texts.items():
        if not in_place:
            show_diff(old or "", new, shown_path(path))
    if in_place:
        known = {path: old for path, (old, _) in texts.items() if old is not None}
        with interruptible():
            write_together({path: new for path, (_, new) in texts.items()}, known, held_file)
        for path in texts:
            note(f"{shown_path(path)}: changed")


def shown_path(path: Path) -> str:
    """A path as messages show it: from the current folder, if it is in there."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _there(project: Project, file: Path, named: Named) -> Named:
    """What is named in a file of a project, with its path among the patterns of the project."""
    number = [*project.documents].index(file)
    if not number:
        return named
    path = (len(project.document.patterns) + number - 1, *named.path)
    return attrs.evolve(named, path=path)


def _importers(file: Path) -> Iterator[Path]:
    """The files of the project of a file that may import it."""
    root = load_project(file).root
    for each in find_files(str(root)):
        path = Path(each).resolve()
        with suppress(OSError):
            if path != file and file.name.encode() in path.read_bytes():
                yield path


def _is_meant(case: Case, *, meant: Sequence[tuple[Project, Named]]) -> bool:
    """Whether a case is for a program that means by the name what is renamed."""
    program = Path(case.program).resolve() if case.program else None
    for project, there in meant:
        if program in (None, project.path):
            read = program_of(project, by="rename")
            try:
                return there.path in reached(read, choose(read, case.agent))
            except lenses_ext.ProgramError:  # it does not say for which agent it is
                return True
    return False


@command("rename")
def rename_command(
    options: ShowOptions,
    arguments: tuple[str, ...] = path_argument("PATH NEW"),
    instructions: bool = option("Rename it in instructions, too (in backticks)."),
    tools: tuple[str, ...] = option(
        "Say which functions of a Python file do not bind any more.", "FILE.py[:NAME]"
    ),
) -> None:
    """Give what is at PATH in FILES the name NEW, wherever it is meant, and show what would change.

    PATH leads to an agent, a workflow or a tool (desk, desk.tools.search), to a type of the file
    (User), a parameter (search.parameters.limit), or a node that is another use of an agent
    (news.nodes.again). It is renamed in its definition, in references, arrows and signatures, in
    files of the project that import it, and in the cases and approval rules in FILES and beside
    them. -i writes all files, or none.

    A name is refused that is taken, or with which something would mean another thing.
    """
    (path, new), files = words_and_files(arguments, "PATH NEW")
    forbid(STDIN in files, "rename changes files and cannot change standard input")
    renaming = _Renaming(path, new, instructions, options.force)
    tally = each_file(files, renaming.find)
    renaming.change(files)
    show_or_write(renaming.texts, options.in_place)
    for said in (*renaming.told, *renaming.unbound(tools)):
        tell(said)
    tally.leave()


@command("share")
def share_command(
    options: ShowOptions,
    arguments: tuple[str, ...] = path_argument("PATH"),
    into: str | None = option("The file that has the definition then.", "FILE"),
) -> None:
    """Make of the copies of what is at PATH in FILES one definition that the files import.

    PATH is the name of a tool, an agent, a workflow or a type, or a path that ends with it. The
    copies are at the top of their files or, of a tool, in agents. Their words may differ: how is
    told, and those of the first file, or of FILE, are kept. Without --into the definition goes to
    NAME.gram in the folder that has all the files; other files of the project that used it import
    it, too. What would change is shown; -i writes all files, or none.
    """
    (path,), files = words_and_files(arguments, "PATH")
    forbid(STDIN in files, "share changes files and cannot change standard input")
    name, documents = read_path(path)[-1], dict[Path, Document]()

    def read(file: str) -> None:
        documents[Path(file).resolve()] = read_document(file)

    tally = each_file(files, read)
    folder = os.path.commonpath([each.parent for each in documents] or [Path.cwd()])
    target = Path(into or Path(folder, f"{name}{SUFFIX}")).resolve()
    if target not in documents and target.exists():
        documents[target] = read_document(shown_path(target))
    try:
        shared = lenses_ext.share_definition(documents, name, target)
    except lenses_ext.FocusError as error:
        place = f"{origin(error.pattern)}: " if isinstance(error.pattern, Pattern) else ""
        raise Refused(f"{place}refused: {error.reason}\n  hint: {error.hint}") from None
    changed = dict(shared.documents)
    users = [it for each in changed if each in documents for it in _importers(each)]
    for user in (each for each in dict.fromkeys(users) if each not in changed):
        with suppress(OSError, GramError):  # it is broken before and after
            own = documents.setdefault(user, read_document(shown_path(user)))
            was = load_project(user, {user: own})
            if lenses_ext.new_errors(was, load_project(user, {user: own, **changed})):
                changed[user] = importing(own, own.patterns, user.parent, target)
    for judged in () if options.force else changed:
        before = documents.get(judged) or parse_program("", shown_path(judged))
        was, now = load_project(judged, {judged: before}), load_project(judged, changed)
        refuse_new_errors(was, now)
        for other in with_other_meaning(was, now):
            reason = f"what {name} is made of is defined in another way for {other}"
            raise Refused(f"{shown_path(judged)}: refused: {reason} (--force does it anyway)")
    for old, key, said, says in shared.words:
        tell(f"{origin(old)}: the {key} {said!r} becomes {says!r}")
    texts = {
        each: (documents[each].text, document.text) if each in documents else (None, document.text)
        for each, document in changed.items()
    }
    if options.in_place:
        target.parent.mkdir(parents=True, exist_ok=True)
    show_or_write(texts, options.in_place)
    tally.leave()
