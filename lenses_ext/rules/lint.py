"""The table of what is doubtful in a program, and how much each finding matters at its place.

The rows are run as those of `PROGRAM_CHECKS` are; but a program with such a finding is valid, and
may be meant so. How much a code matters is said by a project, by the header of a file, as in
``{lint: {unused-tool: "off"}}``, and by an agent, workflow or tool for itself and all in it. The
nearest counts. What is an error stays one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias, get_args

from attrs import evolve
from pyrsistent import PMap, pmap

from gram import Check, Diagnostic, Pattern, Symbol, pattern_at
from gram.checks import Reading
from gram.trees import is_header
from gram.words import did_you_mean

from ..names import FILE
from . import leak_rules, lint_rules
from .rules import judged

Level: TypeAlias = Literal["error", "warning", "info", "off"]
"""How much a finding matters."""
_LEVELS: Final[tuple[Level, ...]] = get_args(Level)

NAMESAKES: Final = Check("namesake-differs", "info", lint_rules.namesake_differs)
"""What ``gram check`` tells of several files together."""

LINT_CHECKS: Final = (
    Check("lethal-trifecta", "warning", leak_rules.lethal_trifecta),
    Check("tool-in-instruction", "warning", lint_rules.tool_in_instruction),
    Check("unfinished-text", "warning", lint_rules.unfinished_text),
    Check("vague-description", "info", lint_rules.vague_description),
    Check("unused-tool", "warning", lint_rules.unused_tool),
    Check("unused-definition", "warning", lint_rules.unused_definition),
    Check("lone-agent", "info", lint_rules.lone_agent),
    Check("near-duplicate", "warning", lint_rules.near_duplicate),
    Check("parameter-types", "info", lint_rules.parameter_types),
    Check("contradictory-settings", "warning", lint_rules.contradictory_settings),
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
