"""Skills: texts that an agent's model reads when it needs them.

``skills: ["skills/refunds"]`` names folders. `lenses_ext.resolve` puts what their files say among
the elements of the agent, a pattern each: ``[refunds:Skill {description: "…", text: "…"}]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import attrs
from pyrsistent import PVector, pvector

from gram import Pattern, Subject
from gram.trees import carry_origin

from ..errors import PartError
from ..labels import SKILL, TOOL
from ..optics import Codec

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
