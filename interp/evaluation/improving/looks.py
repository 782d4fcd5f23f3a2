"""The looks that were taken at last sets, kept beside the cases.

.. code-block:: text

    (:Look {cases: ["04be…", "9c1d…"], p: 0.031, program: "desk.gram", search: "3f2a…",
      verdict: "not shown to be better"})

A case decides in at most five looks. A look is written before the runs of the last set begin, so
that stopping them takes nothing back; a search that goes on has its look already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path

from attrs import frozen

from gram import Pattern, Subject, parse
from gram.documents import decode, holding

from ...errors import ValidationError
from ...history.records import Reader, pattern_line, without_empty, write_text
from ..cases import Case
from .deciding import LOOKS
from .sets import digest_of


@frozen
class Look:
    """One look at a last set.

    Attributes:
        search: which search looked.
        cases: the digests of the cases.
        program: the name of the program.
        verdict: what it said; empty until that is known.
        p: the p-value, or None until it is known.
    """

    search: str
    cases: tuple[str, ...]
    program: str
    verdict: str = ""
    p: float | None = None

    @classmethod
    def read(cls, pattern: Pattern) -> Look:
        """Read a look; raises ValidationError with its place."""
        read = Reader(pattern, "Look", ("search", "cases", "program", "verdict", "p"))
        read.without_elements()
        return cls(
            read.name("search"),
            tuple(read.names("cases")),
            read.text("program"),
            read.text("verdict", ""),
            read.seconds("p"),
        )

    @property
    def line(self) -> str:
        """The look as gram."""
        told = {"verdict": self.verdict, "program": write_text(self.program), "search": self.search}
        properties = {**without_empty(told), "cases": [*self.cases]}
        if self.p is not None:
            properties["p"] = self.p
        return pattern_line(Pattern(Subject("", {"Look"}, properties)))


@frozen
class Looks:
    """The file of the looks at cases.

    Its methods raise OSError where it cannot be read or written, GramDecodeError where it is not
    gram, and ValidationError, whose faults have their places, where something else is in it.

    Attributes:
        file: the file, which need not be there yet.
    """

    file: Path

    @classmethod
    def beside(cls, cases: Path) -> Looks:
        """Those of a file of cases."""
        return cls(cases.with_name(f"{cases.name}.looks.gram"))

    def before(self, cases: Iterable[Case], search: str) -> tuple[tuple[Case, ...], int, bool]:
        """The cases that may decide once more, how often one of them has in earlier searches,
        and whether this search has looked at them."""
        looks = self._read()
        earlier = _earlier(looks, search)
        count = _count(earlier)
        unspent = tuple(each for each in cases if count[digest_of(each)] < LOOKS)
        most = max((count[digest_of(each)] for each in unspent), default=0)
        return unspent, most, len(earlier) < len(looks)

    def take(self, look: Look) -> int:
        """Write a look, in the place of what was written of the same search.

        Returns:
            How often one of its cases has decided before.

        Raises:
            ValidationError: that is too often: other searches were quicker.
        """
        with holding(self.file) as held:
            looks = self._read()
            earlier = _earlier(looks, look.search)
            before = max((_count(earlier)[each] for each in look.cases), default=0)
            if before >= LOOKS:
                raise ValidationError(
                    f"{self.file}: other searches have decided by the last set meanwhile, "
                    f"{before} of them, so this one cannot: add new cases"
                )
            later = looks[len(earlier) + 1 :]
            held.write("".join(f"{each.line}\n" for each in [*earlier, look, *later]))
        return before

    def expect_writable(self) -> None:
        """Raise OSError where no look could be written."""
        with holding(self.file):
            pass

    def _read(self) -> list[Look]:
        if not self.file.exists():
            return []
        text = decode(self.file.read_bytes(), str(self.file))
        return [Look.read(each) for each in parse(text, str(self.file)).patterns]


def _earlier(looks: Sequence[Look], search: str) -> list[Look]:
    return [*takewhile(lambda each: each.search != search, looks)]


def _count(looks: Iterable[Look]) -> Counter[str]:
    return Counter(digest for each in looks for digest in each.cases)
