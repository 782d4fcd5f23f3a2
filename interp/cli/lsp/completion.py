"""What may be typed at a place: labels, keys, names, models, types, paths of imports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path

from attrs import define, field
from lsprotocol.types import CompletionItem, CompletionItemKind

from gram.reading import tokens
from lenses_ext import find_agents
from lenses_ext.labels import AGENT, ANSWER, LOOP, TOOL, WORKFLOW, kind_of
from lenses_ext.language import SETTINGS, SKILLS
from lenses_ext.names import SKILL_FILE
from lenses_ext.signatures import RESERVED
from lenses_ext.workflows import EACH, HANDOFF, OTHERWISE, WHEN

from ...models import OFFLINE, known_providers
from .open_files import Meaning
from .told import told_of_key, vocabulary_of


class What(Enum):
    """What is typed at a place."""

    LABEL = "label"
    KEY = "key"
    VALUE = "value"
    NAME = "name"


@define
class Bracket:
    """A bracket that is open at a place.

    Attributes:
        mark: ``(``, ``[`` or ``{``.
        before: the token before it.
        name: the identity that was typed in it.
        labels: the labels that were typed in it.
        nodes: how many nodes the path has that is being typed in it.
        key: in a record, the key whose value is being typed.
    """

    mark: str
    before: str
    name: str = ""
    labels: set[str] = field(factory=set)
    nodes: int = 0
    key: str = ""


@define
class Context:
    """Where something is typed.

    Attributes:
        what: what can be typed there.
        begun: what is typed of it already.
        around: the brackets that are open, the outermost first.
    """

    what: What
    begun: str
    around: list[Bracket]

    @property
    def record(self) -> Bracket | None:
        """The innermost record around it."""
        return self.around[-1] if self.around and self.around[-1].mark == "{" else None

    @property
    def holder(self) -> Bracket | None:
        """The innermost pattern around it."""
        return next((each for each in reversed(self.around) if each.mark != "{"), None)

    @property
    def keys(self) -> list[str]:
        """The keys around what is typed, the outermost first."""
        return [each.key for each in self.around if each.mark == "{" and each.key]


def context_at(text: str, offset: int) -> Context:
    """What is typed at an offset.

    >>> context_at("[a:Agent {mo", 12).what, context_at("[a:Ag", 5).what
    (<What.KEY: 'key'>, <What.LABEL: 'label'>)
    """
    around: list[Bracket] = []
    last = begun = ""
    for token in tokens(text, 0, offset):
        spelling = text[token.start : token.end]
        if not spelling:
            break
        before, last = last, spelling
        begun = spelling if token.end == offset and spelling[0] not in "([{}]),|:" else ""
        here = around[-1] if around else Bracket("", "")
        if spelling in ("(", "[", "{"):
            here.nodes += spelling == "("
            around.append(Bracket(spelling, before))
        elif spelling in (")", "]", "}"):
            around = around[:-1]
        elif here.mark == "{":
            if spelling in (":", "::"):
                here.key = before.strip('`"')
            elif spelling == ",":
                here.key = ""
        elif spelling in ("|", ","):
            here.nodes = 0
        elif before in (":", "::") and not begun:
            here.labels.add(spelling)
        elif before == here.mark:
            here.name = spelling.strip("`")
        if begun:
            last = before
    return Context(_what(around, last), begun, around)


def _what(around: list[Bracket], last: str) -> What:
    if not around:
        return What.NAME
    here = around[-1]
    if here.mark == "{":
        return What.VALUE if here.key else What.KEY
    if any(each.mark == "{" and each.key for each in around):
        return What.VALUE  # in a list
    return What.LABEL if last in (":", "::") else What.NAME


def completions(meaning: Meaning, offset: int) -> list[CompletionItem]:
    """What may be typed at an offset of a file."""
    context = context_at(meaning.file.text, offset)
    match context.what:
        case What.LABEL:
            return list(_labels(meaning, context))
        case What.KEY:
            return list(_keys(context))
        case What.VALUE:
            return list(_values(meaning, context))
        case What.NAME:
            return list(_names(meaning, offset))


_ARROWS = (WHEN, OTHERWISE, EACH, HANDOFF)
_DEFINITIONS = (AGENT, TOOL, WORKFLOW, LOOP)
_TYPES = tuple(sorted(RESERVED))


def _labels(meaning: Meaning, context: Context) -> Iterator[CompletionItem]:
    here = context.around[-1]
    if here.before and here.before[-1] in "-=~":
        yield from _items(_ARROWS, CompletionItemKind.Keyword)
    elif here.mark == "(":
        programs = [each.names for each in meaning.both]
        types = (name for one in programs for scope in one.scopes for name in one.types_in(scope))
        yield from _items(_TYPES, CompletionItemKind.TypeParameter)
        yield from _items(types, CompletionItemKind.Struct)
    else:
        yield from _items((*_DEFINITIONS, ANSWER, *_TYPES), CompletionItemKind.Class)


def _keys(context: Context) -> Iterator[CompletionItem]:
    holder, keys = context.holder, context.keys
    if holder is None:
        yield from _items(("imports", "kind", "lint"), CompletionItemKind.Property)
    elif keys[-1:] == ["settings"]:
        yield from _items(SETTINGS, CompletionItemKind.Property)
    elif keys:
        return  # a map of one's own
    elif words := vocabulary_of(holder.labels):
        for key in words.properties:
            told = told_of_key(words, key)
            yield CompletionItem(key, kind=CompletionItemKind.Property, documentation=told)
    elif holder.before and holder.before[-1] in "-=~":
        yield from _items(("is", "as", "at_once"), CompletionItemKind.Property)
    elif holder.labels & RESERVED:
        known = ("default", "description", "enum", "optional", "elementType", "minimum", "maximum")
        yield from _items(known, CompletionItemKind.Property)


def _values(meaning: Meaning, context: Context) -> Iterator[CompletionItem]:
    key = context.keys[-1] if context.keys else ""
    if key == "imports" and context.holder is not None and meaning.file.path:
        yield from _items(_paths(meaning.file.path), CompletionItemKind.File)
    elif key == SKILLS and meaning.file.path:
        yield from _items(_folders(meaning.file.path), CompletionItemKind.Folder)
    elif key in ("model", "models", "fallbacks"):
        yield from _items(_models(meaning), CompletionItemKind.Value)
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


def _models(meaning: Meaning) -> Iterator[str]:
    yield str(OFFLINE)
    for each in find_agents(meaning.file.document):
        model = each.value.properties.get("model")
        if isinstance(model, str):
            yield model
    for name in known_providers():
        yield f"{name}/"


def _paths(file: Path) -> Iterator[str]:
    """The gram files below the folder of a file, and beside it."""
    for each in sorted(file.parent.glob("**/*.gram"))[:200]:
        if each != file and not any(part.startswith(".") for part in each.parts):
            yield each.relative_to(file.parent).as_posix()


def _folders(file: Path) -> Iterator[str]:
    """The folders of skills below the folder of a file."""
    for each in sorted(file.parent.glob(f"**/{SKILL_FILE}"))[:200]:
        yield each.parent.relative_to(file.parent).as_posix()


def _items(words: Iterable[str], kind: CompletionItemKind) -> Iterator[CompletionItem]:
    return (CompletionItem(word, kind=kind) for word in dict.fromkeys(words))
