"""What is doubtful in a program: in what it uses, in its settings, and in its words.

The rows of the table are run as those of `PROGRAM_CHECKS` are; but a program with such a finding is
valid, and may be meant so. How much a code matters is said by a project, by the header of a file,
as in ``{lint: {unused-tool: "off"}}``, and by an agent, workflow or tool for itself and all in it.
The nearest counts. What is an error stays one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, Literal, TypeAlias, get_args

from attrs import evolve
from pyrsistent import PMap, PVector, pmap

from gram import Check, Diagnostic, Edit, Pattern, Span, Symbol, TreePath, Value, pattern_at, walk
from gram.checks import Reading
from gram.trees import exact, is_header
from gram.words import did_you_mean, nearest

from ..labels import is_runnable, is_tool, kind_of
from ..language import wire_name, written_signature
from ..names import FILE, Definition, Program, reached, uses
from ..schemas import NotJson, canonical, kinds_of
from ..signatures import SignatureError, result_schema, type_signature_to_json_schema
from ..workflows import grouped
from .flows import Types, field_of, fields_of, lethal_trifecta
from .rules import called, judged


def unused_tool(reading: Reading) -> Iterator[Diagnostic]:
    """A tool that no agent or workflow uses, in a file that has some, or that others import."""
    for each in reading.once(_Uses).unused:
        if is_tool(each.pattern):
            message = f'no agent or workflow uses the tool "{each.name}"'
            hint = "refer to it, remove it, or lint it together with the files that import it"
            yield Diagnostic.found(message, each.path, "identity", hint=hint)


def unused_definition(reading: Reading) -> Iterator[Diagnostic]:
    """A type that no signature names, or an agent of a group that nothing hands over to."""
    program = reading.once(Program.of)
    for each in reading.once(_Uses).unused:
        kind = kind_of(each.pattern) if is_runnable(each.pattern) else "type"
        if not is_tool(each.pattern) and not (kind != "type" and program.is_top(each.scope)):
            message = f'nothing uses the {kind} "{each.name}"'
            yield Diagnostic.found(message, each.path, "identity", hint="remove it")


def lone_agent(reading: Reading) -> Iterator[Diagnostic]:
    """An agent that nothing refers to, beside others that work together."""
    program, found = reading.once(Program.of), reading.once(_Uses)
    working = {program.files.scope_of(path) for path in found.leading}
    for each in found.unused:
        is_alone = each.path in program.runnables and each.path not in found.leading
        if is_alone and program.is_top(each.scope) and each.scope in working:
            message = f'nothing refers to the agent "{each.name}": it runs only by its name'
            yield Diagnostic.found(message, each.path, "identity")


class _Uses:
    """What is used of a program, and what is not.

    Attributes:
        unused: the definitions that nothing uses, but for those of files of definitions alone that
            no other imports.
        leading: the paths of what refers to an agent or workflow.
    """

    def __init__(self, reading: Reading) -> None:
        program = reading.once(Program.of)
        files = program.files
        used: set[TreePath] = set()
        self.leading: set[TreePath] = set()
        for path, _, meant in uses(program):
            if path[: len(meant.path)] != meant.path:
                used.add(meant.path)
                if is_runnable(meant.pattern):
                    self.leading |= {path[:length] for length in range(1, len(path))}
        imported = {each.scope for some in files.imports.values() for each in some}
        whole = {files.scope_of(path) for path in program.runnables} | imported
        scopes = (each for each in program.scopes if files.scope_of(each) in whole)
        defined = (it for scope in scopes for same in program.definitions_in(scope) for it in same)
        self.unused = [it for it in defined if it.path not in used and not _is_offered(program, it)]


def _is_offered(program: Program, each: Definition) -> bool:
    """Whether a definition is an element of an agent or workflow, which thereby has it."""
    is_element = len(each.path) == len(each.scope) + 1 and not program.is_top(each.scope)
    return is_element and each.path in program.named


def near_duplicate(reading: Reading) -> Iterator[Diagnostic]:
    """A tool or agent that does what another does, but for its name or its words."""
    program = reading.once(Program.of)
    first: dict[Hashable, Definition] = {}
    hint = "write it once, and refer to it by its name; gram share does so from file to file"
    for each in (*judged(reading, "tools"), *judged(reading, "agents")):
        found = [first.setdefault(key, each) for key in _keys(program, each)]
        for other in [it for it in found if it is not each][:1]:
            where = f'"{other.name}" at {reading.cited(other.path)}'
            is_reworded = other.name == each.name and other.pattern != each.pattern
            message = f"{called(each.pattern)} repeats {where}{', in other words' * is_reworded}"
            yield Diagnostic.found(message, each.path, "identity", hint=hint)


def _keys(program: Program, each: Definition) -> Iterator[Hashable]:
    """What tools or agents have in common that do the same."""
    key = "description" if is_tool(each.pattern) else "instruction"
    text = str(each.pattern.value.properties.get(key, "")).lower()
    words = tuple(word.rstrip(".,;:!?") or word for word in text.split())  # C++ is not C#
    if not is_tool(each.pattern):
        yield words or each.path, tuple(meant.name for _, meant in program.inside(each))
        return
    with suppress(SignatureError, NotJson):  # reported already
        tool = program.completed(each)[0]
        schemas = type_signature_to_json_schema(tool), result_schema(tool)
        types = exact([canonical(it or {}, match="types") for it in schemas])
        yield "words", words or each.path, types
        yield "name", each.name, types


def namesake_differs(reading: Reading) -> Iterator[Diagnostic]:
    """A definition that differs from the one of its name in another file."""
    program = reading.once(Program.of)
    types = (("type", each) for each in program.tops if each.path not in program.named)
    named = ((kind_of(each.pattern), each) for each in program.named.values())
    by_name = grouped(((kind, each.name), each) for kind, each in (*named, *types))
    for (kind, name), same in by_name.items():
        usual, _ = Counter(each.pattern for each in same).most_common(1)[0]
        first = next(each for each in same if each.pattern == usual)
        file = program.files.scope_of(first.path)
        for each in same:
            if each.pattern != usual and program.files.scope_of(each.path) != file:
                message = f'the {kind} "{name}" differs from the one at {reading.cited(first.path)}'
                hint = "import one definition, or take another name"
                yield Diagnostic.found(message, each.path, "identity", hint=hint)


def parameter_types(reading: Reading) -> Iterator[Diagnostic]:
    """A name that parameters of different types have."""
    types = reading.once(Types)
    first: dict[str, dict[frozenset[str], Definition]] = {}
    for each in judged(reading, "named"):
        if not is_tool(each.pattern) and written_signature(each.pattern) is None:
            continue
        schema = types.parameters(each)
        for name in fields_of(schema):
            found = kinds_of(field_of(schema, name))
            kinds = found - {"integer"} | ({"number"} if "integer" in found else set())
            known = first.setdefault(name, {})
            if known and kinds - {"null"} and all(kinds.isdisjoint(other) for other in known):
                other, holder = next(iter(known.items()))
                where = f"{called(holder.pattern)} at {reading.cited(holder.path)}"
                either, there = (" or ".join(sorted(some)) for some in (kinds, other))
                message = f'"{name}" is {either} here, and {there} in {where}'
                places = (at for at, it in walk(each.pattern.elements) if it.value.identity == name)
                yield Diagnostic.found(message, (*each.path, *next(places, ())), "identity")
            known.setdefault(kinds, each)


def contradictory_settings(reading: Reading) -> Iterator[Diagnostic]:
    """A setting that another one, or the lack of tools, leaves without effect or contradicts."""
    program = reading.once(Program.of)
    for agent in judged(reading, "agents"):
        settings = agent.pattern.value.properties.get("settings")
        if isinstance(settings, PMap):
            tools = [each.name for _, each in program.callable_by(agent)]
            for key, why in _contradictions(settings, tools):
                message = f"{key} of {called(agent.pattern)} {why}"
                yield Diagnostic.found(message, agent.path, "settings", keys=(key,))


def _contradictions(settings: PMap[str, Value], tools: list[str]) -> Iterator[tuple[str, str]]:
    """The settings that are in vain, each with why."""
    get: Any = settings.get
    choice, most, window = get("toolChoice", "auto"), get("maxTokens"), get("contextWindow")
    is_full = isinstance(most, int) and isinstance(window, int) and most >= window
    is_missed = bool(tools) and choice not in ("auto", "none", "required", *tools)
    is_silent, is_long = get("reasoningEffort") == "none", "compactAt" not in settings
    rows: tuple[tuple[str, object, str], ...] = (
        ("toolChoice", choice == "none" and tools, "is none, so that none of its tools is called"),
        ("toolChoice", choice not in ("auto", "none") and not tools, "is in vain without tools"),
        ("toolChoice", is_missed, f"is {choice}, and its tools are {', '.join(tools)}"),
        ("reasoningSummary", is_silent, "is in vain: reasoningEffort is none"),
        ("topP", get("temperature") == 0, "is in vain: temperature is 0"),
        ("maxTokens", is_full, "is all of the contextWindow: nothing is left for what it is told"),
        ("compactBy", is_long, "is in vain without compactAt"),
        ("contextWindow", is_long, "is in vain without compactAt"),
    )
    yield from ((key, why) for key, holds, why in rows if key in settings and holds)
    extra, known = get("extraBody"), {name.lower(): name for name in settings}
    for key in sorted(extra) if isinstance(extra, PMap) else ():
        if same := known.get(key.replace("_", "").lower()):
            yield "extraBody", f"has {key}, which is sent instead of {same}: keep one of them"


_BLOCK: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED: Final = re.compile(rf"{_BLOCK.pattern}|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”", re.DOTALL)
"""What is an example for a model, or code: it is meant as it is."""
_NAMED: Final = re.compile(r"`([A-Za-z_][\w.-]*)(?:\([^`\n]*\))?`", re.ASCII)
_TOOL_BEFORE: Final = re.compile(r"\b(?:call(?:s|ing)?|invok(?:e|es|ing)|tools?) (?:the )?$", re.I)
_TOOL_AFTER: Final = re.compile(r" tools?\b", re.I)
_NO_TOOL_AFTER: Final = re.compile(r" (?:function|method|command|hook|endpoint|api|macro)\b", re.I)
_UNFINISHED: Final = re.compile(
    r"\{\{\s*[A-Za-z_][\w. ]*\}\}|(?<![\w/\\{}^])\$?\{[A-Za-z_]\w*\}(?!\})"
    r"|(?<![\w'])(?:TODO|FIXME|TBD)(?=[:(])"
    r"|(?:^|(?<=[.!?] ))(?:TODO|FIXME|TBD)(?=\.?\s*$|\s+(?!list|item|app|task|comment|entr|file"
    r"|board|note|manage)[a-z])",
    re.MULTILINE,
)
"""What is still to be filled in or written; a TODO list is not meant, nor a path ``/{id}``."""
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\dA-Za-z_]+|\d+")
_PLURAL: Final = re.compile(r"(?<=[cs]h)es$|(?<!s)s$")
_FILLERS: Final = frozenset(
    _WORD.findall(
        "a an the this that it its is are of for to and in on with by from which what who used use"
        " uses using your my our some any do does thing stuff tool agent function workflow helper"
        " assistant description something"
    )
)


def tool_in_instruction(reading: Reading) -> Iterator[Diagnostic]:
    """An instruction that names, in backticks, a tool that its agent does not have."""
    words, files = reading.once(_Words), reading.once(Program.of).files
    for agent in judged(reading, "agents"):
        text = agent.pattern.value.properties.get("instruction")
        if not isinstance(text, str) or "`" not in text or not files.are_read(agent.path):
            continue
        named = {it[1]: it for it in reversed([*_NAMED.finditer(_without(_BLOCK, text))])}
        unknown = named.keys() - words.of_steps - words.of(agent) if named else ()
        for name in sorted(unknown, key=lambda each: named[each].start()):
            if (found := _lacking(reading, agent, name, text, named[name])) is not None:
                yield found


def _lacking(
    reading: Reading, agent: Definition, name: str, text: str, where: re.Match[str]
) -> Diagnostic | None:
    """What is wrong with a name in an instruction; None where it may name something else."""
    program, path = reading.once(Program.of), agent.path
    tools = [each.name for _, each in program.inside(agent) if each.name]
    near = nearest(name, tools, cutoff=0.7)
    places = _spans_of(reading, path, "instruction", rf"(?<=`){re.escape(name)}(?![\w.-])")
    fix: tuple[Edit, ...] = ()
    others = reading.once(_Words).tools.get(name, [])
    in_file = program.files.scope_of
    seen = [each for each in program.meant(name, path) if is_tool(each.pattern)]
    seen += [each for each in others if in_file(each.path) == in_file(path)]
    start, end = where.span()
    is_after = _TOOL_BEFORE.search(text, max(0, start - 20), start)
    is_called = _TOOL_AFTER.match(text, end) or (is_after and not _NO_TOOL_AFTER.match(text, end))
    if seen and program.is_top(seen[0].scope):
        hint = f"add it to the elements of {called(agent.pattern)}: {name}"
    elif seen or (others and is_called):
        at = reading.cited((seen or others)[0].path)
        hint = f"it is at {at}: move it to the top of this file, or of one that is imported"
    elif near:
        hint = f"did you mean {near[0]}?"
        fix = tuple(Edit(each, near[0]) for each in places)
    elif is_called:
        hint = f"it has {', '.join(tools) or 'no tools'}"
    else:
        return None
    message = f"the instruction of {called(agent.pattern)} names the tool {name}, which it lacks"
    span = next(iter(places), None)
    return Diagnostic.found(message, path, "instruction", span=span, hint=hint, fix=fix)


class _Words:
    """What words in backticks may mean.

    Attributes:
        tools: the tools of the program by name.
        of_steps: the names of the nodes of its workflows.
    """

    def __init__(self, reading: Reading) -> None:
        self._program = reading.once(Program.of)
        self._known: dict[TreePath, frozenset[str]] = {}
        self.tools = grouped((each.name, each) for each in self._program.tools.values())
        workflows = self._program.workflows.values()
        self.of_steps = {name for each in workflows for _, name in each.names_used}

    def of(self, agent: Definition) -> set[str]:
        """The names, labels, keys and values of an agent and of all that it reaches."""
        return {word for path in reached(self._program, agent) for word in self._in(path)}

    def _in(self, path: TreePath) -> frozenset[str]:
        if path not in self._known:
            found: set[str] = set()
            for _, each in walk(pattern_at(self._program.patterns, path)):
                name, properties = each.value.identity, each.value.properties
                found |= {name, wire_name(name), *each.value.labels, *properties}
                for value in properties.values():
                    values = value if isinstance(value, PVector) else (value,)
                    found |= {each for each in values if isinstance(each, str)}
            self._known[path] = frozenset(found)
        return self._known[path]


def unfinished_text(reading: Reading) -> Iterator[Diagnostic]:
    """A text for a model with a part that is still to be written: ``{name}`` or TODO."""
    for each in judged(reading, "named"):
        for key in ("instruction", "description"):
            text = each.pattern.value.properties.get(key)
            if not isinstance(text, str):
                continue
            for what in dict.fromkeys(_UNFINISHED.findall(_without(_QUOTED, text))):
                message = f"the {key} of {called(each.pattern)} still has {what} in it"
                hint = "a model gets the text as it is; in quotes or backticks it is taken as meant"
                span = next(iter(_spans_of(reading, each.path, key, re.escape(what))), None)
                yield Diagnostic.found(message, each.path, key, span=span, hint=hint)


def vague_description(reading: Reading) -> Iterator[Diagnostic]:
    """A description of a tool, agent, workflow or parameter that says no more than its name."""
    for holder in judged(reading, "named"):
        below = walk(holder.pattern) if is_tool(holder.pattern) else [((), holder.pattern)]
        for path, each in below:
            name, text = each.value.identity, each.value.properties.get("description")
            if name and isinstance(text, str) and text.strip() and not _says_more(text, name):
                message = f'the description of "{name}" says no more than its name'
                hint = "say what it does, with what, and when to use it" if not path else None
                yield Diagnostic.found(message, (*holder.path, *path), "description", hint=hint)


def _says_more(text: str, name: str) -> bool:
    """Whether a text has a word that is neither in a name nor in every description.

    >>> _says_more("The search tool.", "search"), _says_more("Says hello", "sayHello")
    (False, False)
    >>> _says_more("Searches the archive", "search"), _says_more("検索", "search")
    (True, True)
    """
    return not _stems(text) <= _stems(name) | _FILLERS


def _stems(text: str) -> set[str]:
    words = map(str.lower, _WORD.findall(text))
    return {word if word in _FILLERS else _PLURAL.sub("", word) for word in words}


def _without(part: re.Pattern[str], text: str) -> str:
    """A text with blanks for some parts of it."""
    return part.sub(lambda it: " " * len(it[0]), text)


def _spans_of(reading: Reading, path: TreePath, key: str, wanted: str) -> list[Span]:
    """Where an expression is found in the text of a property, as it is written in the source."""
    place = reading.place(path, key)
    if place is None:
        return []
    source, span = place
    found = re.finditer(wanted, source.text[span.start : span.end])
    return [Span(span.start + it.start(), span.start + it.end()) for it in found]


# --- the table, and how much each finding matters at its place

Level: TypeAlias = Literal["error", "warning", "info", "off"]
"""How much a finding matters."""
_LEVELS: Final[tuple[Level, ...]] = get_args(Level)

NAMESAKES: Final = Check("namesake-differs", "info", namesake_differs)
"""What ``gram check`` tells of several files together."""

LINT_CHECKS: Final = (
    Check("lethal-trifecta", "warning", lethal_trifecta),
    Check("tool-in-instruction", "warning", tool_in_instruction),
    Check("unfinished-text", "warning", unfinished_text),
    Check("vague-description", "info", vague_description),
    Check("unused-tool", "warning", unused_tool),
    Check("unused-definition", "warning", unused_definition),
    Check("lone-agent", "info", lone_agent),
    Check("near-duplicate", "warning", near_duplicate),
    Check("parameter-types", "info", parameter_types),
    Check("contradictory-settings", "warning", contradictory_settings),
)
"""All that is doubtful in a file with agents."""

_OF_SIGNATURES: Final = frozenset(
    ("no-name", "unused-type", "no-value", "no-effect", "unknown-key", "pattern")
)
"""The codes of signatures that are no errors."""


def level_check(rows: Iterable[Check]) -> Check:
    """The row that finds a property ``lint`` with a code or level that there is not.

    Args:
        rows: all rows whose codes there are.
    """
    rows = tuple(rows)

    def lint_level(reading: Reading) -> Iterator[Diagnostic]:
        """A property ``lint`` with a code or a level that there is not."""
        holders = [(each.path, each.pattern) for each in judged(reading, "named")]
        for at, header in _headers(reading.patterns).items():
            holders.append(((0,) if at is None else (at, 0), header))
        for path, pattern in holders:
            levels = pattern.value.properties.get("lint", pmap())
            if not isinstance(levels, PMap):
                message = 'lint is a map of codes and levels, {unused-tool: "off"}'
                yield Diagnostic.found(message, path, "lint")
                continue
            for code, problem in level_problems(levels, rows):
                yield Diagnostic.found(problem, path, "lint", keys=(code,))

    return Check("lint-level", "warning", lint_level)


def level_problems(
    levels: Mapping[str, object], rows: Iterable[Check]
) -> Iterator[tuple[str, str]]:
    """What is wrong with levels by code: the code, and the problem in words.

    Args:
        levels: how much codes matter.
        rows: all rows.
    """
    severities = {row.code: row.severity for row in rows}
    known = {code for code, severity in severities.items() if severity != "error"} | _OF_SIGNATURES
    for code, level in sorted(levels.items()):
        if code not in known and code in severities:
            yield code, f"{code} is an error, and stays one"
        elif code not in known:
            hint = did_you_mean(code, known) or "the page of faults lists them"
            yield code, f"there is no code {code} of a warning; {hint}"
        elif _level(level) is None:
            yield code, f"the level of {code} is one of {', '.join(_LEVELS)}"


def with_levels(
    faults: Iterable[Diagnostic], patterns: tuple[Pattern, ...], levels: Mapping[str, Level]
) -> Iterator[Diagnostic]:
    """Faults with the severity that their code has at their place, without those that are off.

    Args:
        faults: what was found in some patterns.
        patterns: the patterns.
        levels: how much codes matter in the project.
    """
    headers = _headers(patterns)
    for fault in faults:
        level: Level = levels.get(fault.code, fault.severity)
        steps = fault.tree_path
        way = [pattern_at(patterns, steps[: at + 1]) for at in range(len(steps))]
        header = headers.get(steps[0] if way and way[0].value == FILE else None)
        for pattern in (header, *way) if header else way:
            said = pattern.value.properties.get("lint")
            level = (_level(said.get(fault.code)) if isinstance(said, PMap) else None) or level
        if fault.severity == "error":
            yield fault
        elif level != "off":
            yield evolve(fault, severity=level)


def _headers(patterns: tuple[Pattern, ...]) -> dict[int | None, Pattern]:
    """The headers of files: that of the first under None, that of a further one under its place."""
    files = [(at, each.elements) for at, each in enumerate(patterns) if each.value == FILE]
    firsts = ((at, each) for at, some in ((None, patterns), *files) for each in some[:1])
    return {at: each for at, each in firsts if is_header(each)}


def _level(value: object) -> Level | None:
    """The level that a value says; None if it says none."""
    text = value.value if isinstance(value, Symbol) else value
    return next((level for level in _LEVELS if level == text), None)
