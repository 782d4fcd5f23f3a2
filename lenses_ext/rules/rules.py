"""What can be wrong with one agent or tool: a rule each, which finds where it is broken."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
from pyrsistent import PMap, PVector, pmap

from gram import Diagnostic, Pattern, TreePath, Value, is_reference
from gram.checks import Reading
from gram.trees import exact
from gram.words import nearest

from .. import language
from ..errors import FocusError, type_in_words
from ..labels import AGENT, is_agent, is_answer, is_loop, is_skill, is_tool, is_workflow, kind_of
from ..language import SETTINGS, TOOL_SPECS
from ..names import Definition, Program
from ..optics import Vocabulary, view
from ..schemas import canonical
from ..signatures import (
    SignatureError,
    is_typed_path,
    result_schema,
    signature_diagnostics,
    signature_of,
)


def missing_name(pattern: Pattern) -> Iterator[Diagnostic]:
    """An agent or a tool without a name."""
    if not pattern.value.identity:
        label = min(pattern.value.labels, default=AGENT)
        written = pattern.value.properties.get("name")
        name = written if isinstance(written, str) and _NAME.fullmatch(written) else "name"
        hint = f"write it before the label: [{name}:{label} …]"
        yield Diagnostic.found(f"{called(pattern)} needs a name", hint=hint)


def slash_in_name(pattern: Pattern) -> Iterator[Diagnostic]:
    """A name with a slash: rules of approval write ``agent/tool``."""
    if "/" in pattern.value.identity:
        message = f'the name "{pattern.value.identity}" has a slash, which separates names'
        yield Diagnostic.found(message, part="identity", hint="write _ or . instead")


def missing(pattern: Pattern, key: str) -> Iterator[Diagnostic]:
    """An agent or a tool without a property, where it is needed."""
    written = pattern.value.properties
    if key in _vocabulary(pattern).needed and key not in written:
        slip = nearest(key, sorted(written))
        hint = f"did you mean {key} instead of {slip[0]}?" if slip else f'add {key}: "…"'
        yield Diagnostic.found(f"{called(pattern)} has no {key}", part=key, hint=hint)


def not_a_text(pattern: Pattern, key: str) -> Iterator[Diagnostic]:
    """A value of a property that is not a string."""
    value = _value(pattern, key)
    if not isinstance(value, str | None) and not (key == "model" and isinstance(value, PVector)):
        message = f"the {key} of {called(pattern)} is a text, found {type_in_words(value)}"
        yield Diagnostic.found(message, part=key)


def empty(pattern: Pattern, key: str) -> Iterator[Diagnostic]:
    """An empty property."""
    value = _value(pattern, key)
    if isinstance(value, str) and not value.strip():
        yield Diagnostic.found(f"the {key} of {called(pattern)} is empty", part=key)


def _value(pattern: Pattern, key: str) -> Value | None:
    """The value of a property; None also where it means nothing."""
    return pattern.value.properties.get(key) if key in _vocabulary(pattern).properties else None


def _vocabulary(pattern: Pattern) -> Vocabulary:
    if is_workflow(pattern):
        return language.WORKFLOW_PARTS
    return language.AGENTS if is_agent(pattern) else TOOL_SPECS


def model_name(agent: Pattern) -> Iterator[Diagnostic]:
    """A model that is not written provider/name, or a list that is not one of several models."""
    model = agent.value.properties.get("model")
    if (isinstance(model, str) and model.strip()) or isinstance(model, PVector):
        try:
            view(language.agent_models, agent)
        except FocusError as error:
            yield Diagnostic.found(error.reason_in_words, part="model")


def settings_of(agent: Pattern) -> PMap[str, Value]:
    """The settings of an agent, where they are a map."""
    settings = agent.value.properties.get("settings")
    return settings if isinstance(settings, PMap) else pmap()


def settings_type(agent: Pattern) -> Iterator[Diagnostic]:
    """Settings that are not a map."""
    settings = agent.value.properties.get("settings")
    if settings is not None and not isinstance(settings, PMap):
        message = f"settings are a map, {{temperature: 0.2}}, found {type_in_words(settings)}"
        yield Diagnostic.found(message, part="settings")


def tool_value(tool: Pattern) -> Iterator[Diagnostic]:
    """A property of a tool with a value that it cannot have."""
    for key, lens in TOOL_SPECS.properties.items():
        try:
            if key not in TOOL_SPECS.needed:  # those are texts, which have rules of their own
                view(lens, tool)
        except FocusError as error:
            message = f"the {key} of {called(tool)}: {error.reason}"
            yield Diagnostic.found(message, part=key, hint=error.hint)


def skill_value(agent: Pattern) -> Iterator[Diagnostic]:
    """Skills that are no list of folders, or a skill without a name, a description or a text."""
    try:
        view(language.agent_skills, agent)
    except FocusError as error:
        yield Diagnostic.found(error.reason, part=language.SKILLS)
    for index, each in enumerate(agent.elements):
        said = each.value.properties
        texts = (each.value.identity, said.get("description"), said.get("text"))
        if is_skill(each) and not all(isinstance(it, str) and it for it in texts):
            message = "a skill has a name, a description and a text"
            hint = '[refunds:Skill {description: "How to refund.", text: "…"}]'
            yield Diagnostic.found(message, (index,), hint=hint)


def wrong_setting(agent: Pattern, is_known: bool) -> Iterator[Diagnostic]:
    """A setting that there is not, or that has a value which it cannot have."""
    for problem in language.setting_problems(settings_of(agent)):
        if (problem.key in SETTINGS) == is_known:
            keys = (problem.key,)
            yield Diagnostic.found(problem.reason, part="settings", keys=keys, hint=problem.hint)


def summary_writer(agent: Pattern) -> Iterator[Diagnostic]:
    """A name of ``compactBy`` that no agent among the elements has."""
    name = settings_of(agent).get("compactBy")
    named = (each for each in agent.elements if each.value.identity == name)
    if isinstance(name, str) and not any(is_agent(each) or is_reference(each) for each in named):
        message = f'compactBy names "{name}", which is no agent among the elements of this one'
        hint = f"add the agent, or its name: ({name})"
        yield Diagnostic.found(message, part="settings", keys=("compactBy",), hint=hint)


def agent_property(agent: Pattern) -> Iterator[Diagnostic]:
    """A property that looks like one that counts, and is ignored."""
    properties = agent.value.properties
    for key in sorted(properties.keys() & SETTINGS.keys()):
        message = f"{key} is a setting of the model, and counts only in settings"
        yield Diagnostic.found(message, part=key, hint=f"write settings: {{{key}: …}}")
    if "tools" in properties:
        message, hint = "the tools of an agent are elements", "write them behind the bar: | search"
        yield Diagnostic.found(message, part="tools", hint=hint)
    yield from misspelt_property(agent)


def misspelt_property(pattern: Pattern) -> Iterator[Diagnostic]:
    """A property of an agent or a tool that looks like one that counts, and is ignored."""
    vocabulary, properties = _vocabulary(pattern), pattern.value.properties
    what = "an agent" if is_agent(pattern) else "a tool"
    for key in sorted(properties.keys() - vocabulary.properties.keys() - SETTINGS.keys()):
        for near in nearest(key, vocabulary.properties, cutoff=0.75):
            # of one that is missing and needed, the rule for that has a hint
            if near in properties or near not in vocabulary.needed:
                message = f"{what} has no property {key}; did you mean {near}?"
                yield Diagnostic.found(message, part=key)


def workflow_property(workflow: Pattern) -> Iterator[Diagnostic]:
    """A property of a workflow that is said elsewhere, or looks like one that counts."""
    written, parts = workflow.value.properties, language.WORKFLOW_PARTS.properties
    for key in sorted(written.keys() - parts.keys()):
        meant, is_of_loops = meant_key(key), meant_key(key) in ("max", "until")
        if key in language.AGENTS.properties or key in SETTINGS:
            hint = "write it in the agents that it uses"
        elif meant is None or (is_of_loops and is_loop(workflow) and meant not in written):
            continue  # of what a loop has to have, the rule for that has a hint
        elif is_of_loops and not is_loop(workflow):
            hint = f"a Loop has {meant}: label it Loop, or leave out {key}"
        else:
            hint = f"did you mean {meant}?" if meant in parts else meant
        message = f"{called(workflow)} is a {kind_of(workflow)}, which has no {key}"
        yield Diagnostic.found(message, part=key, hint=hint)


def meant_key(key: str) -> str | None:
    """What a key of a workflow or loop means: a property, or in words how it is said; else None.

    >>> meant_key("utnil"), meant_key("maxRounds"), meant_key("note")
    ('until', 'max', None)
    """
    near = nearest(key, language.WORKFLOW_PARTS.properties, cutoff=0.75)
    return near[0] if near else _OTHER_WORDS.get(key.lower().replace("_", "").replace("-", ""))


_OTHER_WORDS: Mapping[str, str] = json.loads(
    Path(__file__).with_name("other_words.json").read_bytes()
)
"""What a workflow says, by the words that others have for it."""


def second_signature(runnable: Pattern) -> Iterator[Diagnostic]:
    """An agent or workflow with more than one type signature."""
    paths = [index for index, each in enumerate(runnable.elements) if is_typed_path(each)]
    for index in paths[1:]:
        message = f"{called(runnable)} has one type signature, and this is another"
        yield Diagnostic.found(message, (index,), hint="keep one")


def duplicate_answer(agent: Pattern) -> Iterator[Diagnostic]:
    """An agent with more than one answer."""
    answers = [index for index, element in enumerate(agent.elements) if is_answer(element)]
    for index in answers[1:]:
        yield Diagnostic.found(f"{called(agent)} has {len(answers)} answers; keep one", (index,))


def missing_signature(tool: Pattern) -> Iterator[Diagnostic]:
    """A tool without a type signature."""
    if signature_of(tool.elements) is None:
        yield Diagnostic.found(f"{called(tool)} has no type signature", hint=_BEHIND_BAR)


def signature_property(pattern: Pattern) -> Iterator[Diagnostic]:
    """A signature that is written as a property, where it is not read."""
    if _SIGNATURE not in pattern.value.properties:
        return
    is_spec = is_tool(pattern)
    if signature_of(pattern.elements) if is_spec else any(map(is_typed_path, pattern.elements)):
        message = f"{_SIGNATURE} of {called(pattern)} is not read: its signature is behind the bar"
        yield Diagnostic.found(message, part=_SIGNATURE, hint="leave it out")
    elif not is_spec:  # of a tool, which has to have one, the rule for that has a hint
        message = f"{called(pattern)} has no property {_SIGNATURE}"
        yield Diagnostic.found(message, part=_SIGNATURE, hint=_BEHIND_BAR)


_SIGNATURE = "typeSignature"
_BEHIND_BAR = "write it behind a bar, as in | (name::Text)==>(::String)"
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


def tool_name(tool: Pattern) -> Iterator[Diagnostic]:
    """A name of a tool that model APIs do not accept, so that they are sent another."""
    name = tool.value.identity
    if name and (sent := language.wire_name(name)) != name:
        message = f'tool name "{name}" is not accepted by model APIs; it is sent as "{sent}"'
        yield Diagnostic.found(message, part="identity")


def called(pattern: Pattern) -> str:
    """What messages call an agent, tool or workflow: its name, or what it is."""
    if pattern.value.identity:
        return f'"{pattern.value.identity}"'
    return f"{'an' if is_agent(pattern) else 'a'} {kind_of(pattern)}"


Kind: TypeAlias = Literal["agents", "workflows", "runnables", "tools", "answers", "named"]
"""What a rule is about, by the attribute of `Program` that holds it."""


def of_each(
    kind: Kind, rule: Callable[..., Iterator[Diagnostic]], *arguments: Any
) -> Callable[[Reading], Iterator[Diagnostic]]:
    """A rule about patterns of a kind, for each of them that is judged.

    Args:
        kind: the kind.
        rule: finds what is wrong with one; the paths of what it yields begin there.
        arguments: what else it takes.
    """

    @wraps(rule)
    def find(reading: Reading) -> Iterator[Diagnostic]:
        for each in judged(reading, kind):
            yield from (found.below(*each.path) for found in rule(each.pattern, *arguments))

    return find


def judged(reading: Reading, kind: Kind) -> list[Definition]:
    """The definitions of a kind that are judged, in the order of the text."""
    found: Mapping[TreePath, Definition] = getattr(reading.once(Program.of), kind)
    return [each for path, each in found.items() if reading.judges(path)]


# --- what is wrong with signatures


def answer_differs(reading: Reading) -> Iterator[Diagnostic]:
    """An agent whose signature and Answer say two things: they are two ways to say one."""
    program = reading.once(Program.of)
    for answer in judged(reading, "answers"):
        holder = program.runnables[answer.path[:-1]]
        if language.written_signature(holder.pattern) is None:
            continue
        with suppress(SignatureError):  # reported already
            declared = result_schema(language.tool_spec_of(program.completed(holder)[0])) or {}
            both = (declared, language.answer_schema(program.completed(answer)[0]))
            one, other = (exact(canonical(each, match="types")) for each in both)
            if one != other:
                message = f"the answer of {called(holder.pattern)} is not what its signature gives"
                hint = "keep one of the two, or make them equal"
                yield Diagnostic.found(message, answer.path, hint=hint)


def signature(reading: Reading) -> Iterator[Diagnostic]:
    """A signature, or an answer, that does not say a type; the faults have codes of their own."""
    program = reading.once(Program.of)
    kinds: tuple[Kind, ...] = ("tools", "answers", "runnables")
    for holder in (each for kind in kinds for each in judged(reading, kind)):
        completed, used = program.completed(holder)
        own = len(completed.elements) - len(used)  # the types that it uses are put behind its own
        faults: Iterable[Diagnostic] = ()
        steps = 0
        if is_answer(holder.pattern):
            faults = language.answer_diagnostics(completed)
            steps = 1 if used and completed.elements[:own] != holder.pattern.elements else 0
        elif is_tool(holder.pattern):
            faults = signature_diagnostics(completed) if signature_of(completed.elements) else ()
        elif language.written_signature(holder.pattern) is not None:
            faults = _faults_of_runnable(completed)
        for each in faults:
            first, *rest = each.path or (None,)
            if each.code == "unknown-type" and not program.files.are_read(holder.path):
                continue  # an import that is not read may have it
            if isinstance(first, int) and first >= own and used:
                yield attrs.evolve(each, path=(*used[first - own].path, *rest))
            else:
                yield attrs.evolve(each, path=(*holder.path, *each.path[steps:]))


def _faults_of_runnable(pattern: Pattern) -> Iterator[Diagnostic]:
    spec = language.tool_spec_of(pattern)
    places = {id(each): at for at, each in enumerate(pattern.elements)}
    for each in signature_diagnostics(spec):
        first, *rest = each.path or (None,)
        if isinstance(first, int):
            yield attrs.evolve(each, path=(places[id(spec.elements[first])], *rest))


def nearest_label(labels: Iterable[str], wanted: Iterable[str]) -> str | None:
    """The hint for a label that may be a slip for one of those that are wanted."""
    slips = ((label, near) for label in sorted(labels) for near in nearest(label, sorted(wanted)))
    return next((f"did you mean {near} instead of {label}?" for label, near in slips), None)
