"""What is doubtful in the words of a program: its instructions and descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gram import Diagnostic, Edit, Span, TreePath, pattern_at, walk
from gram.checks import Reading
from gram.words import nearest

from ..labels import is_tool
from ..language import wire_name
from ..names import Definition, Program, reached
from .rules import called, judged

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
    places = _places(reading, path, "instruction", rf"(?<=`){re.escape(name)}(?![\w.-])")
    fix: tuple[Edit, ...] = ()
    others = reading.once(_Words).tools.get(name, [])
    in_file = program.files.scope_of
    seen = [each for each in program.meant(name, path) if is_tool(each.pattern)]
    seen += [each for each in others if in_file(each.path) == in_file(path)]
    start, end = where.span()
    is_called = bool(_TOOL_AFTER.match(text, end)) or (
        bool(_TOOL_BEFORE.search(text, max(0, start - 20), start))
        and not _NO_TOOL_AFTER.match(text, end)
    )
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
        self.tools: dict[str, list[Definition]] = {}
        for each in self._program.tools.values():
            self.tools.setdefault(each.name, []).append(each)
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
                    values = [value] if isinstance(value, str) else value
                    if isinstance(values, Sequence):
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
                span = next(iter(_places(reading, each.path, key, re.escape(what))), None)
                yield Diagnostic.found(message, each.path, key, span=span, hint=hint)


def vague_description(reading: Reading) -> Iterator[Diagnostic]:
    """A description of a tool, agent, workflow or parameter that says no more than its name."""
    for holder in judged(reading, "named"):
        for path, each in (
            walk(holder.pattern) if is_tool(holder.pattern) else [((), holder.pattern)]
        ):
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
    return {
        word if word in _FILLERS else _PLURAL.sub("", word)
        for word in map(str.lower, _WORD.findall(text))
    }


def _without(part: re.Pattern[str], text: str) -> str:
    """A text with blanks for some parts of it."""
    return part.sub(lambda it: " " * len(it[0]), text)


def _places(reading: Reading, path: TreePath, key: str, wanted: str) -> list[Span]:
    """Where an expression is found in the text of a property, as it is written in the source."""
    place = reading.place(path, key)
    if place is None:
        return []
    source, span = place
    found = re.finditer(wanted, source.text[span.start : span.end])
    return [Span(span.start + it.start(), span.start + it.end()) for it in found]
