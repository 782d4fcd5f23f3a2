"""What all agents and workflows of one run share: the program, what they may do, what they used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from attrs import evolve, field, frozen
from pyrsistent import PMap, pmap

from gram import Pattern, Value
from lenses_ext import Model

from .approval import ApprovalPolicy, allow_all
from .effects import At, Verdict
from .limits import Limits
from .messages import Usage

_NOTHING: Final = Usage(0, 0)


@frozen
class Shared:
    """What is the same for all frames of a run.

    Attributes:
        program: the agent or workflow that is run, with the agents that are handed over to.
        model: the model to ask; None for those that the program names.
        limits: how much the run may do.
        policy: which tools it may run, and which it asks about.
        settings: settings of the models instead of those that the program has; None leaves out.
        check_results: whether results have to be of the types that the program declares.
        usage: the tokens so far, unknown once a reply did not say.
        counted: the tokens that replies have reported, which the limits are about.
        calls: how many tools have been called.
        called: how often each of them, by the name that models know, in the order of the names.
        limit: the limit at which the whole run has stopped, or None.
        run_id: a name for the run, drawn by whoever begins it; it makes the keys of tool calls
            differ between runs. It is not compared: two runs may end in equal States.
        verdicts: while an event is folded that says how it was taken, or is asked how it is taken:
            what is said, by what it is said of and where; see `interp.machine.verdicts`.
    """

    program: Pattern
    model: Model | None
    limits: Limits
    policy: ApprovalPolicy = allow_all
    settings: PMap[str, Value | None] = pmap()
    check_results: bool = True
    usage: Usage = _NOTHING
    counted: Usage = _NOTHING
    calls: int = 0
    called: tuple[tuple[str, int], ...] = ()
    limit: str | None = None
    run_id: str = field(default="", eq=False)
    verdicts: dict[tuple[str, At], str] | None = field(default=None, eq=False, repr=False)

    def told_by(self, event: object) -> Shared:
        """The same while an event is folded, for the verdicts that it has."""
        told: tuple[Verdict, ...] = getattr(event, "verdicts", ())
        if not told:
            return self
        return evolve(self, verdicts={(each.of, each.at): each.said for each in told})

    def said_of(self, of: str, at: At, judge: Callable[[], str]) -> str:
        """A verdict: the one that is told, else what is judged now, kept if it is asked for.

        Args:
            of: what it is said of, see `Verdict`.
            at: where that is.
            judge: what says it.
        """
        known = self.verdicts
        if known is None:
            return judge()
        if (of, at) not in known:
            known[of, at] = judge()
        return known[of, at]
