"""The three sets of cases: for search, for choosing, and the last one.

A case's set follows from what is asked in it, so it is the same in every later search, whatever
other cases there are, in which order they are, and what they are called. What a case expects has
no part in it: a case whose answer is corrected has been seen in a search all the same. Cases of
one cluster are in one set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from attrs import evolve, frozen

from ..cases import Case

SetName: TypeAlias = Literal["search", "choosing", "last"]

_SHARES: Final[tuple[tuple[SetName, float], ...]] = (
    ("last", 0.5),
    ("choosing", 0.2),
    ("search", 0.3),
)
"""The last set decides, and what it can show grows with its cases: it gets half of them."""


def digest_of(case: Case) -> str:
    """A short text that is the same for cases that ask the same, or are of one cluster."""
    asked = [" ".join(case.message.split()).casefold(), *case.beside]
    text = "\0".join(asked if case.cluster is None else ["cluster", case.cluster])
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def alike_together(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Cases, of which those that ask the same are of one cluster: they count as one."""
    count = Counter(map(digest_of, cases))
    return tuple(
        evolve(each, cluster=each.cluster or digest) if count[digest] > 1 else each
        for each, digest in zip(cases, map(digest_of, cases), strict=True)
    )


def set_of(case: Case) -> SetName:
    """The set that a case is in."""
    place = int(digest_of(case), 16) / 16**16
    for name, share in _SHARES[:-1]:
        if place < share:
            return name
        place -= share
    return _SHARES[-1][0]


@frozen
class Sets:
    """Cases in their sets.

    Attributes:
        search: those whose runs a proposer sees.
        choosing: those by which one of the candidates is chosen.
        last: those that decide.
    """

    search: tuple[Case, ...]
    choosing: tuple[Case, ...]
    last: tuple[Case, ...]

    @classmethod
    def of(cls, cases: Iterable[Case]) -> Sets:
        """The sets of cases."""
        by_name: dict[SetName, list[Case]] = {"search": [], "choosing": [], "last": []}
        for each in cases:
            by_name[set_of(each)].append(each)
        return cls(**{name: tuple(each) for name, each in by_name.items()})
