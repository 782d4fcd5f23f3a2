"""The lens onto a property of any type, or onto a value inside it."""

from __future__ import annotations

from typing import Any

from pyrsistent import PMap, pmap

from gram import Pattern, Value

from .errors import FocusError
from .optics import Lens, lens_of
from .pattern_optics import with_property, without_property


def any_property(key: str, *inside: str) -> Lens[Pattern, Value | None]:
    """The lens onto a property, or along ``inside`` onto an entry of the map it is.

    What is absent is None, and setting None removes it. Get-put and put-get hold always. Put-put
    holds of a property; along ``inside`` it fails where a map on the way is missing, since setting
    makes that map and setting None again leaves it, empty.

    >>> from gram import dumps, loads_one
    >>> from lenses_ext import put
    >>> agent = loads_one("(a {settings: {seed: 1}})")
    >>> dumps(put(any_property("settings", "seed"), 2, agent))
    '(a {settings: {seed: 2}})'
    """
    name = ".".join((key, *inside))
    optic, path = f"property({name!r})", f"value.properties.{name}"

    def entries(pattern: Pattern, value: Any, depth: int) -> PMap[str, Value]:
        if value is None:
            return pmap()
        if not isinstance(value, PMap):
            where = ".".join((key, *inside[:depth]))
            found = type(value).__name__
            raise FocusError(optic, path, pattern, f"{where} is not a map but {found}")
        return value

    def get(pattern: Pattern) -> Value | None:
        value: Any = pattern.value.properties.get(key)
        for depth, step in enumerate(inside):
            value = entries(pattern, value, depth).get(step)
        found: Value | None = value
        return found

    def set_(pattern: Pattern, new: Any) -> Pattern:
        value = changed(pattern, pattern.value.properties.get(key), 0, new)
        if value is None:
            return without_property(pattern, key)
        return with_property(optic, pattern, key, value)

    def changed(pattern: Pattern, value: Any, depth: int, new: Any) -> Any:
        if depth == len(inside):
            return new
        around: Any = entries(pattern, value, depth)
        below = changed(pattern, around.get(inside[depth]), depth + 1, new)
        if below is not None:
            return around.set(inside[depth], below)
        return value if value is None else around.discard(inside[depth])  # no map for nothing

    return lens_of(optic, get, set_)
