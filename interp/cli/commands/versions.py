"""Commands on versions of programs: ``diff`` says what changed, ``merge`` makes and judges one of
two, ``git`` has git do so."""

from __future__ import annotations

import errno
import os
import posixpath
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from os.path import lexists, relpath
from pathlib import Path
from typing import Any, TypeAlias

import click
from attrs import frozen

from gram import Document, GramDecodeError, GramError, Pattern, origin, write_atomically
from gram.documents import decode
from gram.words import counted
from lenses_ext import Project, composing, load_project, merge_programs, parse_program
from lenses_ext.composing import MergeFault, ProgramChange, changes, level_of
from lenses_ext.names import SKILL_FILE, UnreadSkill, having_skills, imports_of, skill_in

from ...shown import visible_text
from ..failures import NO, Refused, shown
from ..inputs import files as sources
from ..inputs.declaring import Options, argument, command, json_option, option
from ..inputs.files import STDIN, bytes_in_git, files_in_git, read_text, run_git
from ..terminal.console import forbid, note, show, show_json, tell, write_result
from ..terminal.faults_shown import as_text, tell_failure

_Read: TypeAlias = Callable[[], tuple[Pattern, ...]]
"""Reads a program, its agents with the skills that they name."""
_Side: TypeAlias = dict[str, _Read]
"""The files of one side by their paths; ``""`` is a file that was named itself."""

_STYLES = {
    "breaking for callers": "error",
    "breaking for functions": "warning",
    "changing behaviour": "info",
}
_HOW = {"both": "", "old": " (removed)", "new": " (new)"}
"""On which sides a file is, and how that is said."""


@command("diff")
def diff_command(
    what: tuple[str, ...] = argument("A B"),
    everything: bool = option("Also show changes of order and spelling.", name="--all"),
    exit_code: bool = option("Exit with 1 when something differs."),
    markdown: bool = option("Print Markdown, for a review."),
    as_json: bool = json_option,
) -> None:
    """Say what changed from A to B: for callers, and for the functions that implement tools.

    A and B are files, folders, revisions of git or REV:path. With gram diff REV REV -- PATH… files
    and folders are compared in two revisions. Comments and layout do not count.
    """
    forbid(as_json and markdown, "--json and --markdown cannot be used together")
    files: list[_FileChanges] = []
    code = 0
    pairs = list(_pairs(what))
    for name, old, new in pairs:
        is_in = "both" if old and new else "old" if old else "new"
        try:
            programs = (read() if read else () for read in (old, new))
            files.append(_FileChanges(name, is_in, changes(*programs)))
        except (GramError, OSError) as failure:
            if len(pairs) == 1:
                raise
            code = max(code, tell_failure(failure))
            files.append(_FileChanges(name, is_in, (), shown(failure)))
    _show_changes(files, everything, markdown, as_json)
    if not any(each.found or each.error for each in files):
        note("no difference")
    elif exit_code and not code:
        code = NO
    sys.exit(code)


def _pairs(what: tuple[str, ...]) -> Iterator[tuple[str, _Read | None, _Read | None]]:
    """The name of each file with what reads it on both sides, None where it is not there."""
    forbid(len(what) < 2, "write A B, or REV REV -- PATH")
    if len(what) == 2:
        sides = [(what[1], _side(*what), _side(*what[::-1]))]
    else:
        sides = [(path, _in_git(what[0], path), _in_git(what[1], path)) for path in what[2:]]
    for named, old, new in sides:
        if not old and not new:
            raise FileNotFoundError(errno.ENOENT, "no gram files on either side", named)
        is_mixed = old and new and ("" in old) != ("" in new)
        forbid(is_mixed, "compare a file with a file, and a folder with a folder")
        for name in sorted(old.keys() | new.keys()):
            yield name or named, old.get(name), new.get(name)


def _side(given: str, other: str) -> _Side:
    """What an argument names; a revision alone is what the other argument names, there."""
    if given != STDIN and not lexists(given):
        return _in_git(given, None if ":" in given else other if lexists(other) else ".")
    if given == STDIN or not Path(given).is_dir():
        return {"": partial(_read, given)}
    return {relpath(each, given): partial(_read, str(each)) for each in sources.find_files(given)}


def _read(name: str) -> tuple[Pattern, ...]:
    if name == STDIN or not Path(name).is_file():
        return parse_program(*read_text(name)).patterns
    return load_project(name).with_skills


def _skill_in_git(program: str, path: str | None, folder: str) -> Pattern | UnreadSkill | None:
    """The skill in a folder that a program in git names, which is ``REV:path``."""
    revision, _, file = program.partition(":")
    file = file if path is None else sources.path_in_repository(file)
    shown = posixpath.normpath(posixpath.join(posixpath.dirname(file), folder, SKILL_FILE))
    content = sources.file_in_git(f"{revision}:{shown}")
    return None if content is None else skill_in(content, shown, folder)


