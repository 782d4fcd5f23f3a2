"""What if one thing had been otherwise: a recorded run goes on many times, with it and without."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from attrs import define, evolve, field, frozen

from gram import GramError, Pattern
from gram.words import did_you_mean

from ... import machine
from ...concurrency import work_on
from ...errors import AgentError, ReplayError, RunExistsError, ValidationError
from ...execution import LiveHandler, ModelChoice, named_model
from ...history.records import RecordedRun, RecordedStep, Replayer, event_line, program_text
from ...history.stores import RunFacts, RunStore, StoredRun
from ...json_text import Json, write_json
from ...machine import At, Event, ModelReplied, State, ToolEffect, ToolFinished
from ...models import Dialect
from ...running import Run
from ...tools import LibraryLike, library_of
from ..cases.judging import Case, Checks, answer_of, require_checks
from ..experiments.chance import ALPHA, Interval, detectable, fisher, newcombe, require_statistics
from ..experiments.metrics import short_hash
from .scenario import Answers, NoResultError, by_call


@frozen
class Sample:
    """Continuations of one kind.

    Attributes:
        right: how many were right.
        ended: how many ended at a call without a result.
        runs: the ids of all of them.
        is_varied: whether any two of them differ.
        faults: what was wrong with checks that did not answer, a text for each continuation.
    """

    right: int
    ended: int
    runs: tuple[str, ...]
    is_varied: bool = True
    faults: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.runs)


@define(frozen=True, slots=False)
class WhatIf:
    """A comparison of continuations of a run.

    Attributes:
        subject: what was changed, in words.
        is_of_unchanged: whether the subject is what the unchanged run has; else the changed one.
        unchanged: the continuations of the unchanged run.
        changed: those with the change.
    """

    subject: str
    is_of_unchanged: bool
    unchanged: Sample
    changed: Sample

    @cached_property
    def _extremes(self) -> tuple[tuple[int, int, int, int], tuple[int, int, int, int]]:
        """The right ones of each, and of how many, if all that ended had gone one way.

        First against the change, then for it.
        """
        one, two = self.unchanged, self.changed
        against = one.right + one.ended, one.size, two.right, two.size
        return against, (one.right, one.size, two.right + two.ended, two.size)

    @cached_property
    def difference(self) -> Interval:
        """The share of right ones with the change less that without, at 95 %."""
        low, high = (newcombe(*each) for each in self._extremes)
        return Interval(low.low, high.high)

    @cached_property
    def p(self) -> float:
        """The p-value of Fisher's exact test; the largest for any outcome of those that ended."""
        low, high = (two / of_two - one / of_one for one, of_one, two, of_two in self._extremes)
        return 1.0 if low * high <= 0 else max(fisher(*each) for each in self._extremes)

    @property
    def made_the_difference(self) -> bool:
        """Whether chance alone makes such a difference in at most 5 % of comparisons."""
        return self.p <= ALPHA

    def lines(self) -> list[str]:
        """The verdict, in words, a sentence a line."""
        arms = [self.unchanged, self.changed]
        with_it, without = arms if self.is_of_unchanged else reversed(arms)
        found = f"{self.subject} made the difference"
        if not self.made_the_difference:
            found = f"not shown that {self.subject} makes a difference"
        rate = self.changed.right / self.changed.size - self.unchanged.right / self.unchanged.size
        low, high = self.difference.low, self.difference.high
        told = [
            f"{found}: {with_it.right} of {with_it.size} right with it, "
            f"{without.right} of {without.size} without",
            f"the change: {100 * rate:+.0f} points (95 %: {100 * low:+.0f} to {100 * high:+.0f}); "
            f"Fisher's exact test: p = {self.p:.2g}",
        ]
        for name, arm in (("without", self.unchanged), ("with", self.changed)):
            if arm.faults:
                told.append(
                    f"{len(arm.faults)} of {arm.size} {name} the change count as wrong, since a "
                    f"check did not answer: {arm.faults[0]}"
                )
            if arm.ended:
                told.append(
                    f"{arm.ended} of {arm.size} {name} the change ended at a call without a "
                    "result: the figures allow for any outcome of them"
                )
        if self.changed.size > 1 and not (self.unchanged.is_varied or self.changed.is_varied):
            told.append(
                "all of each are the same, word for word: of a model that does not vary, one says "
                "as much as many, and the figures do not hold"
            )
        if not self.made_the_difference:
            least = detectable(self.changed.size)
            told.append(
                f"{self.changed.size} continuations of each cannot show any difference"
                if least is None
                else f"{self.changed.size} of each find a difference of {100 * least:.0f} points "
                "in four of five comparisons, and smaller ones less often"
            )
        return told


Outcome: TypeAlias = Literal["right", "wrong", "ended"]
"""What a continuation came to; it ends where a call has no recorded result and no stand-in."""

