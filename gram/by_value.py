"""Equality, hash and text of classes of attrs, written once instead of for each class.

attrs writes the source of these methods for every class and compiles it: half of what it takes to
make a class. Those that every start makes inherit them from `ByValue`, which makes them as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar

from attrs import Attribute, fields


class ByValue:
    """A base of classes made with ``@frozen(eq=False, repr=False)``: equal if their parts are.

    >>> from attrs import frozen
    >>> @frozen(eq=False, repr=False)
    ... class Point(ByValue):
    ...     x: int
    ...     y: int
    >>> Point(1, 2), Point(1, 2) == Point(1, 2), Point(1, 2) == (1, 2)
    (Point(x=1, y=2), True, False)
    """

    __slots__ = ()
    _compared: ClassVar[Callable[[Any], object]]

    @classmethod
    def __attrs_init_subclass__(cls) -> None:
        names = [each.name for each in _parts_of(cls) if each.eq]
        cls._compared = attrgetter(*names) if names else type

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        kind = type(self)
        if type(other) is not kind:
            return NotImplemented
        return kind._compared(self) == kind._compared(other)

    def __hash__(self) -> int:
        return hash(type(self)._compared(self))

    def __repr__(self) -> str:
        shown = []
        for each in _parts_of(type(self)):
            if each.repr:
                show = each.repr if callable(each.repr) else repr
                shown.append(f"{each.name}={show(getattr(self, each.name))}")
        return f"{type(self).__qualname__.rpartition('>.')[2]}({', '.join(shown)})"


def _parts_of(kind: Any) -> tuple[Attribute[Any], ...]:
    found: tuple[Attribute[Any], ...] = fields(kind)
    return found
