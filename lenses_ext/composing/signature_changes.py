"""What changed in a signature, and for whom: callers, and the functions that implement a tool.

Both are judged by the comparison that binding uses. Callers are safe when the new signature takes
every call of the old one and returns what that declares, as an implementation would. A function of
the old signature binds to the new one when the same holds the other way round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from attrs import field, frozen

from gram import Pattern, freeze, write_value
from gram.display import element
from gram.editing import common_ends
from gram.trees import exact

from ..schemas import TEXTS, Difference, canonical, differences, dump_json
from ..signatures import (
    SignatureError,
    result_schema,
    signature_text,
    type_signature_to_json_schema,
)

Level: TypeAlias = Literal["major", "minor", "patch"]
"""What a change asks of those who use a program, as in semantic versions."""

_SHORT = 40
_LONG_TEXT = 100
_AROUND = 3


class Said(NamedTuple):
    """What changed in something, and what that means.

    Attributes:
        text: what changed.
        level: ``major`` when it breaks callers, ``minor`` when it adds something, else ``patch``.
        unbinds: whether functions that implement the tool no longer bind.
        behaves: whether agents behave in another way, though their interface is the same.
        is_detail: whether it changes no meaning: order, and another way to write the same.
    """

    text: str
    level: Level = "patch"
    unbinds: bool = False
    behaves: bool = False
    is_detail: bool = False


@frozen
class ProgramChange:
    """One change of a program, in the words of the language.

    Attributes:
        what: what changed, from the outside in, such as ``("agent `desk`", "tool `search`")``.
        said: what changed in it, and what that means.
        pattern: the pattern in the new program, or of the old one when it is gone.
    """

    what: tuple[str, ...]
    said: Said
    pattern: Pattern = field(eq=False, repr=False)

    def __str__(self) -> str:
        is_of_whole = self.said.text.startswith(("is ", "renamed ", "uses "))
        return ": ".join(self.what) + (" " if is_of_whole else ": ") + self.said.text


class ProgramChanges(tuple[ProgramChange, ...]):
    """The changes of a program, in the order of its text."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        rows = [[str(each.said.level), str(each)] for each in self] or [["nothing has changed"]]
        cells = ([element("td", cell, style="text-align:left") for cell in row] for row in rows)
        lines = "\n".join(map(" ".join, rows))
        table = element("table", (element("tr", each) for each in cells))
        return {"text/plain": lines, "text/html": table}


