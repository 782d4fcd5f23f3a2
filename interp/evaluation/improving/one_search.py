"""One search from its first run to its sentence."""

from __future__ import annotations

from pathlib import Path
from random import Random

from attrs import evolve, frozen

from gram.plurals import counted

from ...errors import ValidationError
from .budget import BudgetEndedError
from .changes import Candidate
from .deciding import leaves_room, verdict_of
from .improvement import Improvement
from .looks import Look, Looks
from .searching import Search, choose
from .sets import Sets, digest_of
from .world import Runs


@frozen
class OneSearch:
    """A search whose parts have been checked.

    Attributes:
        world: runs candidates and asks the proposer.
        sets: the cases; of the last set, those that may decide.
        looks: the file of looks.
        look: which look at the last set it is.
    """

    world: Runs
    sets: Sets
    looks: Looks
    look: int

    def carried_out(
        self, search: Search[Candidate], tries: int, folder: Path | None
    ) -> Improvement:
        """Search, choose and test.

        Args:
            search: the way to search.
            tries: how many changes are proposed, at most.
            folder: the folder that stays, or None.
        """
        world, texts = self.world, None
        start = dict(world.changeable.texts)
        try:
            reason = self._without_room(start)
            if not reason:
                texts, reason = self._chosen(start, search, tries)
        except BudgetEndedError:
            reason = (
                "the budget does not reach the last test; with a larger one, the search goes on"
            )
        after = world.changeable.program if texts is None else world.changeable.with_texts(texts)
        found = Improvement(
            verdict="not shown to be better",
            reason=reason,
            before=world.changeable.program,
            after=after,
            texts=texts,
            experiment=None,
            look=self.look,
            spent=world.spent,
            proposed=world.asked,
            refused=tuple(each.refused for each in world.journal.proposals if each.refused),
            folder=folder,
        )
        return found if texts is None else self._tested(found, start, texts)

    def _chosen(
        self, start: Candidate, search: Search[Candidate], tries: int
    ) -> tuple[Candidate | None, str]:
        """The texts that are chosen; None, and why, where none are."""
        world, names = self.world, [each.name for each in self.sets.search]
        rng = Random(world.journal.seed)
        pool = search(start, names, world, max(tries, len(world.journal.proposals)), rng)
        done = counted(len(pool) - 1, "candidate")
        self.world.tell(f"{done} did well enough to be run on all cases for search; {world.spent}")
        if not world.asked and not world.affords(len(names)):
            raise BudgetEndedError
        chosen = choose(pool, [each.name for each in self.sets.choosing], world)
        if chosen is None:
            return None, (
                "no candidate did better than the program on the cases for search and for "
                "choosing, so the last set was not asked"
            )
        if not world.affords_last(2 * len(self.sets.last)):
            raise BudgetEndedError
        return chosen.candidate, ""

    def _without_room(self, start: Candidate) -> str:
        """Why no gain could be shown, after the first runs of the program; empty if one could."""
        names = [each.name for each in self.sets.search]
        scores = self.world.measure(start, names)
        if problem := self.world.why_no_score:
            return (
                "no run of the program has a score; when that is mended, begin anew in another "
                f"folder: {problem}"
            )
        spent, most = self.world.spent, self.world.allowance.runs
        if spent.runs:
            whole = spent.rate(most)
            self.world.tell(f"the program took {spent}; at that rate, all of it takes {whole}")
        if not all(isinstance(each, bool) for each in scores.values()):
            return ""
        passed, last = int(sum(scores.values())), len(self.sets.last)
        if leaves_room(passed, len(names), last):
            return ""
        return (
            f"the program passes {passed} of {counted(len(names), 'case')}, so that even one that "
            f"passes all of the last {last} could not be shown to be better; add harder cases"
        )

    def _tested(self, found: Improvement, start: Candidate, texts: Candidate) -> Improvement:
        """One look at the last set."""
        world, number = self.world, self.world.candidates.index(texts)
        digests = tuple(sorted({digest_of(each) for each in self.sets.last}))
        look = Look(world.journal.id, digests, str(found.before.filename))
        found = evolve(found, look=self.looks.take(look) + 1)
        experiment = world.experiment(
            {"program": start, "candidate": texts},
            [each.name for each in self.sets.last],
            f"last-{number}",
        )
        if not experiment.comparisons:
            raise ValidationError("; ".join(experiment.notes))
        comparison = experiment.comparison()
        verdict = verdict_of(comparison)
        self.looks.take(evolve(look, verdict=verdict, p=comparison.p_value))
        return evolve(found, verdict=verdict, experiment=experiment, spent=world.spent)