def _in_git(revision: str, path: str | None) -> _Side:
    named = revision if path is None else f"{revision}:{path}"

    def read(name: str, hash_: str) -> tuple[Pattern, ...]:
        called = posixpath.join(named, name) if name else named
        patterns = parse_program(decode(sources.bytes_in_git(hash_), called), called).patterns
        return having_skills(patterns, partial(_skill_in_git, called, path))

    found = files_in_git(revision, path)
    return {name: partial(read, name, hash_) for name, hash_ in found.items()}


@frozen
class _FileChanges:
    """What changed in a file; or why that cannot be said."""

    name: str
    is_in: str
    found: tuple[ProgramChange, ...]
    error: str | None = None

    def told(self, everything: bool) -> list[ProgramChange]:
        return [each for each in self.found if everything or not each.said.is_detail]


def _show_changes(
    files: Sequence[_FileChanges], everything: bool, markdown: bool, as_json: bool
) -> None:
    """Print what changed, and at the end what it means for those who use the programs."""
    every = [change for file in files for change in file.found]
    level = level_of(every)
    if as_json:
        rows = [_as_json(each, everything) for each in files if each.found or each.error]
        show_json({"level": level, "files": rows})
        return
    for file in files:
        if markdown:
            _show_in_markdown(file, everything)
        else:
            _show_in_text(file, everything, has_heading=len(files) > 1)
    if level is None:
        if every and not everything:
            note("only order and spelling differ: --all shows how")
        return
    changes = [each for each in every if not each.said.is_detail]
    counts = Counter(mark for each in changes for mark in _marks(each))
    sums = "".join(f", {counts[mark]} {mark}" for mark in _STYLES if counts[mark])
    summary = f"{counted(len(changes), 'change')}{sums}"
    show(f"**{level}**: {summary}" if markdown else [(level, "place"), (f": {summary}", "")])


def _show_in_text(file: _FileChanges, everything: bool, *, has_heading: bool) -> None:
    changes = file.told(everything)
    if changes and has_heading:
        show([(visible_text(file.name) + _HOW[file.is_in], "place")])
    for each in changes:
        marks = ((f" [{mark}]", _STYLES[mark]) for mark in _marks(each))
        show([(visible_text(str(each)), ""), *marks])


def _show_in_markdown(file: _FileChanges, everything: bool) -> None:
    changes = file.told(everything)
    if changes or file.error:
        show(f"### {_code(file.name + _HOW[file.is_in])}\n")
    for each in changes:
        show(" ".join([f"- {_code(str(each))}", *(f"**{mark}**" for mark in _marks(each))]))
    if file.error:
        show(f"- **not compared**: {_code(file.error)}")
    if changes or file.error:
        show("")


def _as_json(file: _FileChanges, everything: bool) -> dict[str, Any]:
    return {
        "file": file.name,
        "in": file.is_in,
        "level": level_of(file.found),
        "changes": [_json_of(each) for each in file.told(everything)],
        **({"error": file.error} if file.error else {}),
    }


def _json_of(change: ProgramChange) -> dict[str, Any]:
    said, place = change.said, origin(change.pattern)
    return {
        "what": list(change.what),
        "change": said.text,
        "level": None if said.is_detail else said.level,
        "breaks_callers": said.level == "major",
        "breaks_functions": said.unbinds,
        "changes_behaviour": said.behaves,
        "place": str(place) if place else None,
    }


def _marks(change: ProgramChange) -> list[str]:
    said = change.said
    flags = said.level == "major", said.unbinds, said.behaves
    return [mark for mark, flag in zip(_STYLES, flags, strict=True) if flag]


