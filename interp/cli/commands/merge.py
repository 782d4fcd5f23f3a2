"""``gram merge``: merge what two sides made of a program, and judge the result."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from gram import GramDecodeError
from lenses_ext import merge_programs
from lenses_ext.composing import conflict_in_words

from ..failures import NO
from ..inputs.program_files import STDIN, run_git
from ..inputs.reading import read_text
from ..merges_in_git import judge_in_git, tell_merge_faults
from ..terminal.output import note, show, tell, write_result


@click.command("merge")
@click.argument("files", nargs=-1, metavar="BASE OURS THEIRS")
@click.option("-i", "--in-place", is_flag=True, help="Write OURS, atomically.")
@click.option(
    "-L",
    "--label",
    "labels",
    multiple=True,
    metavar="NAME",
    help="What conflicts call the sides; three times: ours, the base, theirs.",
)
@click.option("--marker-size", default=7, metavar="N", help="The length of conflict markers.")
@click.option("--path", metavar="NAME", help="What messages call the program.")
@click.option(
    "--across",
    is_flag=True,
    help="Judge all programs of a merge in git: of the one that is going on, of a merge "
    "commit (REV), or of what merging two revisions would give (REV REV).",
)
def command(
    files: tuple[str, ...],
    in_place: bool,
    labels: tuple[str, ...],
    marker_size: int,
    path: str | None,
    across: bool,
) -> None:
    """Merge the changes from BASE to OURS and from BASE to THEIRS, and print the text.

    Conflicts are written between git's markers, and told in words. Errors that the merged program
    has and neither side had are conflicts too. With conflicts, the exit code is 1.

    Files that are not gram are merged by lines, as git does. gram git install has git use it all.
    """
    if in_place and across:
        raise click.UsageError("-i writes OURS, and --across no file: choose one")
    if across:
        is_clean = judge_in_git(files)
    elif len(files) != 3:
        raise click.UsageError("name three files: BASE OURS THEIRS")
    else:
        # git before 2.44 has no names for the sides, and leaves %X as it is
        names = [name for name in labels if not name.startswith("%")] or ["ours", "base", "theirs"]
        if len(names) != 3:
            raise click.UsageError("name all three sides: -L OURS -L BASE -L THEIRS")
        is_clean = _merge(files, in_place, names, marker_size, path or files[1])
    if not is_clean:
        sys.exit(NO)


def _merge(
    files: Sequence[str], in_place: bool, names: Sequence[str], marker_size: int, path: str
) -> bool:
    """Merge files into OURS, or print the text; whether all fits."""
    ours, base, theirs = names
    try:
        found = merge_programs(*(read_text(file)[0] for file in files), filename=path)
    except GramDecodeError as error:
        note(f"{path}: merged by lines, as git does: {error.msg} in line {error.lineno} of a side")
        return _merge_lines(files, in_place, names, marker_size)
    for conflict in found.merge.conflicts:
        tell(f"{path}: conflict: {conflict_in_words(conflict, ours, theirs)}")
    tell_merge_faults(found.faults, ours, theirs)
    has_base = run_git("config", "merge.conflictStyle").stdout.strip().endswith(b"diff3")
    text = found.merge.text(ours, theirs, base if has_base else None, marker_size)
    write_result(files[1] if in_place else STDIN, text)
    return not (found.merge.conflicts or found.faults)


def _merge_lines(
    files: Sequence[str], in_place: bool, names: Sequence[str], marker_size: int
) -> bool:
    base, ours, theirs = files
    labels = (word for name in names for word in ("-L", name))
    options = ("--marker-size", str(marker_size), *labels, *["-p"] * (not in_place))
    done = run_git("merge-file", *options, ours, base, theirs)
    show(done.stdout.decode(errors="replace"), nl=False)
    if done.stderr:
        tell(done.stderr.decode(errors="replace").rstrip())
    return done.returncode == 0
