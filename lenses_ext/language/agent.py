"""The lenses onto agents and workflows, one line each, and the traversals over a document.

An agent is a pattern labelled ``Agent``; its identity is its name, its properties say who it is
and which model it runs on, its elements are its tools.

A document is the tuple of its patterns, as `gram.loads` and `gram.Document.patterns` give it. A
pattern, such as an agent with agents among its tools, is looked into as well.

``skills: ["skills/refunds"]`` names folders. `lenses_ext.resolve` puts what their files say among
the elements of the agent, a pattern each: ``[refunds:Skill {description: "…", text: "…"}]``.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, Final, TypeAlias, Union

import attrs
from pyrsistent import PVector, pvector

from gram import Pattern, Subject, TreePath, Value, is_reference, walk, walk_up
from gram.errors import expect
from gram.trees import carry_origin

from ..errors import FocusError, PartError, value_in_words
from ..labels import AGENT, SKILL, TOOL, TOOLS, WORKFLOWS, is_agent, is_answer, is_runnable, is_tool
from ..optics import (
    TEXT,
    Codec,
    Traversal,
    Vocabulary,
    computed,
    each_of,
    elements_with,
    identity,
    lens_of,
    put,
    text,
    traversal_of,
    view,
)
from ..signatures import is_path, is_typed_path
from .callable import agent_type_signature, answer_schema
from .model import Model, Settings

SKILLS: Final = "skills"
"""The key under which an agent names the folders of its skills."""


def _decode_folders(value: object) -> PVector[str]:
    folders = value if isinstance(value, list | tuple | PVector) else (None,)
    if not all(isinstance(each, str) and each for each in folders):
        raise PartError('skills are a list of folders: ["skills/refunds"]')
    if len({*folders}) < len(folders):
        raise PartError("a folder is listed twice")
    return pvector(map(str, folders))


FOLDERS: Final = Codec[Sequence[str], Sequence[str]](_decode_folders, _decode_folders)


def folders_of(agent: Pattern) -> list[tuple[int, str]]:
    """The folders of skills that an agent names, each with its index; what is no text is left out.

    >>> from gram import loads_one
    >>> folders_of(loads_one('(a:Agent {skills: ["skills/refunds", 1]})'))
    [(0, 'skills/refunds')]
    """
    written = agent.value.properties.get(SKILLS)
    named = enumerate(written) if isinstance(written, PVector) else ()
    return [(index, each) for index, each in named if isinstance(each, str) and each]


def skill(name: str, description: str, text: str, folder: str | None = None) -> Pattern:
    """The pattern of a skill; tools that read or run its other files find them in its folder."""
    said = {"description": description, "text": text} | ({"folder": folder} if folder else {})
    return Pattern(Subject(name, {SKILL}, said))


def with_skills(agent: Pattern, skills: Iterable[Pattern]) -> Pattern:
    """An agent with skills among its elements instead of the folders that it names."""
    if SKILLS not in agent.value.properties:
        return agent
    said = attrs.evolve(agent.value, properties=agent.value.properties.discard(SKILLS))
    elements = (*agent.elements, *skills)
    return carry_origin(attrs.evolve(agent, value=said, elements=elements), agent)


def skill_tool(skill: Pattern) -> Pattern:
    """The specification of the tool that a skill is to a model: it gives a text.

    >>> from gram import dumps
    >>> print(dumps(skill_tool(skill("refunds", "How to refund.", "…"))))
    [refunds:ToolSpecification {description: "Read the skill refunds: How to refund."} | (:String)]
    """
    name, said = skill.value.identity, skill.value.properties
    where = f" (in {said['folder']})" if "folder" in said else ""
    description = f"Read the skill {name}{where}: {said['description']}"
    subject = Subject(name, {TOOL}, {"description": description})
    return Pattern(subject, [Pattern(Subject("", {"String"}))])


def _rounds(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise PartError(f"expected a whole number above 0, found {value_in_words(value)}")
    return value


def _same(value: Value) -> Value:
    return value


WORKFLOW_PARTS = Vocabulary("workflow", WORKFLOWS)

workflow_name = WORKFLOW_PARTS.word("name", identity("workflow_name", "The name of a workflow."))
workflow_description = WORKFLOW_PARTS.optional("description", TEXT, "What a workflow is for")
_MAX = "How many rounds a loop has at most"
loop_max = WORKFLOW_PARTS.optional("max", Codec(_rounds, _rounds), _MAX, "loop_max")
_UNTIL = "The answer that ends a loop: that of its last node, or a map by node"
loop_until = WORKFLOW_PARTS.optional("until", Codec(_same, _same), _UNTIL, "loop_until")
WORKFLOW_PARTS.word("signature", agent_type_signature)


def is_node(element: Pattern) -> bool:
    """Whether an element is an agent, a tool or a workflow, or the bare name of one."""
    return is_runnable(element) or is_tool(element) or is_reference(element)


def is_arrows(element: Pattern) -> bool:
    """Whether an element is a path of arrows between names."""
    return is_path(element) and not is_typed_path(element)


_A_NODE = "an agent, a tool or a workflow, or the bare name of one"
_NODES = "What the nodes of a workflow use, in order: definitions, or names of shared ones."
_ARROWS = "The paths of arrows of a workflow, or of an agent that hands over, in order."
_A_PATH = "a path of arrows such as (a)-->(b)"
workflow_nodes = elements_with("workflow_nodes", is_node, _A_NODE, _NODES)
workflow_arrows = elements_with("workflow_arrows", is_arrows, _A_PATH, _ARROWS)
WORKFLOW_PARTS.word("nodes", workflow_nodes)
WORKFLOW_PARTS.word("arrows", workflow_arrows)
as_workflow = WORKFLOW_PARTS.prism("as_workflow")


def _decode_models(value: object) -> tuple[Model, ...]:
    if not isinstance(value, list | tuple | PVector):
        return (Model.parse(text(value)),)
    models = tuple(Model.parse(text(each)) for each in value)
    if len(models) < 2 or len({*models}) < len(models):
        message = "a list of models has two or more that differ; one model is a text, no list"
        raise PartError(message)
    return models


def _decode_settings(values: object) -> Settings:
    if not isinstance(values, Mapping):
        raise PartError(f"expected a map, found {type(values).__name__}")
    return Settings(values)


def _encode_model(model: Model | str) -> str:
    if not isinstance(model, Model | str):
        raise PartError(f"expected Model or str, found {type(model).__name__}")
    return str(Model.parse(model) if isinstance(model, str) else model)


def _encode_models(models: Model | str | Iterable[Model | str]) -> str | list[str]:
    if isinstance(models, Model | str):
        return _encode_model(models)
    if not isinstance(models, Iterable):
        raise PartError(f"expected models, found {type(models).__name__}")
    written = [_encode_model(each) for each in models]
    return written[0] if len(written) == 1 else [str(each) for each in _decode_models(written)]


def _with_first_model(agent: Pattern, model: Model | str) -> Pattern:
    first = Model.parse(_encode_model(model))
    written = agent.value.properties.get("model")
    others = () if isinstance(written, str | None) else view(agent_models, agent)[1:]
    return put(agent_models, (first, *(each for each in others if each != first)), agent)


_answers = elements_with("agent_answer", is_answer, "a pattern labelled Answer")


def _get_answer(agent: Pattern) -> Pattern | None:
    found = view(_answers, agent)
    if len(found) > 1:
        raise PartError(f"{len(found)} answers")
    return found[0] if found else None


def _set_answer(agent: Pattern, answer: Pattern | None) -> Pattern:
    _get_answer(agent)
    return put(_answers, () if answer is None else (answer,), agent)


def _get_answer_schema(agent: Pattern) -> dict[str, Any] | None:
    answer = _get_answer(agent)
    return None if answer is None else answer_schema(answer)


_MODELS = Codec(_decode_models, _encode_models)
_SETTINGS: Codec[Settings, Settings | Mapping[str, Any]]
_SETTINGS = Codec(_decode_settings, lambda it: _decode_settings(it).values_by_name)
_A_TOOL = f"a pattern labelled {' or '.join(sorted(TOOLS))}"
_tools = elements_with("each_agent_tool", is_tool, _A_TOOL)

AGENTS = Vocabulary("agent", frozenset({AGENT}))

agent_name = AGENTS.word("name", identity("agent_name", "The name of an agent, its identity."))
agent_description = AGENTS.optional("description", TEXT, "What an agent is for")
agent_instruction = AGENTS.required("instruction", TEXT, "What an agent is told to do")
_MODELS_ASKED = """The models that an agent runs on, each a `Model` or put as a str: the first, then
those that are asked where it cannot be"""
agent_models = AGENTS.required("model", _MODELS, _MODELS_ASKED, "agent_models")
_MODEL = "value.properties.model"
_FIRST_MODEL = """The model that an agent runs on: a `Model`, which may be put as "provider/name".