def _code(text: str) -> str:
    """A text as code, whatever is in it: Markdown means nothing there, and nobody is called."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence} {visible_text(text)} {fence}"


class _Options(Options):
    in_place: bool = option("Write OURS, atomically.", name="-i --in-place")
    labels: tuple[str, ...] = option(
        "What conflicts call the sides; three times: ours, the base, theirs.",
        "NAME",
        name="-L --label",
    )
    marker_size: int = option("The length of conflict markers.", "N", type=int, default=7)
    path: str | None = option("What messages call the program.", "NAME")
    across: bool = option(
        "Judge all programs of a merge in git: of the one that is going on, of a merge commit "
        "(REV), or of what merging two revisions would give (REV REV)."
    )

    def __attrs_post_init__(self) -> None:
        forbid(self.in_place and self.across, "-i writes OURS, and --across no file: choose one")

    @property
    def names(self) -> Sequence[str]:
        """What the sides are called: ours, the base, theirs."""
        # git before 2.44 has no names for the sides, and leaves %X as it is
        names = [name for name in self.labels if not name.startswith("%")]
        forbid(len(names) not in (0, 3), "name all three sides: -L OURS -L BASE -L THEIRS")
        return names or ("ours", "base", "theirs")


@command("merge")
def merge_command(
    options: _Options, files: tuple[str, ...] = argument("BASE OURS THEIRS", required=False)
) -> None:
    """Merge the changes from BASE to OURS and from BASE to THEIRS, and print the text.

    Conflicts are written between git's markers, and told in words. Errors that the merged program
    has and neither side had are conflicts too. With conflicts, the exit code is 1.

    Files that are not gram are merged by lines, as git does. gram git install has git use it all.
    """
    forbid(not options.across and len(files) != 3, "name three files: BASE OURS THEIRS")
    is_clean = _judge_in_git(files) if options.across else _merge(files, options)
    if not is_clean:
        sys.exit(NO)


def _merge(files: Sequence[str], options: _Options) -> bool:
    """Merge files into OURS, or print the text; whether all fits."""
    ours, base, theirs = options.names
    path = options.path or files[1]
    try:
        found = merge_programs(*(read_text(file)[0] for file in files), filename=path)
    except GramDecodeError as error:
        note(f"{path}: merged by lines, as git does: {error.msg} in line {error.lineno} of a side")
        return _merge_lines(files, options)
    for conflict in found.merge.conflicts:
        tell(f"{path}: conflict: {composing.conflict_in_words(conflict, ours, theirs)}")
    _tell_faults(found.faults, ours, theirs)
    has_base = run_git("config", "merge.conflictStyle").stdout.strip().endswith(b"diff3")
    text = found.merge.text(ours, theirs, base if has_base else None, options.marker_size)
    write_result(files[1] if options.in_place else STDIN, text)
    return not (found.merge.conflicts or found.faults)


def _merge_lines(files: Sequence[str], options: _Options) -> bool:
    base, ours, theirs = files
    labels = (word for name in options.names for word in ("-L", name))
    more = ("--marker-size", str(options.marker_size), *labels, *["-p"] * (not options.in_place))
    done = run_git("merge-file", *more, ours, base, theirs)
    show(done.stdout.decode(errors="replace"), nl=False)
    if done.stderr:
        tell(done.stderr.decode(errors="replace").rstrip())
    return done.returncode == 0


def _judge_in_git(revisions: Sequence[str]) -> bool:
    """Tell what is wrong in the programs of a merge and in neither side; whether all is well."""
    top = Path(_said("rev-parse", "--show-toplevel") or "")
    trees = (_Tree(top, files_in_git(tree) if tree else {}) for tree in _trees(revisions))
    base, ours, theirs, merged = trees
    same = [
        {path for path, hash_ in merged.hashes.items() if side.hashes.get(path) == hash_}
        for side in (ours, theirs)
    ]
    is_clean = True
    for path in merged.hashes:
        document = merged.document(path)
        if document is None:
            tell(f"{os.path.relpath(path)}: not judged, for the merge is not gram here")
            is_clean = is_clean and not all(side.document(path) for side in (ours, theirs))
            continue
        program = merged.program(path, document)
        if any(program.documents.keys() <= files for files in same):
            continue
        # where a side has no such file, what it says of the imported files is compared
        end = document.spans((0,)).pattern.end if document.header else 0
        missing = parse_program(document.text[:end], document.filename)
        before, we, they = (tree.program(path, missing) for tree in (base, ours, theirs))
        faults = composing.judge_merge(before, we, they, program)
        _tell_faults(faults, "ours", "theirs")
        is_clean = is_clean and not faults
    return is_clean


def _trees(revisions: Sequence[str]) -> tuple[str | None, str, str, str]:
    """What a merge began with, if both sides have it, both sides, and the result."""
    theirs: str | None
    merged: str | None
    match revisions:
        case []:
            # what git merges now it has in a file, or tells its hooks
            heads = (each[8:] for each in os.environ if each.startswith("GITHEAD_"))
            theirs = _said("rev-parse", "--verify", "--quiet", "MERGE_HEAD") or next(heads, None)
            ours, merged = "HEAD", _said("write-tree")
            if theirs is None:
                raise Refused("gram: no merge is going on: name a merge commit, or two revisions")
        case [merged]:
            ours, theirs = f"{merged}^1", f"{merged}^2"
            if _said("rev-parse", "--verify", "--quiet", theirs) is None:
                raise Refused(f"gram: {merged} is no merge commit")
        case [ours, theirs]:
            merged = _said("merge-tree", "--write-tree", ours, theirs)
        case _:
            raise Refused("gram: name a merge commit, or two revisions")
    if merged is None:
        raise Refused(f"gram: {ours} and {theirs} do not merge without conflicts")
    return _said("merge-base", ours, theirs), ours, theirs, merged


def _said(*arguments: str) -> str | None:
    done = run_git(*arguments)
    return None if done.returncode else os.fsdecode(done.stdout).strip()


class _Tree:
    """The gram files of a tree in git."""

    def __init__(self, top: Path, hashes: Mapping[str, str]) -> None:
        self.hashes = {top / name: hash_ for name, hash_ in hashes.items()}

    def program(self, path: Path, missing: Document) -> Project:
        """The program of a file with what it imports; ``missing`` is for a file that is no gram."""
        document = self.document(path) or missing
        others = self.hashes if any(imports_of(document.patterns)) else ()
        known = {each: found for each in others if (found := self.document(each))}
        return load_project(path, {**known, path: document})

    def document(self, path: Path) -> Document | None:
        """What a file has; None where it is missing or no gram."""
        hash_ = self.hashes.get(path)
        return _document(hash_, os.path.relpath(path)) if hash_ else None


@cache
def _document(hash_: str, name: str) -> Document | None:
    try:
        return parse_program(decode(bytes_in_git(hash_), name), name)
    except GramDecodeError:
        return None


def _tell_faults(faults: Sequence[MergeFault], ours: str, theirs: str) -> None:
    """Tell what is wrong in a merged program and in neither side, and which changes meet there."""
    for each in faults:
        tell(as_text(each.fault))
        for side, made in ((ours, each.ours), (theirs, each.theirs)):
            for change in made:
                tell(f"  {side}: {change}")
    if faults:
        tell(f"conflict: what is wrong above is in neither {ours} nor {theirs} alone")


_ATTRIBUTES = "*.gram merge=gram diff=gram"
_DRIVER = "merge -i --marker-size %L --path %P -L %X -L %S -L %Y %O %A %B"
_HOOK = "hooks/pre-merge-commit"
_OUR_HOOK = "# written by gram git install"
_HEADS = "^[[:space:]]*([[(][^]|()[:space:]]+::?(Agent|Workflow|Loop|ToolSpecification|Tool))"


@click.group("git")
def git_command() -> None:
    """Have git merge programs by structure, and show whose change a hunk is."""


@command("install", git_command)
def install(undo: bool = option("Take away what this command has put there.")) -> None:
    """Make gram the merge driver for *.gram in the git repository of this folder.

    It writes .gitattributes, which is for everybody who has the repository, and the configuration
    and a hook of this clone, which each one needs: the hook judges what lies across files before a
    merge is committed. What is there already stays.
    """
    top = _said("rev-parse", "--show-toplevel")
    if top is None:
        raise Refused("gram: this folder is in no git repository")
    gram = "gram" if shutil.which("gram") else f"{shlex.quote(sys.executable)} -m interp"
    settings = {
        "merge.gram.name": "gram programs by structure",
        "merge.gram.driver": f"{gram} {_DRIVER}",
        "diff.gram.xfuncname": _HEADS,
    }
    _change_attributes(Path(top, ".gitattributes"), undo=undo)
    for key, value in settings.items():
        _change_setting(key, value, undo=undo)
    hook = Path(_said("rev-parse", "--git-path", _HOOK) or _HOOK)
    _change_hook(hook, f"{gram} merge --across", undo=undo)


def _change_attributes(file: Path, *, undo: bool) -> None:
    text = decode(file.read_bytes(), str(file)) if file.exists() else ""
    lines = text.splitlines(keepends=True)
    others = [line for line in lines if line.strip() != _ATTRIBUTES]
    if undo and len(others) < len(lines):
        note(f"{file}: removed: {_ATTRIBUTES}")
        write_atomically(file, "".join(others)) if others else file.unlink()
    elif not undo and len(others) == len(lines):
        note(f"{file}: added: {_ATTRIBUTES}")
        gap = "\n" if text and not text.endswith("\n") else ""
        write_atomically(file, f"{text}{gap}{_ATTRIBUTES}\n")


def _change_setting(key: str, value: str, *, undo: bool) -> None:
    known = _said("config", "--local", key)
    if undo and known:
        note(f"git config: removed: {key}")
        run_git("config", "--local", "--unset", key)
    elif not undo and known != value:
        note(f"git config: {key} = {value}")
        run_git("config", "--local", key, value)


def _change_hook(file: Path, judge: str, *, undo: bool) -> None:
    text = decode(file.read_bytes(), str(file)) if file.exists() else None
    if undo and text and _OUR_HOOK in text:
        note(f"{file}: removed")
        file.unlink()
    elif not undo and text is None:
        note(f"{file}: runs {judge}")
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, f"#!/bin/sh\n{_OUR_HOOK}\nexec {judge}\n")
        file.chmod(0o755)
    elif not undo and text and "merge --across" not in text:
        tell(f"{file} is there already: add the line {judge} || exit 1")
