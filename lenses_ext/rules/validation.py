"""Validation: what is wrong with agents, tools and whole programs.

The rules are two tables, `LANGUAGE_CHECKS` and `FLOW_CHECKS`, that are checked together with the
rules of the notation over one reading. A pattern is valid when none of its faults is an ``error``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

import attrs

from gram import (
    Check,
    Diagnostic,
    Document,
    Pattern,
    TreePath,
    check,
    only_errors,
    pattern_at,
    walk,
)
from gram.checks import CHECKS, Reading
from gram.diagnostics import PartPath
from gram.editing import ChangedPattern
from gram.errors import expect
from gram.trees import WHOLE, carry_origin

from ..labels import AGENT, TOOL, TOOLS, is_agent
from ..names import (
    Program,
    ProgramLike,
    choose,
    document_of_program,
    program_patterns,
    program_scopes,
    reached,
)
from .language_checks import LANGUAGE_CHECKS
from .rules import nearest_label


def program_checks(reading: Reading) -> tuple[Check, ...]:
    """The rules of `PROGRAM_CHECKS` that matter for what is read.

    Those of arrows and workflows are left out, and not loaded, where there are none. For
    ``gram.check(program, checks=program_checks, scopes=program_scopes)``.
    """
    expect(reading, Reading, "reading", by="program_checks")
    return (*CHECKS, *_language_checks(reading))


def _language_checks(reading: Reading) -> tuple[Check, ...]:
    if not reading.once(Program.of).has_flows:
        return LANGUAGE_CHECKS
    from .flow_checks import FLOW_CHECKS  # most programs have neither arrows nor workflows

    return (*LANGUAGE_CHECKS, *FLOW_CHECKS)


def _errors_alone(reading: Reading) -> tuple[Check, ...]:
    return tuple(row for row in program_checks(reading) if row.severity == "error")


def _validation(reading: Reading) -> tuple[Check, ...]:
    """All rules of the language, and of the notation those that are errors."""
    notation = (row for row in CHECKS if row.severity == "error")
    return (*notation, *_language_checks(reading))


def validate_agent_pattern(agent: Pattern) -> tuple[Diagnostic, ...]:
    """All the faults of an agent and its tools, in the order of the text.

    An element that is neither a tool nor an agent nor a type is a fault; so is a reference that
    has not been resolved (see `resolve`).
    """
    expect(agent, Pattern, "agent", by="validate_agent_pattern")
    return (*_labelled(agent, {AGENT}, "an agent"), *_validated(agent, AGENT, {AGENT}))


def validate_tool_spec_pattern(tool: Pattern) -> tuple[Diagnostic, ...]:
    """All the faults of a tool specification."""
    expect(tool, Pattern, "tool", by="validate_tool_spec_pattern")
    return (*_labelled(tool, TOOLS, "a tool"), *_validated(tool, TOOL, TOOLS))


def validate_program(program: ProgramLike) -> tuple[Diagnostic, ...]:
    """All the faults of a program's agents and tools, each once, in the order of the text.

    A document without agents and tools has no faults. Paths begin with the index of a top-level
    pattern.
    """
    patterns = program_patterns(program, by="validate_program")
    definitions = Program(patterns)
    within = {each.path for each in definitions.outermost}
    for same in definitions.types_in(WHOLE).values():
        within.update(each.path for each in same)
    return _checked(program, patterns, within) if definitions.outermost else ()


def agent_diagnostics(program: ProgramLike, agent: str | None = None) -> tuple[Diagnostic, ...]:
    """What is wrong with an agent and all that it refers to, in the order of the text.

    Args:
        program: a document, the patterns of one, or a pattern.
        agent: the name of the agent; without it, the only one.

    Raises:
        ProgramError: there is no such agent.
    """
    patterns = program_patterns(program, by="agent_diagnostics")
    definitions = Program(patterns)
    chosen = choose(definitions, agent, document=document_of_program(program))
    return _checked(program, patterns, reached(definitions, chosen))


def new_errors(before: Document, after: Document) -> tuple[Diagnostic, ...]:
    """The errors of a program that an edit adds.

    Errors that were there before are left out, even when the edit moved them or renamed what they
    are about.
    """
    expect(before, Document, "before", by="new_errors")
    expect(after, Document, "after", by="new_errors")
    if not _errors(after.patterns_as_read, _untouched(before, after)):
        return ()
    read = Document(after.source)  # with the places of the new text
    old, new = list(_errors(before)), list(_errors(read))
    for key in (_words, _spot):
        known = [key(each, before) for each in old]
        added = [key(each, read) for each in new]
        same = Counter(known) & Counter(added)
        old, new = _without(old, known, same), _without(new, added, same)
    return tuple(new)


def _errors(
    document: Document | tuple[Pattern, ...], without: Collection[TreePath] = ()
) -> tuple[Diagnostic, ...]:
    return only_errors(
        check(document, checks=_errors_alone, scopes=program_scopes, without=without)
    )


def _untouched(before: Document, after: Document) -> Collection[TreePath]:
    """The paths of the patterns that an edit cannot have given an error.

    They did not change, and do not mention a name which one of those that changed defines, or
    defined, for others; nor one of a pattern that mentions such a name, and so on. Where nothing
    but properties of agents changed in a top-level pattern, the elements of these are among them.
    """
    changed: dict[int, list[ChangedPattern]] = {}  # by the top-level pattern
    for each in after.changed_since(before):
        changed.setdefault(each.path[0], []).append(each)
    kept = set(map(id, before.patterns)) & set(map(id, after.patterns))
    several = (*before.patterns, *after.patterns)
    names = {name for each in several if id(each) not in kept for name in _offers(each)}
    others: dict[TreePath, Pattern] = {
        (at,): pattern for at, pattern in enumerate(after.patterns) if at not in changed
    }
    for own in changed.values():
        if all(_is_of_agents_alone(after, each) for each in own):
            on_the_way = {
                each.path[:length] for each in own for length in range(1, len(each.path) + 1)
            }
            for path in on_the_way:
                pattern = pattern_at(after.patterns, path)
                names.add(pattern.value.identity)
                below = (((*path, at), each) for at, each in enumerate(pattern.elements))
                others |= {at: each for at, each in below if at not in on_the_way}
    words = {path: _words_in(each) for path, each in others.items()}
    while reached := [path for path, said in words.items() if not names.isdisjoint(said)]:
        names = {name for path in reached for name in _offers(others[path])}
        for path in reached:
            del words[path]
    return words.keys()


def _is_of_agents_alone(after: Document, changed: ChangedPattern) -> bool:
    """Whether an edit changed no more than properties of an agent, on which nothing depends that
    is below it."""
    if changed.old is None or not changed.keeps_elements:
        return False
    old, new = changed.old.value, pattern_at(after.patterns, changed.path)
    same = old.identity == new.value.identity and old.labels == new.value.labels
    return same and is_agent(new)


def _words_in(pattern: Pattern) -> set[str]:
    """The names and labels in a pattern."""
    subjects = (each.value for _, each in walk(pattern))
    return {word for each in subjects for word in (each.identity, *each.labels)}


def _offers(pattern: Pattern) -> Iterator[str]:
    """The names that a top-level pattern defines or uses outside of scopes of its own."""
    if pattern.value.identity:
        yield pattern.value.identity
    if program_scopes(pattern) == "around":
        for element in pattern.elements:
            yield from _offers(element)


def _without(
    faults: list[Diagnostic], keys: list[object], same: Counter[object]
) -> list[Diagnostic]:
    """The faults that are left when of each key as many are taken away as are counted."""
    left, counts = [], Counter(same)
    for each, key in zip(faults, keys, strict=True):
        if counts[key]:
            counts[key] -= 1
        else:
            left.append(each)
    return left


def _words(fault: Diagnostic, _: Document) -> object:
    """What a fault says, without the places in its message."""
    return fault.code, re.sub(r"\d+:\d+", "", fault.message)


def _spot(fault: Diagnostic, document: Document) -> object:
    """Where a fault is: the place in the trees, and the part at fault."""
    subject = pattern_at(document.patterns, _steps(fault.path)).value
    known = {"identity": subject.identity, "labels": subject.labels}
    part = next((step for step in fault.path if isinstance(step, str)), "")
    return fault.code, fault.path, known.get(part, subject.properties.get(part))


def _steps(path: PartPath) -> TreePath:
    return tuple(step for step in path if isinstance(step, int))


def _checked(
    program: ProgramLike, patterns: tuple[Pattern, ...], within: Collection[TreePath]
) -> tuple[Diagnostic, ...]:
    read = program if isinstance(program, Document) else patterns
    return check(read, checks=_validation, scopes=program_scopes, within=within)


def _validated(pattern: Pattern, label: str, labels: Collection[str]) -> tuple[Diagnostic, ...]:
    """The faults of a pattern, taken for an agent or a tool if it does not have the label."""
    if pattern.value.labels.isdisjoint(labels):
        subject = attrs.evolve(pattern.value, labels={label})
        pattern = carry_origin(attrs.evolve(pattern, value=subject), pattern)
    faults = check(pattern, checks=_validation, scopes=program_scopes)
    return tuple(attrs.evolve(each, path=each.path[1:]) for each in faults)


def _labelled(pattern: Pattern, wanted: Collection[str], what: str) -> Iterator[Diagnostic]:
    labels = pattern.value.labels
    if labels.isdisjoint(wanted):
        found = f"the label {', '.join(sorted(labels))}" if labels else "no label"
        expected = " or ".join(sorted(wanted, key=len, reverse=True))
        message = f"{what} has the label {expected}, this has {found}"
        yield Diagnostic.of(
            "missing-label", message, pattern, "labels", hint=nearest_label(labels, wanted)
        )