_CALL: Final = (machine.ToolReturned, machine.CallFailed)
_CHANGED: Final[Mapping[str, tuple[type[Event], ...]]] = {
    "result": _CALL,
    "error": _CALL,
    "allowed": (machine.Decided,),
    "reason": (machine.Decided,),
    "reply": (ModelReplied,),
}
"""What may be set, and which events have it."""


@frozen
class Change:
    """A change in a continuation of a run.

    Attributes:
        at: the position of what is changed, or from which on another model or program is asked.
        values: what is set there: the ``result`` or the ``error`` of a call, whether a person
            ``allowed`` it and the ``reason`` for a no, or the text of the model's ``reply``.
        model: the model that is asked from there on.
        program: the program from there on.

    Raises:
        ValidationError: a value cannot be set, is not of its type, or not beside another.
    """

    at: At
    values: Mapping[str, Json] = field(factory=dict)
    model: ModelChoice = None
    program: Pattern | None = None

    def __attrs_post_init__(self) -> None:
        for name, value in self.values.items():
            if name not in _CHANGED:
                hint = did_you_mean(name, _CHANGED) or f"it is one of {', '.join(_CHANGED)}"
                raise ValidationError(f"{name} cannot be set; {hint}")
            kind = {"allowed": bool, "result": object}.get(name, str)
            if not isinstance(value, kind):
                wanted = "true or false" if kind is bool else "a text"
                raise ValidationError(f"{name} must be {wanted}, found {write_json(value)}")
        if len(self.values) > 1 and self.values.keys() != {"allowed", "reason"}:
            raise ValidationError(f"{' and '.join(self.values)} cannot be set together")


Beginning: TypeAlias = tuple[State, tuple[RecordedStep, ...]]
"""What a continuation begins with: a State, and the steps that led from it to where it goes on."""


def _begin(store: RunStore, run: str, parent: str, kept: RecordedRun, begun: Beginning) -> None:
    """Make a run in a store that goes on from a beginning."""
    first, steps = begun
    facts = store.row(parent).facts
    own = RunFacts("", parent=parent, tenant=facts.tenant, priority=facts.priority)
    entries = [*map(event_line, steps)]
    state = steps[-1].state if steps else first
    log = StoredRun(store, run, facts=own)
    log.begin(state.with_run_id(run), kept.library, entries)


def beginnings(kept: RecordedRun, change: Change) -> tuple[Beginning, Beginning]:
    """How the unchanged run and the changed one begin.

    Raises:
        ReplayError: nothing at the position is what the change is about, or the changed run does
            not come to it.
    """
    kept.check()
    place = _place(kept, change)
    events = [each.event for each in kept.steps[:place]]
    here = kept.steps[place].event
    first = machine.start_again(kept.first, change.program).state if change.program else kept.first
    own, others = ([here], [_changed(here, change.values)]) if change.values else ([], [])
    if own and own == others:
        told = f"{_dotted(change.at)} has this {' and '.join(change.values)} already"
        raise ReplayError(kept.placed(told))
    try:
        unchanged = tuple(map(Replayer(kept.first).take, [*events, *own]))
        changed = tuple(map(Replayer(first).take, [*events, *others]))
    except GramError as error:
        told = f"the changed run does not come to {_dotted(change.at)}: {error}"
        raise ReplayError(kept.placed(told)) from None
    happened = changed[-1].happened if "result" in change.values else ()
    for each in happened:  # the model would be told that the tool has failed
        if isinstance(each, ToolFinished) and each.at == change.at and each.invocation.error:
            raise ReplayError(kept.placed(each.invocation.error))
    return (kept.first, unchanged), (first, changed)


def write_fork(store: RunStore, run: str, change: Change) -> str:
    """Make one run that begins like another, with a change, and give its id."""
    kept, new = store.recorded(run), os.urandom(8).hex()
    _begin(store, new, run, kept, beginnings(kept, change)[1])
    return new


