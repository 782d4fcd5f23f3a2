"""Shrinks a recorded run that fails: the smallest program, replies and results that still do.

What can be made smaller is any value: parts of it are left out for as long as something still holds
of it. That is delta debugging (Zeller and Hildebrandt 2002, Simplifying and isolating
failure-inducing input, IEEE TSE 28, 183-200), level by level of the tree (Misherghi and Su 2006,
HDD, ICSE 28, 142-151).
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, TypeAlias, TypeVar

from attrs import define, evolve, field, fields_dict, frozen
from pyrsistent import PMap, PVector, pmap, pvector

from gram import GramError, Pattern, walk, write_atomically
from gram.errors import expect

from ...errors import ConfigurationError, ModelError, ReplayError
from ...execution import LiveHandler, ModelChoice, named_model
from ...history.records import PathLike, RecordedRun, program_text, run_text, save_context
from ...history.stores import load_run
from ...json_text import write_json
from ...machine import Limits, Message, ModelReplied, State, context_before
from ...programs import callable_in
from ...running import Run
from ...tools import LibraryLike, ToolLibrary, library_of
from ..cases.judging import Case, Check, answer_of
from ..testing import SUFFIX
from .scenario import NoResultError, Scenario, Spot, scenario_of

_Path: TypeAlias = tuple[Any, ...]
"""Where a part is: keys and indexes from the outside in."""

V = TypeVar("V")


Place: TypeAlias = tuple[_Path, bool, Any]
"""Where a part is: its path, whether the value may be without it, and what it is a part of."""


def minimal(
    value: V,
    holds: Callable[[V], bool],
    *,
    held: Collection[str] = (),
) -> V:
    """A smallest value of which something holds: without any one part more, it does not.

    The parts are elements and properties of patterns, items of arrays and maps, lines and words of
    texts. Where none may go alone, some are tried together: an element with those beside it that it
    names, as an arrow with its nodes, and items at the same index of arrays of the same length.

    Args:
        holds: whether it holds of a smaller value; False for one that cannot be.
        held: the properties of patterns, and attributes of `FIELDS`, that stay as they are.
    """
    parts = _Parts(held)
    while True:
        before, depth, left = value, 1, list[Place]()
        while level := list(parts.of(value, depth)):
            removable = [[path] for path, may_go, _ in level if may_go]
            value = _without_most(value, removable, parts, holds)
            left += level
            depth += 1
        joined = _joined(left) if value is before else iter(())
        while value is before:
            if (units := next(joined, None)) is None:
                return value
            value = _without_most(value, units, parts, holds)


def _without_most(
    value: V, units: Sequence[Sequence[_Path]], parts: _Parts, holds: Callable[[V], bool]
) -> V:
    """A value without as many units of parts as may go: all, then halves, then each alone."""
    start, gone, size = value, list[_Path](), len(units)
    while size:
        left = [unit for unit in units if not any(path in gone for path in unit)]
        for index in range(0, len(left), size):
            chunk = [path for unit in left[index : index + size] for path in unit]
            smaller = parts.without(start, [*gone, *chunk])
            if holds(smaller):
                value, gone = smaller, [*gone, *chunk]
        size = min(size - 1, (size + 1) // 2)
    return value


def _joined(places: Sequence[Place]) -> Iterator[list[tuple[_Path, ...]]]:
    """Parts that may only go together, in groups of which many may go at once."""
    arrays: dict[_Path, list[_Path]] = {}
    elements = dict[_Path, Pattern]()
    for path, _, whole in places:
        if isinstance(whole, list | tuple | PVector):
            arrays.setdefault(path[:-1], []).append(path)
        elif isinstance(whole, Pattern) and isinstance(path[-1], int):
            elements[path] = whole.elements[path[-1]]
    for one, two in combinations(arrays.values(), 2):
        if len(one) == len(two):
            yield list(zip(one, two, strict=True))
    for path, element in elements.items():
        names = {each.value.identity for _, each in walk(element.elements)} - {""}
        named = [node for node, each in elements.items() if each.value.identity in names]
        above = {path[:size] for size in range(len(path) + 1)}
        named = [each for each in named if each[:-1] in above and each not in above]
        for nodes in (*([node] for node in named), named):
            yield [(path, *nodes)]


class _Word(str):
    """A word of a text, which has no parts."""

    __slots__ = ()


class _Parts:
    def __init__(self, held: Collection[str]) -> None:
        self.held = held

    def of(self, value: object, depth: int) -> Iterator[Place]:
        """The places of the parts that are so deep."""
        for key, part in self._opened(value)[0].items():
            if depth == 1:
                yield (key,), type(value) not in FIELDS, value
            else:
                for path, may_go, whole in self.of(part, depth - 1):
                    yield (key, *path), may_go, whole

    def without(self, value: Any, paths: Collection[_Path]) -> Any:
        """A value without the parts at some paths."""
        inside: dict[Any, list[_Path]] = {}
        for key, *rest in paths:
            inside.setdefault(key, []).append(tuple(rest))
        parts, closed = self._opened(value)
        left = {key: part for key, part in parts.items() if () not in inside.get(key, ())}
        left |= {key: self.without(left[key], inside[key]) for key in left.keys() & inside.keys()}
        return closed(left)

    def _opened(self, value: Any) -> tuple[Mapping[Any, Any], Callable[[Mapping[Any, Any]], Any]]:
        """The parts of a value by their keys, and what makes one of those that are left."""
        if names := FIELDS.get(type(value)):
            own = {name: getattr(value, name) for name in names if name not in self.held}
            return own, lambda left: evolve(value, **left)
        match value:
            case Pattern():
                properties = sorted(value.value.properties.items())
                own = {key: each for key, each in properties if key not in self.held}
                return {**dict(enumerate(value.elements)), **own}, partial(self._closed, value)
            case str() if not isinstance(value, _Word):
                return dict(enumerate(_pieces(value))), lambda left: "".join(left.values())
            case PMap():
                return value, pmap
            case Mapping():
                return value, dict
            case PVector():
                return dict(enumerate(value)), lambda left: pvector(left.values())
            case list() | tuple():
                return dict(enumerate(value)), lambda left: type(value)(left.values())
        return {}, lambda _: value

    def _closed(self, pattern: Pattern, left: Mapping[Any, Any]) -> Pattern:
        subject = pattern.value
        kept = {key: each for key, each in subject.properties.items() if key in self.held}
        properties = pmap(kept | {key: each for key, each in left.items() if isinstance(key, str)})
        elements = tuple(each for key, each in left.items() if isinstance(key, int))
        return evolve(pattern, value=evolve(subject, properties=properties), elements=elements)


def _pieces(text: str) -> list[str]:
    """The lines of a text, or the words of one line, each with the blanks around it."""
    lines = text.splitlines(keepends=True)
    pieces = lines if len(lines) > 1 else re.findall(r"\s*\S+\s*$|\s*\S+|\s+$", text)
    return [_Word(each) if lines != pieces or len(each.split()) < 2 else each for each in pieces]


FIELDS: Final[Mapping[type, Collection[str]]] = {
    Scenario: tuple(fields_dict(Scenario)),
    Spot: ("says", "arguments", "result", "inside", "nodes"),
    Message: ("content",),
}
"""The classes of ours with attributes whose parts may go; the attributes themselves stay."""

HELD: Final = frozenset({"given", "attachments", "context", "asked", "instruction", "description"})
"""What the recorded replies answer, which is held fixed with them."""

ASKED: Final = frozenset({"asked", "model"})
"""What says which model is asked, which is held where one is."""

MOST_RUNS: Final = 2_000
"""How many runs shrinking may take, where nothing else is said."""


@frozen
class Shrunk:
    """A run that was made smaller, and still fails.

    Attributes:
        state: the State in which it ended.
        library: what is recorded of the tools that it still has.
        before: the State in which the recorded run ended.
        runs: how many runs it took.
        requests: how many requests were made to a model; 0 where replies were held fixed.
        failed: how many of its runs failed, and of how many; it was kept for that, so that new
            runs fail less often.
        is_minimal: whether nothing more can go; else the runs were spent before that was known.
        replies_held: whether the recorded replies were held fixed.
    """

    state: State
    library: tuple[Pattern, ...]
    before: State
    runs: int
    requests: int
    failed: tuple[int, int]
    is_minimal: bool
    replies_held: bool


def shrink(
    run: RecordedRun | PathLike,
    while_: Check | None = None,
    *,
    says: bool = True,
    live: bool = False,
    model: ModelChoice | Callable[..., Any] = None,
    tools: LibraryLike = None,
    repeats: int | None = None,
    at_least: int | None = None,
    runs: int = MOST_RUNS,
    progress: Callable[[Shrunk], None] | None = None,
) -> Shrunk:
    """Find a smallest run that fails as a recorded one does.

    By default the recorded replies are held fixed, and with them what they answer: the message,
    instructions and descriptions. Their data shrinks, and so do events, tools and properties. With
    ``live``, the model is asked anew in each run, and instructions, descriptions and messages
    shrink, too; calls get the recorded results of equal calls.

    Args:
        run: the run, or its address.
        while_: a check that says whether a response still fails; None where the run raises an
            error, which has to be of the same kind.
        says: what the check has to say; False for a check that is passed by what does not fail.
        live: whether a model is asked: ``model``, or that of the run.
        model: who is asked with ``live``: a model, a function of a request, or a name.
        tools: tools that are run instead of the recorded results, or, with ``live``, for calls that
            were not recorded; none that is marked ``once`` is run.
        repeats: how often something smaller is run; 5 if it is live, else once.
        at_least: how many of these runs have to fail; more than half by default.
        runs: how many runs it may take.
        progress: is told of each run that is smaller.

    Raises:
        ReplayError: the run does not fail when it is run again.
        ConfigurationError: ``at_least`` is more than ``repeats``, or the model cannot be asked.
        OSError, GramError: the run cannot be read.
    """
    kept = run if isinstance(run, RecordedRun) else load_run(run)
    expect(runs, int, "runs", by="shrink")
    live = live or model is not None
    repeats = repeats or (5 if live else 1)
    at_least = at_least or repeats // 2 + 1
    if at_least > repeats:
        raise ConfigurationError(f"at_least is {at_least}, and there are {repeats} repeats")
    asked: Any = model
    if callable(model) and not hasattr(model, "complete"):
        asked = SimpleNamespace(complete=model)
    library = None if tools is None else library_of(tools, by="shrink")
    oracle = _Oracle(kept, while_, says, live, asked, library, repeats, at_least, runs, progress)
    whole = scenario_of(kept, with_replies=not live)
    is_failing = is_minimal = False
    with suppress(_SpentError):
        is_failing = oracle.fails(whole)
    if not is_failing:
        told = f"the run does not fail when it is run again ({oracle.failed} of {oracle.done} runs)"
        hint = (
            "\n  hint: a check that good runs pass has not before it: --while 'not …', says=False"
        )
        why = f"{oracle.why or 'nothing was raised'}{hint if while_ and says else ''}"
        raise ReplayError(f"{kept.placed(told)}; {why}")
    if not live and oracle.runs < runs and not oracle.fails(whole):
        same = "a check has to say the same of the same run"
        raise ReplayError(kept.placed(f"it fails, and then not: {oracle.why}; {same}"))
    with suppress(_SpentError):
        minimal(whole, oracle.fails, held=ASKED if live else HELD)
        is_minimal = True
    return oracle.shrunk(is_minimal=is_minimal)


class _SpentError(Exception):
    """The runs are spent."""


@define
class _Oracle:
    """Says whether something smaller still fails."""

    kept: RecordedRun
    check: Check | None
    says: bool
    live: bool
    model: Any
    tools: ToolLibrary | None
    repeats: int
    at_least: int
    most: int
    progress: Callable[[Shrunk], None] | None
    known: set[bytes] = field(factory=set)
    runs: int = 0
    requests: int = 0
    failed: int = 0
    done: int = 0
    error: type[Exception] | None = None
    why: str = ""
    best: tuple[State, tuple[int, int]] | None = None

    def fails(self, scenario: Scenario) -> bool:
        """Whether a scenario fails often enough.

        Raises:
            _SpentError: the runs are spent.
        """
        key = sha256(pickle.dumps(scenario)).digest()
        if key in self.known:
            return False
        self.failed = self.done = 0
        last, named = None, named_model(self.model)
        asked = {**scenario.asked, "model": named} if named else scenario.asked
        while self.failed < self.at_least <= self.failed + self.repeats - self.done:
            try:
                state = evolve(scenario, asked=asked).start()
            except GramError as error:  # such a program cannot be
                self.why = str(error)
                break
            if self.runs >= self.most:
                raise _SpentError
            self.runs += 1
            self.done += 1
            if (ended := self._failed(state, scenario)) is not None:
                self.failed, last = self.failed + 1, ended
        if last is None or self.failed < self.at_least:
            self.known.add(key)
            return False
        self.best = last, (self.failed, self.done)
        if self.progress:
            self.progress(self.shrunk(is_minimal=False))
        return True

    def _failed(self, state: State, scenario: Scenario) -> State | None:
        """The State in which a run failed; None if it did not."""
        model = LiveHandler.of(state, model=self.model) if self.live else None
        run = Run[Any](state, handler=scenario.handler(model, self.tools))
        response, self.why = None, ""
        try:
            response = run.finish()
        except NoResultError as error:
            self.why = str(error)
            return None
        except Exception as error:  # a fault of the interpreter is what somebody may look for
            self.why = f"it raised {type(error).__name__}: {error}"
            is_refused = isinstance(error, ModelError) and error.status in (400, 413, 422)
            is_of_model = isinstance(error, ModelError | ConfigurationError)
            if self.check and is_of_model and not is_refused and run.state.stopped is None:
                raise  # the model cannot be asked, whatever the program; it may refuse smaller ones
            is_same = self.check is None and type(error) is (self.error or type(error))
            self.error = self.error or type(error)
            return run.state if is_same else None
        finally:
            if model:
                self.requests += sum(isinstance(each, ModelReplied) for each in run.state.events)
        if self.check is None:
            return None
        name = getattr(self.check, "__name__", "check")
        case = Case(name="shrunk", input=scenario.given)
        answer, self.why = answer_of(name, self.check, response, case)
        return run.state if answer is self.says else None  # one that raises says nothing

    def shrunk(self, *, is_minimal: bool) -> Shrunk:
        """The smallest run so far."""
        assert self.best
        state, failed = self.best
        names = callable_in(state.agent)
        library = tuple(each for each in self.kept.library if each.value.identity in names)
        counts = self.runs, self.requests, failed
        return Shrunk(state, library, self.kept.state, *counts, is_minimal, not self.live)


PROGRAM: Final = "program.gram"
CASES: Final = "cases.jsonl"
BEFORE: Final = "before.gram"
RUN: Final = f"recordings/{CASES}/shrunk{SUFFIX}"
"""Where ``gram test`` looks for the recording of the case."""


def write_folder(
    shrunk: Shrunk, folder: str | Path, check: str | None = None, *, says: bool = True
) -> list[str]:
    """Write a shrunk run to a folder, which is made if it is not there.

    Args:
        shrunk: the run.
        folder: the folder.
        check: the name of the check that said that it fails; None for none.
        says: what the check says of a run that fails; the case expects the opposite.

    Returns:
        What the case has no place for; the run file has it.

    Raises:
        OSError: a file cannot be written.
    """
    state, place = shrunk.state, Path(folder)
    run = state.beginning.run
    row = {"program": PROGRAM, "name": "shrunk", "input": run.given.value}
    if check:
        row |= {"not": {"checks": [check]}} if says else {"checks": [check]}
    (place / RUN).parent.mkdir(parents=True, exist_ok=True)
    if before := context_before(state):
        row["after"] = BEFORE
        save_context(place / BEFORE, before)
    write_atomically(place / PROGRAM, program_text(state.agent)[0].rstrip("\n") + "\n")
    write_atomically(place / CASES, f"{write_json(row)}\n")
    write_atomically(place / RUN, run_text(state, shrunk.library))
    own = {"files": run.attachments, "model": run.model, "settings": run.settings}
    return [name for name, each in own.items() if each] + ["limits"] * (run.limits != Limits())
