"""An immutable sequence that grows at its end, however long it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, Self, TypeAlias, TypeVar, overload

from attrs import frozen
from pyrsistent import PVector, pvector

T = TypeVar("T")

_CHUNK: Final = 64

_Parts: TypeAlias = tuple[PVector[tuple[T, ...]], tuple[T, ...]]


@frozen(init=False, repr=False)
class LongTuple(Sequence[T]):
    """A tuple to which items are added without copying the others.

    Python's garbage collector walks every item of each vector of pyrsistent that it looks at. A run
    has a State for each event, so that would cost the square of its length. Here most States have
    the same vector, and its items are tuples of many.

    >>> numbers = LongTuple(range(100)).extend([100])
    >>> len(numbers), numbers[-1], tuple(numbers[98:])
    (101, 100, (98, 99, 100))
    """

    _full: PVector[tuple[T, ...]]
    _last: tuple[T, ...]

    def __init__(self, items: Iterable[T] = ()) -> None:
        self.__attrs_init__(*_chunked(pvector(), tuple(items)))

    def extend(self, items: Iterable[T]) -> Self:
        """The sequence with these items behind it."""
        full, last = self._full, (*self._last, *items)
        if len(last) >= _CHUNK:
            full, last = _chunked(full, last)
        made = self.__new__(type(self))
        made.__attrs_init__(full, last)
        return made

    def append(self, item: T) -> Self:
        """The sequence with an item behind it."""
        return self.extend((item,))

    def __len__(self) -> int:
        return len(self._full) * _CHUNK + len(self._last)

    def __iter__(self) -> Iterator[T]:
        return chain(chain.from_iterable(self._full), self._last)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> T | Self:
        if isinstance(index, slice):
            return type(self)(map(self.__getitem__, range(len(self))[index]))
        chunk, within = divmod(range(len(self))[index], _CHUNK)
        return (self._full[chunk] if chunk < len(self._full) else self._last)[within]

    def __repr__(self) -> str:
        return f"LongTuple({list(self)!r})"


def _chunked(full: PVector[tuple[T, ...]], last: tuple[T, ...]) -> _Parts[T]:
    """Move what is enough for whole chunks from the last part to the full ones."""
    starts = range(0, len(last) - _CHUNK + 1, _CHUNK)
    more = full.extend(last[start : start + _CHUNK] for start in starts)
    return more, last[len(starts) * _CHUNK :]
