"""The folder of a search: what was proposed, and the experiments in which it was run.

.. code-block:: text

    search.gram     which search it is, then a line for each proposal
    proposals.db    a store with the runs of the proposer
    program-1/      the program on the cases for search: the folder of an experiment, as of `ab`
    candidate-1-1/  the first candidate on some cases; …-2/ on the others
    last-2/         the program and the second candidate on the last set

A search that is called again reads here what was done, and goes on behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import asdict, field, frozen

from gram import parse, write_atomically
from gram.documents import decode

from ...errors import ValidationError
from ...history.records import Reader, add_to_file, pattern_line
from ..experiments.entries import entry, read_entry
from .changes import Candidate

FILE: Final = "search.gram"


class OtherSearchError(ValidationError):
    """A folder holds a search of another program, or of other paths, cases or settings."""


def _an_object(_: object, __: object, given: Any) -> None:
    if not isinstance(given, Mapping | None):
        raise TypeError("texts must be a JSON object")


@frozen
class Proposal:
    """One answer of a proposer.

    Attributes:
        parent: the number of the candidate that it changes, 0 for the program.
        texts: all texts that may change, by path; None where it was refused.
        refused: why it was refused; empty if it was not.
        tokens: the tokens it took, or None if that is not known.
        cost: what it cost in US dollars, or None if that is not known.
    """

    parent: int
    texts: Candidate | None = field(default=None, validator=_an_object)
    refused: str = ""
    tokens: int | None = None
    cost: float | None = None


class Journal:
    """The folder of a search.

    Args:
        path: the folder, which need not be there yet.
        subject: a hash of what is searched: the program, the paths, the cases and the settings.
        drawn: an id and a seed for a search that begins.

    Attributes:
        id: the id of the search.
        seed: draws what the search draws.
        proposals: what was proposed before.

    Raises:
        OSError, GramDecodeError: the folder cannot be read or written.
        OtherSearchError: another search is in it.
    """

    def __init__(self, path: Path, subject: str, drawn: tuple[str, int]) -> None:
        self.path = path
        self.id, self.seed = drawn
        self.proposals: list[Proposal] = []
        self._subject = subject
        file = path / FILE
        if not file.exists():
            return
        text = decode(file.read_bytes(), str(file))
        patterns = parse(text[: text.rfind("\n") + 1], str(file)).patterns
        if not patterns:
            raise ValidationError(f"{file}: no search is in it; name another folder")
        head, *entries = patterns
        read = Reader(head, "Search", ("id", "seed", "subject"))
        if read.text("subject") != subject:
            raise OtherSearchError(
                f"{path}: another search is in this folder, of another program, other paths, "
                "cases or settings; name another folder"
            )
        self.id, self.seed = read.text("id"), read.number("seed")
        self.proposals = [read_entry(each, "Proposal", Proposal) for each in entries]

    def begin(self) -> None:
        """Make the folder, where that was not done; raises OSError where it cannot be made."""
        if not (self.path / FILE).exists():
            self.path.mkdir(parents=True, exist_ok=True)
            told = {"id": self.id, "seed": self.seed, "subject": self._subject}
            line = pattern_line(entry("Search", told))
            write_atomically(self.path / FILE, f"{line}\n", private=True)

    def add(self, proposal: Proposal) -> None:
        """Keep a proposal; raises OSError where it cannot be written."""
        told = asdict(proposal, recurse=False) | {"refused": proposal.refused or None}
        add_to_file(self.path / FILE, pattern_line(entry("Proposal", told)))
        self.proposals.append(proposal)
