"""Whether a pattern is a valid agent or tool: all the faults of it at once.

A pattern is valid when none of its faults is an ``error``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from pyrsistent import PMap

from gram import Fault, Pattern
from gram.faults import fault
from gram.serializer import is_reference

from .agent import agent_model
from .answer import answer_faults
from .errors import FocusError
from .labels import AGENT, ANSWER, TOOL, TOOLS, is_agent, is_answer, is_tool
from .optics import view
from .program import (
    REFERENCE_CYCLE,
    TOO_MANY_AGENTS,
    UNDEFINED_REFERENCE,
    outermost,
    resolve_references,
    undefined_reference,
)
from .settings import SETTINGS, setting_problems
from .shared_shapes import shared_shapes, with_shared_shapes
from .signatures.checks import dotted
from .signatures.errors import SignatureError
from .signatures.parsing import type_signature_to_json_schema
from .signatures.schema_checks import is_regular_expression
from .signatures.source import signature_of
from .signatures.subschemas import subschemas
from .tool_names import wire_name

_OF_THE_REFERENCE = {REFERENCE_CYCLE, TOO_MANY_AGENTS, "duplicate-tool", "tool-name-collision"}
"""Faults of what is referred to from where, not of the definitions."""

AGENT_PROPERTIES = ("description", "instruction", "model", "settings")
"""The properties of an agent that mean something; it may have others of its own."""


def validate_agent_pattern(agent: Pattern) -> tuple[Fault, ...]:
    """All the faults of an agent and its tools, in the order of the text.

    An element that is neither a tool nor an agent is a fault; so is a reference that has not been
    resolved (see `lenses_ext.program`).
    """
    faults = [
        *_labelled(agent, {AGENT}, "an agent"),
        *_named(agent, "an agent"),
        *_text(agent, "instruction", "an agent", required=True),
        *_text(agent, "description", "an agent", required=False),
        *_model(agent),
        *_settings(agent),
        *_properties(agent),
        *_one_answer(agent),
        *_unique_names(agent),
    ]
    for index, element in enumerate(agent.elements):
        faults.extend(each.below(index) for each in _element(element))
    return tuple(faults)


def validate_tool_spec_pattern(tool: Pattern) -> tuple[Fault, ...]:
    """All the faults of a tool specification."""
    return (
        *_labelled(tool, TOOLS, "a tool"),
        *_named(tool, "a tool"),
        *_text(tool, "description", "a tool", required=True),
        *_signature(tool),
        *_wire_name(tool),
    )


def validate_program(patterns: Iterable[Pattern]) -> tuple[Fault, ...]:
    """All the faults of a document's agents and tools, each once, in the order of the text.

    References are resolved first; a document without agents and tools has no faults. Paths begin
    with the index of a top-level pattern.
    """
    patterns = tuple(patterns)
    shapes = shared_shapes(patterns)
    faults: list[Fault] = []
    for path, pattern in outermost(patterns, {AGENT, *TOOLS}):
        if is_tool(pattern):
            found = validate_tool_spec_pattern(with_shared_shapes(pattern, shapes))
        else:
            found = _agent_of_program(pattern, patterns)
        faults.extend(each.below(*path) for each in found)
    once: dict[object, Fault] = {}
    for each in faults:
        once.setdefault((each.code, each.message, each.span or each.path), each)
    return tuple(sorted(once.values(), key=lambda each: each.span or (0, 0)))


def _agent_of_program(agent: Pattern, patterns: tuple[Pattern, ...]) -> tuple[Fault, ...]:
    """The faults of an agent, but for those of the definitions it refers to."""
    resolved, unresolved = resolve_references(agent, patterns)
    found = [each for each in validate_agent_pattern(resolved) if each.code != UNDEFINED_REFERENCE]
    return tuple(each for each in (*unresolved, *found) if not _is_elsewhere(each, agent))


def _is_elsewhere(found: Fault, agent: Pattern) -> bool:
    """Whether a fault is one of a definition that the agent only refers to."""
    if found.code in _OF_THE_REFERENCE:
        return False
    here = agent
    for step in found.path[:-1]:
        if not isinstance(step, int) or step >= len(here.elements):
            return False
        here = here.elements[step]
        if is_reference(here):
            return True
    return False


def _element(element: Pattern) -> tuple[Fault, ...]:
    if is_tool(element):
        return validate_tool_spec_pattern(element)
    if is_agent(element):
        return validate_agent_pattern(element)
    if is_answer(element):
        return answer_faults(element)
    if is_reference(element):
        return (undefined_reference(element, ()),)
    labels = element.value.labels
    found = f"the label {_listed(labels)}" if labels else "no label"
    message = f"an element of an agent is a {TOOL}, an {AGENT} or an {ANSWER}, this has {found}"
    hint = _nearest(labels, {AGENT, ANSWER, *TOOLS})
    return (fault("unexpected-element", message, element, hint=hint),)


# --- one rule each


def _labelled(pattern: Pattern, wanted: Iterable[str], what: str) -> Iterator[Fault]:
    labels = pattern.value.labels
    if not labels & frozenset(wanted):
        found = f"the label {_listed(labels)}" if labels else "no label"
        expected = " or ".join(sorted(wanted, key=len, reverse=True))
        message = f"{what} has the label {expected}, this has {found}"
        yield fault("missing-label", message, pattern, "labels", hint=_nearest(labels, wanted))


def _named(pattern: Pattern, what: str) -> Iterator[Fault]:
    if not pattern.value.identity:
        label = next(iter(sorted(pattern.value.labels)), AGENT)
        hint = f"write it before the label: [name:{label} …]"
        yield fault("missing-name", f"{what} needs a name", pattern, hint=hint)


def _text(pattern: Pattern, key: str, what: str, *, required: bool) -> Iterator[Fault]:
    name = pattern.value.identity
    value = pattern.value.properties.get(key)
    whose = f'"{name}"' if name else what
    if value is None:
        if required:
            near = get_close_matches(key, pattern.value.properties, n=1)
            hint = f"did you mean {key} instead of {near[0]}?" if near else f'add {key}: "…"'
            message = f"{whose} has no {key}"
            yield fault(f"missing-{key}", message, pattern, key, hint=hint)
    elif not isinstance(value, str):
        message = f"the {key} of {whose} is a string, found {type(value).__name__}"
        yield fault(f"{key}-type", message, pattern, key)
    elif not value.strip():
        yield fault(f"empty-{key}", f"the {key} of {whose} is empty", pattern, key)


def _properties(agent: Pattern) -> Iterator[Fault]:
    """Properties that look like one that counts, and are none: a slip nobody would notice."""
    for key in sorted(agent.value.properties.keys() - set(AGENT_PROPERTIES)):
        if key in SETTINGS:
            hint = f"write settings: {{{key}: …}}"
            message = f"{key} is a setting of the model, and counts only in settings"
        elif near := get_close_matches(key, AGENT_PROPERTIES, n=1, cutoff=0.75):
            if near[0] in ("instruction", "model") and near[0] not in agent.value.properties:
                continue  # it is missed there already
            hint, message = None, f"an agent has no property {key}; did you mean {near[0]}?"
        else:
            continue
        yield fault("agent-property", message, agent, key, severity="warning", hint=hint)


def _model(agent: Pattern) -> Iterator[Fault]:
    faults = list(_text(agent, "model", "an agent", required=True))
    yield from faults
    if not faults:
        try:
            view(agent_model, agent)
        except FocusError as error:
            yield fault("model-name", error.reason, agent, "model")


def _settings(agent: Pattern) -> Iterator[Fault]:
    written = agent.value.properties.get("settings")
    if written is None:
        return
    if not isinstance(written, PMap):
        message = f"settings are a map, {{temperature: 0.2}}, found {type(written).__name__}"
        yield fault("settings-type", message, agent, "settings")
        return
    for problem in setting_problems(written):
        code = "setting-value" if problem.key in SETTINGS else "unknown-setting"
        yield fault(code, problem.reason, agent, "settings", hint=problem.hint)


def _one_answer(agent: Pattern) -> Iterator[Fault]:
    answers = [element for element in agent.elements if is_answer(element)]
    for answer in answers[1:]:
        message = f'"{agent.value.identity}" has {len(answers)} answers; keep one'
        yield fault("duplicate-answer", message, answer)


def _signature(tool: Pattern) -> Iterator[Fault]:
    if not is_tool(tool):
        return  # its elements are no signature; that it has no label has been said
    if signature_of(tool.elements) is None:
        name = tool.value.identity
        message = f'"{name}" has no type signature' if name else "a tool needs a type signature"
        hint = "write it behind a bar: | (name::Text)==>(::String)"
        yield fault("missing-signature", message, tool, hint=hint)
        return
    try:
        schema = type_signature_to_json_schema(tool)
    except SignatureError as error:
        yield from error.faults
        return
    for path, each in subschemas(schema):
        pattern = each.get("pattern")
        if isinstance(pattern, str) and not is_regular_expression(pattern):
            where = dotted((*path, "pattern"))
            message = f'"{pattern}" ({where}) is no regular expression: no call can be checked'
            yield fault("pattern", message, tool, "identity", severity="warning")


def _wire_name(tool: Pattern) -> Iterator[Fault]:
    name = tool.value.identity
    if name and (sent := wire_name(name)) != name:
        message = f'tool name "{name}" is not accepted by model APIs; it is sent as "{sent}"'
        yield fault("tool-name", message, tool, "identity", severity="warning")


def _unique_names(agent: Pattern) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for index, tool in enumerate(agent.elements):
        name = tool.value.identity
        if not name or not is_tool(tool):
            continue
        sent = wire_name(name)
        if sent not in seen:
            seen[sent] = name
        elif seen[sent] == name:
            message = f'two tools are named "{name}"'
            yield fault("duplicate-tool", message, tool, "identity").below(index)
        else:
            message = f'tools "{seen[sent]}" and "{name}" are both sent as "{sent}"'
            yield fault("tool-name-collision", message, tool, "identity").below(index)


def _listed(labels: Iterable[str]) -> str:
    return ", ".join(sorted(labels))


def _nearest(labels: Iterable[str], wanted: Iterable[str]) -> str | None:
    known = sorted(wanted)
    for label in sorted(labels):
        if near := get_close_matches(label, known, n=1):
            return f"did you mean {near[0]} instead of {label}?"
    return None
