"""What may be typed at a place: labels, keys, names, models, types, paths of imports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from lsprotocol.types import CompletionItem, CompletionItemKind

from lenses_ext.labels import AGENT, ANSWER, LOOP, TOOL, WORKFLOW, kind_of
from lenses_ext.language import SETTINGS, SKILLS
from lenses_ext.names import SKILL_FILE
from lenses_ext.signatures import RESERVED
from lenses_ext.workflows import EACH, HANDOFF, OTHERWISE, WHEN

from ..completion.completing import models_of
from .open_files import Meaning, levels_at
from .told import told_of_key, vocabulary_of

_ARROWS: Final = (WHEN, OTHERWISE, EACH, HANDOFF)
_DEFINITIONS: Final = (AGENT, TOOL, WORKFLOW, LOOP)
_TYPES: Final = tuple(sorted(RESERVED))
_KEYS: Final = ("default", "description", "enum", "optional", "elementType", "minimum", "maximum")
_COLONS: Final = (":", "::")


def key_of(level: list[str]) -> str:
    """In a record, the key whose value is being typed."""
    if level[0] != "{":
        return ""
    start = max((at for at, each in enumerate(level) if each == ","), default=0)
    typed = level[start + 1 :]
    return typed[0].strip('`"') if typed[1:2] and typed[1] in _COLONS else ""


def completions(meaning: Meaning, offset: int) -> list[CompletionItem]:
    """What may be typed at an offset of a file."""
    levels = levels_at(meaning.file.text, offset)
    here, keys = levels[-1], [key for each in levels if (key := key_of(each))]
    if here[0] == "{" and not key_of(here):
        found = _keys(levels, keys)
    elif keys:
        found = _values(meaning, keys[-1])
    elif len(levels) > 1 and here[-1] in _COLONS:
        found = _labels(meaning, levels)
    else:
        found = _names(meaning, offset)
    return list(found)


def _holder(levels: list[list[str]]) -> int:
    """The level of the innermost pattern; 0 outside of all."""
    return max(at for at, each in enumerate(levels) if each[0] != "{")


def _is_of_arrow(levels: list[list[str]], at: int) -> bool:
    """Whether a bracket opens the label of an arrow, as in ``-[:WHEN``."""
    return levels[at - 1][-2][-1:] in ("-", "=", "~")


def _labels(meaning: Meaning, levels: list[list[str]]) -> Iterator[CompletionItem]:
    if _is_of_arrow(levels, len(levels) - 1):
        yield from _items(_ARROWS, CompletionItemKind.Keyword)
    elif levels[-1][0] == "(":
        programs = [each.names for each in meaning.both]
        types = (name for one in programs for scope in one.scopes for name in one.types_in(scope))
        yield from _items(_TYPES, CompletionItemKind.TypeParameter)
        yield from _items(types, CompletionItemKind.Struct)
    else:
        yield from _items((*_DEFINITIONS, ANSWER, *_TYPES), CompletionItemKind.Class)


def _keys(levels: list[list[str]], keys: list[str]) -> Iterator[CompletionItem]:
    holder = _holder(levels)
    labels = {word for mark, word in pairwise(levels[holder]) if mark in _COLONS}
    if not holder:
        yield from _items(("imports", "kind", "lint"), CompletionItemKind.Property)
    elif keys[-1:] == ["settings"]:
        yield from _items(SETTINGS, CompletionItemKind.Property)
    elif keys:
        return  # a map of one's own
    elif words := vocabulary_of(labels):
        for key in words.properties:
            told = told_of_key(words, key)
            yield CompletionItem(key, kind=CompletionItemKind.Property, documentation=told)
    elif _is_of_arrow(levels, holder):
        yield from _items(("is", "as", "at_once"), CompletionItemKind.Property)
    elif labels & RESERVED:
        yield from _items(_KEYS, CompletionItemKind.Property)


def _values(meaning: Meaning, key: str) -> Iterator[CompletionItem]:
    path = meaning.file.path
    if key == "imports" and path:
        found = (each for each in _below(path.parent, "*.gram") if each != path)
        yield from _items(_relative(found, path), CompletionItemKind.File)
    elif key == SKILLS and path:
        found = (each.parent for each in _below(path.parent, SKILL_FILE))
        yield from _items(_relative(found, path), CompletionItemKind.Folder)
    elif key in ("model", "models", "fallbacks"):
        models, providers = models_of([meaning.file.document])
        yield from _items([*models, *providers], CompletionItemKind.Value)
    elif key in ("elementType", "of"):
        yield from _items(_TYPES, CompletionItemKind.TypeParameter)


def _names(meaning: Meaning, offset: int) -> Iterator[CompletionItem]:
    """The agents, workflows and tools that are seen from an offset."""
    seen = {name: it for each in meaning.both for name, it in each.seen_at(offset).items()}
    for name, meant in seen.items():
        description = meant.value.properties.get("description")
        yield CompletionItem(
            name,
            kind=CompletionItemKind.Function,
            detail=kind_of(meant),
            documentation=description if isinstance(description, str) else None,
        )


def _below(folder: Path, name: str) -> list[Path]:
    """The files of a name below a folder, without those that are hidden."""
    found = sorted(folder.glob(f"**/{name}"))[:200]
    return [each for each in found if not any(part.startswith(".") for part in each.parts)]


def _relative(paths: Iterable[Path], file: Path) -> list[str]:
    return [each.relative_to(file.parent).as_posix() for each in paths]


def _items(words: Iterable[str], kind: CompletionItemKind) -> Iterator[CompletionItem]:
    return (CompletionItem(word, kind=kind) for word in dict.fromkeys(words))
