"""What a file names of other files: the definitions that it imports, and the skills of its agents.

``{imports: ["tools/search.gram", "../shared/desk.gram"]}`` names files by their paths from the file
itself. What these define at their top is seen in it, and not what they import themselves.

The ``SKILL.md`` of a skill has a public form: a front matter in YAML, with a name and a
description, and a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import attrs
from pyrsistent import PVector

from gram import Diagnostic, GramDecodeError, GramError, Pattern, Span, TreePath, origin
from gram.documents import decode
from gram.extras import install
from gram.reading import spans_in_text
from gram.trees import is_header

from ..language import each_agent, folders_of, skill
from ..optics import over
from ..schemas import MissingYamlError, read_yaml

IMPORTS: Final = "imports"
"""The key of the header under which a file names those that it imports."""


class Import(NamedTuple):
    """An import of a file.

    Attributes:
        name: what the list of imports says; None where that is not a text.
        span: where it says so; None where the file was made.
        scope: the scope of the imported file, see `Files`; None where it was not read.
        fault: why it was not read.
    """

    name: str | None
    span: Span | None = None
    scope: TreePath | None = None
    fault: Diagnostic | None = None

    def refused(self, header: Pattern, code: str, message: str, hint: str | None = None) -> Import:
        """The import with what is wrong with it, placed in the header of its file."""
        read = origin(header)
        source = read.source if read else None
        fault = Diagnostic(code, "error", message, (IMPORTS,), self.span, hint, source)
        return self._replace(fault=fault)


def imports_of(patterns: Sequence[Pattern]) -> Iterator[Import]:
    """The imports that the header of a file lists; what is no list is one without a name."""
    if not patterns or not is_header(patterns[0]) or IMPORTS not in patterns[0].value.properties:
        return
    written = patterns[0].value.properties[IMPORTS]
    spans = spans_in_text(patterns[0])
    if not isinstance(written, PVector):
        yield Import(None, spans.value(IMPORTS) if spans else None)
        return
    for number, item in enumerate(written):
        name = str(item) if isinstance(item, str) and item else None
        yield Import(name, spans.value(IMPORTS, number) if spans else None)


def unread_imports(patterns: Sequence[Pattern]) -> Iterator[Import]:
    """The imports of a text by itself, for which no file is opened."""
    for each in imports_of(patterns):
        code, message, hint = NO_TEXT
        if each.name is not None:
            code, message = "open-import", f'"{each.name}" is imported, and a text opens no files'
            hint = "give the path of the file: load(path), load_project(path), gram COMMAND FILE"
        yield each.refused(patterns[0], code, message, hint)


_AS_LIST: Final = 'write imports: ["tools/search.gram"]'
NO_TEXT: Final = ("import-value", "imports are a list of paths of files", _AS_LIST)
"""What is wrong with an import that names no file: the code, the message, a hint."""


SKILL_FILE: Final = "SKILL.md"
MOST_SKILL_BYTES: Final = 100_000
"""How many bytes the file of a skill may have."""

_MOST_DESCRIPTION: Final = 1024  # characters, as for the name below, are those of the public form
_NAME: Final = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(-[a-z0-9]+)*")
_FORM: Final = re.compile(r"\ufeff?---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|\Z)")
_EXPECTED: Final = "it begins with ---, then name: and description:, then ---, then the text"

_FIELDS: Final = (
    "name: is of a to z, 0 to 9 and single - between them, at most 64 characters; "
    f"description: says in 1 to {_MOST_DESCRIPTION:,} characters when to read it"
)
IS_FOLDER: Final = f"a skill is a folder with {SKILL_FILE}: name the folder"
"""The hint to who names a skill otherwise."""


class UnreadSkill(NamedTuple):
    """Why a skill was not read, and how to mend it."""

    message: str
    hint: str | None = None


class SkillUse(NamedTuple):
    """A skill of an agent.

    Attributes:
        found: the skill, or why it was not read.
        path: the pattern that has or names it.
        part: the part of the pattern that does.
        span: where the agent names its folder; None where the agent was made, or has the skill.
    """

    found: Pattern | UnreadSkill
    path: TreePath
    part: str
    span: Span | None = None


def read_skill(file: Path, shown: str, folder: str) -> Pattern | UnreadSkill:
    """The skill that a file has.

    Args:
        file: the file.
        shown: its name, for messages.
        folder: where it is, from the root of the project.
    """
    try:
        if not file.is_file():
            return UnreadSkill(f"there is no file {shown}", IS_FOLDER)
        with file.open("rb") as opened:
            content = opened.read(MOST_SKILL_BYTES + 1)
    except OSError as error:
        return UnreadSkill(f"{shown}: {error.strerror}")
    return skill_in(content, shown, folder)


def skill_in(content: bytes, shown: str, folder: str) -> Pattern | UnreadSkill:
    """The skill that the content of a file says.

    Args:
        content: the bytes of the file.
        shown: its name, for messages.
        folder: where it is, from the root of the project.
    """
    if len(content) > MOST_SKILL_BYTES:
        return UnreadSkill(f"{shown} has more than {MOST_SKILL_BYTES:,} bytes")
    try:
        text = decode(content, shown)
    except GramDecodeError as error:
        return UnreadSkill(f"{shown}:{error.lineno}:{error.colno}: {error.msg}", error.hint)
    text = text.replace("\r\n", "\n")
    begin = _FORM.match(text)
    if begin is None:
        return UnreadSkill(f"{shown} has no front matter", _EXPECTED)
    try:
        said = read_yaml("\n" + begin[1])  # such that its lines have their numbers in the file
    except MissingYamlError:
        return UnreadSkill(f"{shown}: a skill needs the package pyyaml", install("skills"))
    except ValueError as error:
        return UnreadSkill(f"{shown}: the front matter is not YAML: {error}")
    said = said if isinstance(said, dict) else {}
    name, description = said.get("name"), said.get("description")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return UnreadSkill(f"{shown} has no name, or a wrong one", _FIELDS)
    says = description.strip() if isinstance(description, str) else ""
    if not 0 < len(says) <= _MOST_DESCRIPTION:
        return UnreadSkill(f"{shown} has no description, or a wrong one", _FIELDS)
    if not (body := text[begin.end() :].strip()):
        return UnreadSkill(f"{shown} has no text", _EXPECTED)
    try:
        return skill(name, says, body, folder)
    except GramError as error:
        return UnreadSkill(f"{shown}: {error}")


def having_skills(
    patterns: Iterable[Pattern], find: Callable[[str], Pattern | UnreadSkill | None]
) -> tuple[Pattern, ...]:
    """Patterns whose agents have the skills in the folders that they name, beside these names.

    Args:
        patterns: the patterns of a file.
        find: the skill in a folder; what it does not find is left out.
    """

    def having(agent: Pattern) -> Pattern:
        read = [each for _, name in folders_of(agent) if isinstance(each := find(name), Pattern)]
        return attrs.evolve(agent, elements=(*agent.elements, *read)) if read else agent

    return over(each_agent, having, tuple(patterns))
