"""Commands on parts of programs: ``get``, ``set``, ``add``, ``del`` at paths; ``query`` and
``rewrite`` with holes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import attrs
import click

import gram
import lenses_ext
from gram import GramDecodeError, Pattern, from_json, to_json
from gram.comparing import Bound, QueryError, holes_in
from gram.json import Json, value_to_json
from gram.trees import WALK_SUBJECT
from gram.writing import abridged
from lenses_ext import FocusError, PathError, Place, Project, change_places, places as paths
from lenses_ext.errors import describe
from lenses_ext.labels import WORKFLOW
from lenses_ext.places import ANY, read_path, read_pattern, write_path

from ...errors import ValidationError
from ...json_text import read_json
from ..each_file import EditOptions, Nowhere, ShowOptions, deliver, each_file, places_in
from ..failures import INVALID, NO, Refused
from ..inputs.declaring import command, json_option, option, path_argument
from ..inputs.files import STDIN, are_many, read_program, read_word_beside, words_and_files
from ..inputs.libraries import ToolOptions
from ..terminal.console import forbid, show, show_json, tell


@command("get")
def get_command(
    arguments: tuple[str, ...] = path_argument("PATH"), as_json: bool = json_option
) -> None:
    """Print the value at PATH in FILES, such as greeter.tools.wave.description.

    The files come first or last: gram get a.gram PATH, or gram get PATH agents/. They are files,
    folders and globs; of several, each value is printed with its file.

    The first word is the name of an agent, or of a tool outside the agents.

    A path with * prints each matching value with its path, and leaves out properties that are not
    set. Exits with 1 if there is no value, and with 3 if a part is of the wrong type. --json prints
    an object from path to value; of several files, an object from file to such objects.
    """
    (path,), files = words_and_files(arguments, "PATH")
    several = are_many(files)
    found: dict[str, Json] = {}

    def find(file: str) -> dict[str, Any]:
        values, wrong = _values(read_program(file), path, own=several)
        if not values and not wrong:
            raise Nowhere(f"{file}: `{path}` is not set")
        if as_json and values:
            found[file] = {where: value_as_json(value) for where, value in values.items()}
        for where, value in {} if as_json else values.items():
            words = [file] * several + [where] * (ANY in read_path(path))
            show("".join(f"{word}: " for word in words) + _text_of(value))
        for each in wrong:
            tell(each.in_words)
        return {"code": INVALID if wrong else 0}

    tally = each_file(files, find)
    tally.show_by_file(found, several)
    tally.leave()


def _values(program: Project, path: str, *, own: bool) -> tuple[dict[str, Any], list[FocusError]]:
    """The values at a path, by the path of each, and the parts of the wrong type."""
    values, wrong = {}, []
    for place in places_in(program, path, own=own):
        try:
            value = place.get(program.patterns)
        except FocusError as error:
            wrong.append(error)
        else:
            if value is not None:
                values[place.path] = written(value)
    return values, wrong


def written(value: Any) -> Any:
    """A value as it is in the notation: models are texts."""
    if isinstance(value, tuple) and any(isinstance(each, lenses_ext.Model) for each in value):
        texts = [str(each) for each in value]
        return texts[0] if len(texts) == 1 else gram.freeze(texts)
    return str(value) if isinstance(value, lenses_ext.Model) else value


def _text_of(value: Any) -> str:
    """The text of a value: a plain string, a schema in JSON, or gram notation."""
    if isinstance(value, str):
        return value
    if isinstance(value, Pattern):
        return _as_element(value)
    if isinstance(value, tuple):
        return "\n".join(map(_as_element, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return gram.write_value(value)


def _as_element(pattern: Pattern) -> str:
    """The text of a pattern; an arrow as it is written in a workflow, where nodes have ``::``."""
    if not gram.is_edge(pattern) and pattern.value != WALK_SUBJECT:
        return lenses_ext.write_program(pattern)
    around = lenses_ext.write_program(Pattern(gram.Subject("", {WORKFLOW}), (pattern,)))
    return around.removeprefix(f"[:{WORKFLOW} | ").removesuffix("]")


def value_as_json(value: Any) -> Json:
    """A value as JSON, which `gram set --from` reads."""
    if isinstance(value, Pattern | tuple):
        return to_json(value)
    if isinstance(value, dict):
        return value
    return value_to_json(value)


class _SetOptions(EditOptions):
    where: str | None = option(
        "Only where this holds, as in 'model = \"OpenAI/x\" and temperature != 0'.", "CONDITION"
    )
    source: str | None = option(
        "Take paths and values from the output of gram get --json.", "FILE|-", name="--from"
    )


@command("set")
def set_command(
    options: _SetOptions, arguments: tuple[str, ...] = path_argument("PATH VALUE")
) -> None:
    """Set the value at PATH in FILES to VALUE, and print the new text.

    The files come first or last: gram set a.gram PATH VALUE, or gram set PATH VALUE agents/. They
    are files, folders and globs. What the file imports is set in the file that defines it.

    A string is taken literally, any other value is read in gram notation. @FILE takes the value
    from a file, - from standard input. The change is refused if the program would become invalid.
    A path with * sets all matching values of a file, or none of them if one change is refused.

    --where takes the places beside which a condition holds: PATH = VALUE and PATH != VALUE, joined
    by and and or, whose paths begin where the value is.

    gram get --json '*.model' agents/ | gram set -i --from - agents/ sets what was changed between
    the two.
    """
    if options.source is not None:
        _set_from(options.source, arguments, options)
        return
    (path, value), files = words_and_files(arguments, "PATH VALUE")
    new, where = read_word_beside(value, files), options.where
    try:
        condition = paths.read_condition(where) if where is not None else None
    except PathError as error:
        raise click.UsageError(f"--where: {error}") from None

    def edit(program: Project, own: bool) -> tuple[Pattern, ...]:
        try:
            places = places_in(program, path, own=own)
        except Nowhere as nowhere:
            raise Nowhere(f"{nowhere}{_hint_at_add(program, path)}") from None
        if condition is not None:
            places = tuple(each for each in places if paths.holds(condition, program, each))
            if not places:
                raise Nowhere(f"{program.filename}: at no `{path}` does {where} hold")
        changes = [(place, partial(paths.read_value, new)) for place in places]
        return change_places(program.patterns, changes)

    deliver(files, edit, options)


def _set_from(source: str, files: Sequence[str], options: EditOptions) -> None:
    """Set the values of the paths in JSON; of several files, an object for each of them."""
    said = read_word_beside(source if source == STDIN else f"@{source}", files)
    try:
        data = read_json(said)
    except ValueError as error:
        raise ValidationError(f"--from: not JSON: {error}") from None
    several = are_many(files)
    by_file = [data]
    if several and isinstance(data, dict):  # null is nothing for a file
        by_file = [each for each in data.values() if each is not None]
    if not all(isinstance(each, dict) for each in by_file):
        hint = "an object from path to value, of several files one for each file"
        raise ValidationError(f"--from: expected what gram get --json prints: {hint}")

    def edit(program: Project, own: bool) -> tuple[Pattern, ...]:
        values = data.get(program.filename) if several else data
        if values is None:
            raise Nowhere(f"{program.filename}: the JSON has nothing for this file")
        changes = [
            (place, partial(_of_json, value))
            for path, value in values.items()
            for place in places_in(program, path, own=own)
            if value_as_json(written(place.get(program.patterns))) != value
        ]
        return change_places(program.patterns, changes)

    deliver(files, edit, options)


def _of_json(value: Json, old: object) -> Any:
    if isinstance(old, Pattern) or (isinstance(old, tuple) and isinstance(value, list)):
        with suppress(GramDecodeError):
            return from_json(value)
    subject = {"identity": "", "labels": [], "properties": {"value": value}}
    return from_json({"subject": subject, "elements": []}).value.properties["value"]


def _hint_at_add(program: Project, path: str) -> str:
    """A hint if `gram add` could add what is not there to a map, such as the settings."""
    with suppress(PathError):
        *above, last = read_path(path)
        place = lenses_ext.find_places(program, write_path(above))[0]
        if place.kind is paths.Kind.PROPERTY:
            paths.new_property(program, place, last)
            return "\n  hint: gram add adds it"
    return ""


_PATTERN = re.compile(r"\s*(\(.*[)\]]|\[.*[:|].*\])\s*", re.DOTALL)
"""A text that looks like a pattern; ``[1, 2]`` does not, since it is an array."""


class _AddOptions(EditOptions, ToolOptions):
    tools: tuple[str, ...] = option("Add tools of a Python file, by their names.", "FILE.py[:NAME]")


@command("add")
def add_command(
    options: _AddOptions, arguments: tuple[str, ...] = path_argument("PATH VALUE")
) -> None:
    """Add VALUE to FILES at PATH: a tool to an agent's tools, a node or an arrow to a workflow,
    or a new property.

    The files come first or last; they are files, folders and globs. A tool is written in gram
    notation: gram add FILE greeter.tools '[wave:ToolSpecification …]', or by its name when the
    file defines it: gram add FILE greeter.tools wave. @FILE takes the value from a file, - from
    standard input. An arrow is written (a)-->(b): gram add FILE news.arrows '(a)-->(b)'. The path
    . adds a pattern at the end of the file. A path with * adds to all its places in a file, or to
    none.

    With --tools, --mcp or --openapi, tools of a library are added by their names:
    gram add FILE greeter.tools --mcp 'uvx some-server' NAME…
    """
    if options.named_tools:
        _add_tools(arguments, options)
        return
    (path, value), files = words_and_files(arguments, "PATH VALUE")
    value = read_word_beside(value, files)

    def edit(program: Project, own: bool) -> Sequence[Pattern]:
        patterns = program.patterns
        if path == ".":
            end = len(program.document.patterns)
            return (*patterns[:end], read_pattern(value), *patterns[end:])
        *above, last = read_path(path)
        why = "PATH must name a place and the property to add to it, as in agent.description"
        forbid(not above or last == ANY, why)
        where = path if _is_list(program, path) else write_path(above)
        places = places_in(program, where, own=own)
        return change_places(patterns, [_added(program, place, last, value) for place in places])

    deliver(files, edit, options)


def _add_tools(arguments: Sequence[str], options: _AddOptions) -> None:
    from .tools import specs_of  # imported late: most edits add no such tools

    library = options.library()
    file, path, *names = (*arguments, "", "")
    why = "with --tools, --mcp or --openapi, write FILE AGENT.tools NAME…"
    forbid(not (path.endswith(".tools") and names[0]), why)
    new = specs_of(library, dict.fromkeys(filter(None, names)))

    def edit(program: Project, own: bool) -> Sequence[Pattern]:
        changes = [_with_elements(each, new) for each in places_in(program, path, own=own)]
        return change_places(program.patterns, changes)

    deliver([file], edit, options)


def _with_elements(
    place: Place, new: Sequence[Pattern]
) -> tuple[Place, Callable[[Pattern], Pattern]]:
    """A change that puts elements at the end of a pattern, whose elements the place holds."""
    holder = attrs.evolve(place, lens=None, inside=())
    return holder, lambda old: attrs.evolve(old, elements=(*old.elements, *new))


def _read_element(text: str) -> Pattern:
    """Read a pattern, or the bare name of one that is defined elsewhere."""
    try:
        (around,) = gram.loads(f"[ | {text}\n]")
        (element,) = around.elements
    except (GramDecodeError, ValueError):
        return read_pattern(text)
    return element


def _is_list(program: Project, path: str) -> bool:
    """Whether a path leads to lists of elements, such as the tools of agents."""
    try:
        return all(place.kind.holds_elements for place in lenses_ext.find_places(program, path))
    except PathError:
        return path.endswith(".tools")  # its own message says what is wrong


def _added(
    program: Project, place: Place, last: str, value: str
) -> tuple[Place, Callable[[Any], Any]]:
    """The place to change, and the function that makes its new value."""
    if place.kind.holds_elements:
        return _with_elements(place, [_read_element(value)])
    try:
        property_ = paths.new_property(program, place, last)
    except PathError as error:
        raise click.UsageError(str(error)) from None
    read = paths.read_value(value, None)
    forbid(
        read == value and _PATTERN.fullmatch(value),
        f"{property_.path} would be a text that looks like a pattern. Add a tool to …tools, or a "
        "parameter with gram set FILE ….signature. If you mean the text, write it in quotes: "
        "'\"(a text)\"'",
    )
    return property_, lambda _: read


@command("del")
def del_command(options: EditOptions, arguments: tuple[str, ...] = path_argument("PATH")) -> None:
    """Remove the value at PATH in FILES: a tool, an agent, or an optional property.

    The files come first or last; they are files, folders and globs. A path with * removes all
    matching values of a file, or none of them if one is required.
    """

    (path,), files = words_and_files(arguments, "PATH")

    def edit(program: Project, own: bool) -> tuple[Pattern, ...]:
        return lenses_ext.remove_places(program.patterns, places_in(program, path, own=own))

    deliver(files, edit, options)


_as_written_option: Any = option("Follow no reference, and read Tool as Tool alone.")


@command("query")
def query_command(
    pattern: str,
    files: tuple[str, ...],
    as_written: bool = _as_written_option,
    count: bool = option("Print how often it is found in each file."),
    only_files: bool = option("Print the names of the files alone.", name="--files"),
    as_json: bool = json_option,
) -> None:
    """Find where PATTERN matches in FILES, and print each place with what the holes match.

    PATTERN is gram with holes: a name, a label, a key or a symbol value that begins with _, as in
    '[_agent:Agent {model: _m} | [:Tool {description: _d}]]'. _ alone is anything, __x means _x, the
    same hole twice is the same, and what is left out does not matter. @FILE reads it from a file.

    FILES are files, folders and globs; - is standard input. A file that is not gram is told, and
    the others are searched. Exits with 1 if nothing is found.
    """
    forbid(count and only_files, "--count and --files print different things: choose one")
    wanted = read_pattern(read_word_beside(pattern, files), "PATTERN")
    rows: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()

    def find(file: str) -> None:
        program = read_program(file)
        for match in lenses_ext.query(wanted, program, as_written=as_written, own=True):
            counts[file] += 1
            if only_files:
                break
            pattern = match.place.pattern(program.patterns)
            place = gram.origin(pattern)
            assert place is not None, "it was read"
            if as_json:
                bindings = {name: value_as_json(bound) for name, bound in match.bindings.items()}
                row = {"file": file, "line": place.lineno, "column": place.colno}
                rows.append({**row, "bindings": bindings})
            elif not count:
                told = (f"{name}: {_shown(bound)}" for name, bound in match.bindings.items())
                found = ", ".join(told) or _shown(pattern)
                show([(f"{file}:{place.lineno}:{place.colno}:", "place"), (f" {found}", "")])

    tally = each_file(files, find)
    if as_json:
        show_json([*counts] if only_files else counts if count else rows)
    elif only_files:
        show("".join(f"{file}\n" for file in counts), nl=False)
    elif count:
        several = are_many(files)
        for row in tally.rows:
            if "error" not in row:
                show(f"{row['file']}: " * several + str(counts[row["file"]]))
    if not counts:
        tally.code = max(tally.code, NO)
    tally.leave()


def _shown(bound: Bound) -> str:
    if not isinstance(bound, Pattern):
        return gram.write_value(bound, fences=False)
    return describe(bound) if bound.value.identity or bound.value.labels else abridged(bound)


@command("rewrite")
def rewrite_command(
    options: ShowOptions,
    arguments: tuple[str, ...] = path_argument("PATTERN NEW"),
    as_written: bool = _as_written_option,
) -> None:
    """Put NEW wherever PATTERN matches in FILES, and show what would change; -i writes.

    Both are gram with holes, see gram query: in NEW they take what they match in PATTERN. What
    PATTERN names and NEW does not is removed, what neither names stays:

    gram rewrite '[_a:Agent {model: "OpenAI/x", topP: _}]' '[_a:Agent {model: "OpenAI/y"}]' agents

    A part of NEW is that of the same name or hole in PATTERN, else the one in its place. A tool
    that an agent refers to is changed where it is defined. The change is refused if the program
    would become invalid. @FILE reads a pattern from a file.
    """
    (pattern, new), files = words_and_files(arguments, "PATTERN NEW")
    old = read_pattern(read_word_beside(pattern, files), "PATTERN")
    wanted = read_pattern(read_word_beside(new, files), "NEW")

    if unbound := sorted(holes_in(wanted) - holes_in(old)):
        raise click.UsageError(f"NEW has {', '.join(unbound)}, and PATTERN does not")

    def edit(program: Project, _: bool) -> tuple[Pattern, ...]:
        try:
            after = lenses_ext.rewrite(old, wanted, program, as_written=as_written, own=True)
        except QueryError as error:
            raise Refused(f"refused: {error}") from None
        changed = after.patterns
        if changed == program.patterns:
            found = lenses_ext.query(old, program, as_written=as_written, own=True)
            why = "what is found is so already" if any(found) else "the pattern is not found"
            raise Nowhere(f"{program.filename}: nothing to change: {why}")
        return changed

    deliver(files, edit, options)