def what_if(
    store: RunStore,
    run: str,
    change: Change,
    checks: Checks,
    *,
    repeats: int = 20,
    model: ModelChoice = None,
    base_url: str | None = None,
    dialect: Dialect | None = None,
    tools: LibraryLike = None,
    jobs: int = 4,
    progress: Callable[[Outcome], None] | None = None,
) -> WhatIf:
    """Let a recorded run go on many times, unchanged and with a change, and compare the two.

    No recorded tool is called: a call gets the result of the recorded one with the same arguments.
    The continuations are kept in the store, under ids that follow from what they are: those that
    are there are not run again, and those that were broken off go on.

    Args:
        store: the store, in which the run is.
        run: its id.
        change: the change.
        checks: functions by name; a continuation is right if all of them say yes.
        repeats: how many continuations of each of the two.
        model: who is asked in both; by default the run's own.
        base_url, dialect: see `interp.running.RunOptions`.
        tools: tools that may be run for calls that were not recorded; none that is marked ``once``.
        jobs: how many continuations go on at once.
        progress: is told of each continuation that is over.

    Raises:
        ReplayError: nothing at the position is what the change is about.
        ModelError: a model did not answer; the same call goes on.
        ValidationError: there are no checks.
        ConfigurationError: the extra for statistics is missing, or the model cannot be asked.
    """
    require_statistics()
    if not checks or repeats < 1:
        raise ValidationError("what is right is said by at least one check, of at least one run")
    kept = store.recorded(run)
    case = Case(name=run, input=kept.first.run.given.value)
    require_checks([], checks)
    library = library_of(tools, by="what_if")
    arms = dict(zip(("unchanged", "changed"), beginnings(kept, change), strict=True))
    found = dict[tuple[str, int], tuple[str, Outcome, str, State]]()
    program = program_text(arms["changed"][0].agent)[0]
    models = [str(named_model(model) or ""), str(change.model or "")]
    facts = write_json([run, change.at, dict(change.values), *models, program])

    async def go_on(which: tuple[str, int]) -> None:
        arm, number = which
        begun, new = arms[arm], short_hash(f"{facts} {arm} {number}")
        with suppress(RunExistsError):  # it was begun before, and goes on
            _begin(store, new, run, kept, begun)
        log, own = StoredRun.of(store, new)
        chosen = (change.model if arm == "changed" else None) or model
        asked = LiveHandler.of(own.state, model=chosen, base_url=base_url, dialect=dialect)
        calls = (
            (by_call(each.effect, each.effect.name, each.effect.arguments), each.event)
            for each in (*begun[1], *kept.steps[len(begun[1]) :])
            if isinstance(each.effect, ToolEffect)
        )
        handler = Answers(calls, library, asked)
        for step in own.steps:  # what it has had already
            if isinstance(step.effect, ToolEffect):
                handler.take(step.effect)
        named = chosen if named_model(chosen) else None
        run_on = Run[Any](own.state, model=named, record=log, handler=handler)
        ended = await _ended(run_on, case, checks)
        found[which] = new, *ended
        if progress:
            progress(ended[0])

    work_on([(arm, number) for number in range(repeats) for arm in arms], go_on, jobs)
    samples = [_sample([found[arm, number] for number in range(repeats)]) for arm in arms]
    return WhatIf(_subject(kept, change), bool(change.values), *samples)


async def _ended(run: Run[Any], case: Case, checks: Checks) -> tuple[Outcome, str, State]:
    """What a continuation comes to, which check did not answer and why, and its last State."""
    try:
        is_done = run.state.status is machine.Status.DONE
        said = machine.response(run.state) if is_done else await run.afinish()
    except NoResultError:
        return "ended", "", run.state
    except AgentError:
        if run.state.stopped is None:
            raise
        return "wrong", "", run.state  # it is over, and nobody gets an answer
    answers = [answer_of(name, check, said, case) for name, check in checks.items()]
    fault = next((why for answer, why in answers if answer is None), "")
    return ("right" if all(answer for answer, _ in answers) else "wrong"), fault, run.state


def _sample(found: Sequence[tuple[str, Outcome, str, State]]) -> Sample:
    runs, outcomes, faults, states = zip(*found, strict=True)
    is_varied = any(each.events != states[0].events for each in states)
    told = tuple(filter(None, faults))
    return Sample(outcomes.count("right"), outcomes.count("ended"), runs, is_varied, told)


def _place(kept: RecordedRun, change: Change) -> int:
    """The index of the step that a change is about."""
    kinds = tuple(kind for name in change.values for kind in _CHANGED[name]) or (object,)
    fitting = [number for number, each in enumerate(kept.steps) if isinstance(each.event, kinds)]
    for number in fitting:
        if kept.steps[number].event.at == change.at:
            return number
    known = [_dotted(each) for number in fitting if (each := kept.steps[number].event.at)]
    what = " and ".join(change.values) or "event"
    some = f"there is one at {', '.join(known[:8])}" if known else "the run has none"
    hint = did_you_mean(_dotted(change.at), known) or some
    raise ReplayError(kept.placed(f"no {what} was recorded at {_dotted(change.at)}; {hint}"))


def _changed(event: Event, values: Mapping[str, Json]) -> Event:
    """An event with other values."""
    match event:
        case ModelReplied():
            message = evolve(event.message, content=values["reply"], tool_calls=())
            return ModelReplied(event.at, message)
        case machine.Decided():
            return evolve(event, **values)
    if "error" in values:
        return machine.CallFailed(event.at, values["error"])
    return machine.ToolReturned(event.at, write_json(values["result"]))


def _subject(kept: RecordedRun, change: Change) -> str:
    """What is compared, in words."""
    if not change.values:
        other = [f"the model {change.model}"] if change.model else []
        return " and ".join([*other, *(["the other program"] if change.program else [])])
    effect = kept.steps[_place(kept, change)].effect
    what = next(iter(change.values))
    if isinstance(effect, ToolEffect):
        what = "answer about" if what in ("allowed", "reason") else "result of"
        return f"this {what} `{effect.name}`"
    return f"this {what} at {_dotted(change.at)}"


def _dotted(at: At) -> str:
    """A position as traces show it."""
    return ".".join(map(str, at))