def differing(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """The keys under which two mappings have different values."""
    keys = sorted(old.keys() | new.keys())
    return [key for key in keys if exact(old.get(key)) != exact(new.get(key))]


def became(old: object, new: object) -> str:
    """Two values as text, each cut to what differs; None is a value that is not there.

    >>> became(10, 20), became("a", None)
    ('10 → 20', '"a" → none')
    >>> became("Always be kind to everybody who asks you.", "Always be kind to everybody who asks.")
    '"… to everybody who asks you." → "… to everybody who asks."'
    """
    if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > _SHORT:
        old, new = where_they_differ(old, new)
    return f"{shown(old)} → {shown(new)}"


def where_they_differ(old: str, new: str) -> tuple[str, str]:
    """Two texts, each cut to the words that differ and a few around them."""
    words = old.split(), new.split()
    if words[0] == words[1]:
        return old, new
    first, last = common_ends(*words)
    before, after = max(first - _AROUND, 0), max(last - _AROUND, 0)
    one, other = (
        " ".join([*["…"] * (before > 0), *each[before : len(each) - after], *["…"] * (after > 0)])
        for each in words
    )
    return one, other


def shown(value: object) -> str:
    """A value as text, cut to fit on a line; None is a value that is not there."""
    if isinstance(value, dict | list):  # JSON
        text = dump_json(value, compact=True)
    else:
        text = "none" if value is None else write_value(freeze(value), fences=False)
    return text if len(text) <= _LONG_TEXT else f"{text[:_LONG]}…"


_Schema: TypeAlias = dict[str, Any]
_NO_PARAMETERS: _Schema = {"type": "object"}
_NO_TYPE = (*TEXTS, "default")
_LONG = 90
_WITHOUT = {"type": "anything"}
"""What a schema means that lacks a keyword."""
_PARTS = ("properties", "required", "$defs")


def signature_changes(old: Pattern, new: Pattern) -> Iterator[Said]:
    """What changed between the signatures of two tools.

    Args:
        old: a tool, with the types that it uses.
        new: the same.
    """
    try:
        schemas = type_signature_to_json_schema(old), type_signature_to_json_schema(new)
        results = result_schema(old) or {}, result_schema(new) or {}
    except SignatureError:
        texts = [signature_text(each) or None for each in (old, new)]
        if texts[0] != texts[1]:
            note = "one of them has no meaning by itself, so it may break callers"
            yield Said(f"signature {became(*texts)} ({note})", "major", unbinds=True)
        return
    yield from _parameters(*schemas)
    yield from _result(*results)


def _parameters(old: _Schema, new: _Schema) -> Iterator[Said]:
    before, after = old.get("properties", {}), new.get("properties", {})
    renamed = _renamed(before, after)
    names = {renamed.get(name, name): name for name in before}
    for name in (name for name in names if name not in after):
        yield _judged(f"parameter `{name}` is removed", _alone(name, old), _NO_PARAMETERS)
    for name in after:
        if name in names:
            yield from _parameter(names[name], name, old, new)
        else:
            required = " and required" if name in new.get("required", ()) else ""
            text = f"parameter `{name}` is new{required}{_default_of(after[name])}"
            yield _judged(text, _NO_PARAMETERS, _alone(name, new))
    order = [[*names].index(name) for name in after if name in names]
    if order != sorted(order):
        yield Said(f"order of parameters is {', '.join(after)}", is_detail=True)
    whole = _with(new, old, _PARTS)
    if exact(whole) != exact(old):
        yield _judged(f"parameters: {_keys(old, whole)}", old, whole)


def _renamed(before: _Schema, after: _Schema) -> dict[str, str]:
    """The new names of parameters whose schema only one other has, before and after."""
    gone = {name: exact(before[name]) for name in before.keys() - after.keys()}
    come = {name: exact(after[name]) for name in after.keys() - before.keys()}
    counts = Counter(gone.values()), Counter(come.values())
    alone = {name: it for name, it in gone.items() if counts[0][it] == counts[1][it] == 1}
    return {name: new for name, it in alone.items() for new in come if come[new] == it}


def _parameter(old_name: str, name: str, old: _Schema, new: _Schema) -> Iterator[Said]:
    """What changed in one parameter: each aspect is judged as if it were the only change."""
    if old_name != name:
        yield Said(f"parameter `{old_name}` renamed `{name}`", "major", unbinds=True)
    one, other = old["properties"][old_name], new["properties"][name]
    none: _Schema = {"not": {}}
    one, other = (each if isinstance(each, dict) else {} if each else none for each in (one, other))
    was_required, required = old_name in old.get("required", ()), name in new.get("required", ())
    before = _of_one(name, one, was_required, old)
    where = f"parameter `{name}`"

    defaulted = _with(one, other, ("default",))
    if required != was_required:
        how = "required" if required else f"optional{_default_of(other)}"
        yield _judged(f"{where} is {how} now", before, _of_one(name, defaulted, required, old))
    elif exact(defaulted) != exact(one):
        default = became(one.get("default"), other.get("default"))
        text = f"{where} default {default} (callers that leave it out are affected)"
        said = _judged(text, before, _of_one(name, defaulted, required, old))
        yield said._replace(level="major") if "default" in one else said

    worded = _with(one, other, TEXTS)
    if exact(worded) != exact(one):
        after = _of_one(name, worded, was_required, old)
        said = _judged(f"{where} {_keys(one, worded)}", before, after)
        yield said._replace(level="patch", behaves=True)

    typed = _with(other, one, _NO_TYPE)
    if exact([typed, new.get("$defs")]) == exact([one, old.get("$defs")]):
        return
    after = _of_one(name, typed, was_required, new)
    breaks = differences(before, after, match="types")
    widens = differences(after, before, match="types")
    unbinds = bool(differences(after, before))
    if breaks or unbinds:
        note = "" if breaks and widens else " (narrower)" if breaks else " (wider)"
        keys = _keys(one, typed)
        said = _type_change(where, f"{keys}{note}" if keys else "", breaks, widens)
        yield said._replace(unbinds=unbinds)


def _result(old: _Schema, new: _Schema) -> Iterator[Said]:
    if exact(canonical(old)) == exact(canonical(new)):
        return
    breaks = differences(old, new, match="types", result=True)
    widens = differences(new, old, match="types", result=True)
    said = _type_change("returns", f"{_type(old)} → {_type(new)}", breaks, widens)
    if not old or not new:  # binding compares results that are declared
        said = Said(f"returns {_type(old)} → {_type(new)}", "minor" if new else "major")
    yield said._replace(unbinds=bool(widens))


def _type_change(
    what: str, text: str, breaks: Sequence[Difference], widens: Sequence[Difference]
) -> Said:
    """A change of a type; of a long one, the place of the first difference in it."""
    if not breaks and not widens:
        return Said(f"{what}: words in its type changed", behaves=True)
    place = str((*breaks, *widens)[0]).partition(": spec")[0]
    text = text if 0 < len(text) < _LONG else f"another type, at {place}"
    return Said(f"{what} {text}", "major" if breaks else "minor")


def _judged(text: str, before: _Schema, after: _Schema) -> Said:
    breaks = differences(before, after, match="types")
    return Said(text, "major" if breaks else "minor", bool(differences(after, before)))


def _alone(name: str, whole: _Schema) -> _Schema:
    """The schema of one of the parameters."""
    return _of_one(name, whole["properties"][name], name in whole.get("required", ()), whole)


def _of_one(name: str, schema: _Schema, required: bool, root: _Schema) -> _Schema:
    parameters = _with({"type": "object", "properties": {name: schema}}, root, ("$defs",))
    return {**parameters, "required": [name]} if required else parameters


def _with(schema: _Schema, other: _Schema, keys: Iterable[str]) -> _Schema:
    """A schema with what another has under some keys."""
    taken = {key: other[key] for key in keys if key in other}
    return {key: schema[key] for key in schema if key not in keys} | taken


def _keys(old: _Schema, new: _Schema) -> str:
    """The keywords that differ, with their values."""
    keys = differing(old, new)
    values = ((key, [it.get(key, _WITHOUT.get(key)) for it in (old, new)]) for key in keys)
    texts = [f"{key} {became(*both)}" for key, both in values]
    return ", ".join(text.replace('"', "") if text.startswith("type ") else text for text in texts)


def _type(schema: _Schema) -> str:
    kind = schema.get("type") if schema else "anything"
    return kind if isinstance(kind, str) and len(schema) < 2 else shown(schema)


def _default_of(schema: Any) -> str:
    has_default = isinstance(schema, dict) and "default" in schema
    return f" (default {shown(schema['default'])})" if has_default else ""