Of several it is the first. One that is put is left out among the others, so that put-put holds
where it is not one of them."""
agent_model = lens_of(
    "agent_model", lambda it: view(agent_models, it)[0], _with_first_model, _MODEL, _FIRST_MODEL
)
agent_settings = AGENTS.optional("settings", _SETTINGS, "Its model's settings, such as temperature")
agent_skills = AGENTS.optional(SKILLS, FOLDERS, "The folders of its skills, as paths from its file")
_TOOLS = "The tools of an agent, in order: their specifications, or names of shared tools."
_A_TOOL_OR_NAME = f"{_A_TOOL}, or the bare name of one"
agent_tool_specs = elements_with(
    "agent_tool_specs", lambda it: is_tool(it) or is_reference(it), _A_TOOL_OR_NAME, _TOOLS
)
AGENTS.word("tools", agent_tool_specs)
_EACH_TOOL = "Each tool that is written in an agent, without names."
each_agent_tool = each_of("each_agent_tool", _tools, _EACH_TOOL)
AGENTS.word("signature", agent_type_signature)
AGENTS.word("arrows", workflow_arrows)
_ANSWER = "The type of an agent's answer, a pattern labelled Answer; None if its answer is text."
agent_answer = lens_of("agent_answer", _get_answer, _set_answer, "elements", _ANSWER)
"""Another answer is put where the old one is, and the first one behind the elements. Put-put holds
but for None put where the answer is not the last element: its place is forgotten."""

_SCHEMA = "The JSON Schema of an agent's answer; None if its answer is text."
agent_answer_schema = computed("agent_answer_schema", _get_answer_schema, "elements", _SCHEMA)
as_agent = AGENTS.prism("as_agent")


def create_agent_pattern(
    name: str,
    description: str | None,
    model: Model | str,
    instruction: str,
    tool_specs: Iterable[Pattern] = (),
    *,
    answer: Pattern | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
) -> Pattern:
    """Make the pattern of an agent.

    Args:
        name: its identity.
        description: what it is for, or None.
        model: a `Model`, or its text ``provider/name``.
        instruction: what it is told to do.
        tool_specs: the specifications of its tools, or the bare names of tools defined elsewhere.
        answer: the type of its answer, a pattern labelled ``Answer``; None for a text.
        settings: settings of its model, such as ``{"temperature": 0.2}``.

    Raises:
        FocusError: an argument is empty, or has no notation, or two tools have the same name.

    >>> from gram import dumps
    >>> dumps(create_agent_pattern("a", None, "OpenAI/gpt-5.6-luna", "Be kind."))
    '(a:Agent {instruction: "Be kind.", model: "OpenAI/gpt-5.6-luna"})'
    """
    by = "create_agent_pattern"
    expect(description, (str, NoneType), "description", by=by)
    expect(model, (Model, str), "model", by=by)
    expect(instruction, str, "instruction", by=by)
    expect(tool_specs, Iterable, "tool_specs", by=by)
    expect(answer, (Pattern, NoneType), "answer", by=by)
    expect(settings, (Mapping, NoneType), "settings", by=by)
    parts = {"description": description, "instruction": instruction, "model": model}
    properties = {**parts, "settings": settings}
    agent = AGENTS.make(by, name, AGENT, properties)
    agent = put(agent_tool_specs, tuple(tool_specs), agent)
    names = Counter(each.value.identity for each in view(agent_tool_specs, agent))
    for name in (name for name, count in names.items() if count > 1):
        raise FocusError(by, "elements", agent, f'two tools are named "{name}"')
    return agent if answer is None else put(agent_answer, answer, agent)


Whole: TypeAlias = Union[tuple[Pattern, ...], Pattern]


def traversal_at(
    name: str,
    placed: Callable[[tuple[Pattern, ...]], Mapping[TreePath, Pattern]],
    doc: str,
    checked: Callable[[Pattern], Pattern] = lambda new: new,
) -> Traversal[tuple[Pattern, ...], Pattern]:
    """The traversal onto the patterns of a document that a function finds, by their paths.

    Args:
        name: what errors and ``repr`` call it.
        placed: finds them, each before those inside it.
        doc: what ``help`` says of it.
        checked: refuses what none of them may become.
    """

    def found(whole: Whole) -> Mapping[TreePath, Pattern]:
        patterns = (whole,) if isinstance(whole, Pattern) else whole
        if not isinstance(patterns, tuple) or not all(isinstance(e, Pattern) for e in patterns):
            raise FocusError(name, "the root", patterns, "expected a document or patterns")
        return placed(patterns)

    def with_others(whole: Whole, new: Iterable[Pattern]) -> Any:
        patterns = (whole,) if isinstance(whole, Pattern) else whole
        others = dict(zip(found(whole), new, strict=True))
        changed = _with_others(patterns, {path: checked(each) for path, each in others.items()})
        return changed[0] if isinstance(whole, Pattern) else changed

    return traversal_of(name, lambda whole: [*found(whole).values()], with_others, doc)


def _with_others(
    patterns: tuple[Pattern, ...], others: Mapping[TreePath, Pattern]
) -> tuple[Pattern, ...]:
    """The patterns with others at some paths, the innermost first.

    A new pattern that still holds an old inner one gets the new inner one instead.
    """
    rebuilt: dict[TreePath, Pattern] = {}
    for path, old in walk_up(patterns):
        below = [(each, rebuilt[(*path, index)]) for index, each in enumerate(old.elements)]
        rebuilt[path] = _with_elements(others.get(path, old), below)
    return tuple(rebuilt[(index,)] for index in range(len(patterns)))


def _with_elements(pattern: Pattern, changes: list[tuple[Pattern, Pattern]]) -> Pattern:
    """A pattern with each old element, where it still is one, replaced by the new."""
    if all(old is new for old, new in changes):
        return pattern
    waiting: dict[int, deque[Pattern]] = defaultdict(deque)
    for old, new in changes:
        waiting[id(old)].append(new)
    elements = (
        waiting[id(each)].popleft() if waiting.get(id(each)) else each for each in pattern.elements
    )
    return attrs.evolve(pattern, elements=tuple(elements))


def _agents(patterns: tuple[Pattern, ...]) -> dict[TreePath, Pattern]:
    return {path: each for path, each in walk(patterns) if is_agent(each)}


each_agent: Traversal[tuple[Pattern, ...], Pattern] = traversal_at(
    "each_agent", _agents, "Each agent of a document, at any depth.", as_agent.construct
)
"""Every agent of a document, at any depth, an agent before those inside it.

A change of every agent changes the agents inside others, too, where they are still inside after the
change. The laws hold for documents without agents inside agents, and in every document for parts
that an agent does not share with those inside it, such as ``each_agent & agent_model``.
"""

each_instruction: Traversal[tuple[Pattern, ...], str] = each_agent & agent_instruction
"""Every instruction of a document, at any depth."""
