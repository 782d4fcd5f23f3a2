"""The plan of an experiment, and the folder that keeps it with its results and runs.

.. code-block:: text

    (:Experiment {format: 1, hash: "3f2a…", primary: "passed", repeats: 1, seed: 42})
    [:Arm {name: "A", model: "OpenAI/gpt-5.6-luna"} | [hello:Agent {…}], [:Library | …]]
    (:Metric {name: "passed", better: "higher"})
    (:Case {name: "greets", input: "I am Alice"})

It is written before anything runs. Its hash is that of everything else in it, so that a plan that
was edited is found, and an experiment that goes on is known to be the same one.

.. code-block:: text

    plan.gram       what is compared, written before anything runs
    results.gram    a line for each trial, in the order in which they ended
    runs.db         a store with the run of each trial, as `gram run --record` writes it

A line of the results is whole when its line end is there; what a killed process left of one is cut
off. Each line has a digest of itself and the plan, so that results that were edited, or are
another experiment's, are found.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from difflib import unified_diff
from functools import cached_property
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from attrs import asdict, evolve, field, frozen

import gram
from gram import Pattern, TaggedString, dumps
from gram.documents import decode, holding, resolved
from gram.errors import expect
from gram.words import counted
from lenses_ext import Model, write_program

from ...errors import ValidationError
from ...history import records
from ...history.stores import Address
from ...json_text import write_json
from ...machine import ApprovalPolicy, Limits
from ...tools import Tool
from ..cases import Case, ExpectedCall
from ..testing import file_name
from .arms import ReadyArm
from .chance import ALPHA, POWER, findable, findable_rate, smallest_p
from .comparing import Better, Contrast, Levels, clusters_of, contrasts_of
from .metrics import Metric, Score, Trial, code_of, short_hash

T = TypeVar("T")


def entry(label: str, told: Mapping[str, Any], elements: Iterable[Pattern] = ()) -> Pattern:
    """A pattern whose properties say something; equal things are equal texts.

    What is None is left out. What is no text, number, true or false becomes JSON, but for tagged
    strings.
    """
    properties = {key: _property(value) for key, value in told.items() if value is not None}
    return Pattern(gram.Subject("", {label}, properties), elements)


def _property(value: Any) -> gram.Value:
    if isinstance(value, str):
        return records.write_text(value)
    if isinstance(value, bool | int | float | TaggedString):
        return value
    text = json.dumps(value, sort_keys=True, default=_plain)
    return TaggedString("json", write_json(json.loads(text)))


def _plain(value: Any) -> Any:
    if isinstance(value, ExpectedCall):
        return value.to_json()
    return dict(value) if isinstance(value, Mapping) else list(value)


def entries_of(file: Path) -> tuple[Pattern, ...]:
    """The whole lines of a file of entries; none where there is no file."""
    if not file.exists():
        return ()
    content = file.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    return gram.parse(decode(whole, str(file)), str(file)).patterns


def read_entry(pattern: Pattern, label: str, make: Callable[..., T]) -> T:
    """What ``make`` makes of the properties of an entry.

    Raises:
        ValidationError: it is something else; the fault has its place.
    """
    read = records.Reader(pattern, label, pattern.value.properties)
    told: dict[str, Any] = {}
    for key, value in read.properties.items():
        if isinstance(value, TaggedString) and value.tag == "json":
            told[key] = read.json_value(key).value
        else:
            told[key] = read.text(key) if isinstance(value, str | TaggedString) else value
    try:
        return make(**told)
    except (LookupError, TypeError, ValueError) as error:
        read.refuse("ill-typed", f"this is no whole {label}: {error.args[0]}")


Key: TypeAlias = tuple[str, int, str]
"""A trial: the name of its case, which repeat it is, the name of its arm."""

FORMAT = 1
EXPERIMENT = "Experiment"


@frozen
class PlannedMetric:
    """A `Metric` as a plan has it, without its function, and with a hash of its code if known."""

    name: str
    better: Better
    worst: float | bool | None = None
    code: str = ""


@frozen
class Plan:
    """What an experiment is, decided before anything runs.

    Attributes:
        arms: the names of the arms; the first is the baseline.
        metrics: the metrics that are tested.
        primary: the name of the metric that decides.
        levels: the level of each factor, by arm; empty without factors.
        cases: the cases that are compared, as far as a plan has them.
        pilot: the cases that say what the others will take, and are not compared.
        repeats: how often each arm runs each case.
        seed: draws the order of the runs, and the numbers that the statistics need.
        head: the first pattern of the plan as gram, without its hash.
        parts: the others: its arms, metrics and cases.
    """

    arms: tuple[str, ...]
    metrics: tuple[PlannedMetric, ...]
    primary: str
    levels: Mapping[str, Levels]
    cases: tuple[Case, ...] = field(repr=False)
    pilot: tuple[Case, ...] = field(repr=False)
    repeats: int
    seed: int
    head: Pattern = field(repr=False)
    parts: tuple[Pattern, ...] = field(repr=False)

    @cached_property  # each result is signed with it
    def hash(self) -> str:
        """The hash of the plan."""
        return _hash((self.head, *self.parts))

    @property
    def text(self) -> str:
        """The plan as gram, with its hash."""
        head = Pattern(_marked(self.head, "hash", self.hash).value)
        return gram.format_text(write_program((head, *self.parts)))

    @cached_property
    def contrasts(self) -> tuple[Contrast, ...]:
        """What is compared."""
        return contrasts_of(self.arms, self.levels)

    @property
    def alpha(self) -> float:
        """How often one of its tests may find what is not there, at most."""
        return ALPHA / max(1, len(self.metrics) * len(self.contrasts))

    @property
    def pilot_keys(self) -> tuple[Key, ...]:
        """The trials of the pilot, in the order in which they run."""
        return tuple((case.name, 0, arm) for case in self.pilot for arm in self.arms)

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """The trials in the order of the plan: case, repeat, arm."""
        return tuple(product([case.name for case in self.cases], range(self.repeats), self.arms))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each case by its name, as the names of runs have it."""
        return {case.name: number for number, case in enumerate((*self.cases, *self.pilot), 1)}

    @property
    def order(self) -> tuple[Key, ...]:
        """The trials in the order in which they run.

        The cases and repeats are in random order, and so are the arms within each of them: what
        changes while an experiment runs, such as a server's load, meets all arms alike.
        """
        rng, arms = random.Random(self.seed), self.arms
        blocks = list(product([case.name for case in self.cases], range(self.repeats)))
        rng.shuffle(blocks)
        return tuple((*block, arm) for block in blocks for arm in rng.sample(arms, len(arms)))

    def differences(self, other: Plan) -> str:
        """What differs between this plan and another one, as a diff."""
        mine, its = (
            gram.format_text(write_program((each.head, *each.parts))).split("\n")
            for each in (self, other)
        )
        return "\n".join([*unified_diff(mine, its, n=1, lineterm="")][2:])


def make_plan(
    arms: Sequence[ReadyArm],
    metrics: Sequence[Metric],
    cases: Sequence[Case],
    *,
    primary: str,
    levels: Mapping[str, Levels] = {},  # it is only read
    pilot: int = 0,
    repeats: int,
    seed: int,
) -> Plan:
    """Make the plan of an experiment from its parts, which have been checked."""
    head = {"format": FORMAT, "primary": primary, "repeats": repeats, "seed": seed}
    parts = [entry(EXPERIMENT, head | {"pilot": pilot or None})]
    parts += [_arm_entry(each, levels.get(each.name)) for each in arms]
    for each in metrics:
        told = {name: getattr(each, name) for name in ("name", "better", "worst")}
        parts.append(entry("Metric", {**told, "code": each.code or None}))
    return plan_from_patterns([*parts, *map(_case_entry, cases)])


def plan_from_patterns(patterns: Sequence[Pattern], *, has_hash: bool = False) -> Plan:
    """Read a plan; one that was written must have its hash.

    Raises:
        ValidationError: it is not a plan, it was edited, or another version wrote it; the fault
            has its place.
    """
    head, *others = patterns
    keys = ("format", "hash", "primary", "repeats", "seed", "pilot")
    read = records.Reader(head, EXPERIMENT, keys)
    if read.number("format") != FORMAT:
        hint = "it was written by another version of this package"
        read.refuse("other-format", f"the format is not {FORMAT}", "format", hint)
    bare = _marked(head, "hash")
    if has_hash and read.text("hash", "") != _hash((bare, *others)):
        hint = "a plan stays as it was when the experiment began; begin another in a new folder"
        read.refuse("edited-plan", "the plan was edited: its hash is of another one", hint=hint)
    parts: dict[str, list[Pattern]] = {"Arm": [], "Metric": [], "Case": []}
    for each in others:
        parts[records.expect_one_of(parts, each)].append(each)
    arms = dict(read_entry(each, "Arm", _arm_of) for each in parts["Arm"])
    cases = [read_entry(each, "Case", _case_of) for each in parts["Case"]]
    seed, set_aside = read.number("seed"), read.number("pilot")
    drawn = {each.name for each in random.Random(f"pilot {seed}").sample(cases, set_aside)}
    pilot = tuple(each for each in cases if each.name in drawn)
    compared = tuple(each for each in cases if each.name not in drawn)
    metrics = tuple(read_entry(each, "Metric", PlannedMetric) for each in parts["Metric"])
    levels = {arm: levels for arm, levels in arms.items() if levels}
    what = tuple(arms), metrics, read.text("primary"), levels, compared, pilot
    return Plan(*what, read.number("repeats"), seed, bare, tuple(others))


def _hash(patterns: tuple[Pattern, ...]) -> str:
    return sha256(dumps(patterns).encode()).hexdigest()


def _marked(pattern: Pattern, key: str, value: str | None = None) -> Pattern:
    """A pattern with another value of a property, or without it."""
    properties = pattern.value.properties
    properties = properties.discard(key) if value is None else properties.set(key, value)
    return evolve(pattern, value=evolve(pattern.value, properties=properties))


# --- the parts


def _arm_entry(ready: ReadyArm, levels: Levels | None) -> Pattern:
    arm, limits = ready.arm, ready.arm.limits or Limits()
    named = isinstance(arm.model, str | Model | None)
    told = {
        "name": ready.name,
        "levels": levels and [*levels.items()],
        "model": str(ready.model) if named else described(arm.model),
        "baseUrl": arm.base_url,
        "dialect": arm.dialect,
        "settings": arm.settings,
        "limits": asdict(limits, recurse=False, filter=lambda each, value: value != each.default),
        "match": arm.match if arm.match != "full" else None,
        "policy": arm.policy and dumps(arm.policy.to_pattern()),
        "withoutResultChecks": arm.check_results is False,
    }
    library = entry("Library", {}, map(tool_entry, ready.library.values()))
    return entry("Arm", records.without_empty(told), [ready.agent, library])


def described(given: Any) -> str:
    """What a plan can know of a value, the same in another process.

    It is the value as text; of an object or a function its name, and its code if it can be read.
    """
    if isinstance(given, str | int | float | Mapping | Model | Limits | ApprovalPolicy | None):
        return str(given)
    name = getattr(given, "__qualname__", type(given).__qualname__)
    return f"{name} {code_of(given)}".rstrip()


def tool_entry(tool: Tool) -> Pattern:
    """A tool as a plan has it: what it is called with, and its code if it can be read."""
    told = {
        "name": tool.name,
        "description": tool.description,
        "schema": tool.schema,
        "code": code_of(tool.function),
    }
    return entry("Implementation", records.without_empty(told))


def _case_entry(case: Case) -> Pattern:
    more = {name: getattr(case, name) for name in ("tags", "cluster", "columns")}
    told = {"name": case.name, "input": case.input, **case.expectations}
    if told.get("expected", "") is None:
        told["expected"] = TaggedString("json", "null")  # it is expected, not left out
    if case.beside:
        told["beside"] = sha256("\0".join(case.beside).encode(errors="surrogatepass")).hexdigest()
    return entry("Case", told | records.without_empty(more))


def _arm_of(name: str, levels: Sequence[tuple[str, str]] = (), **_: object) -> tuple[str, Levels]:
    """The name of an arm, and its level of each factor."""
    return name, dict(levels)


def _case_of(beside: str | None = None, **told: Any) -> Case:
    """The case of an entry, without what was given beside its input: the hash is of that, too."""
    return Case(**{"not_" if key == "not" else key: value for key, value in told.items()})


_PLAN, _RESULTS, _RUNS = "plan.gram", "results.gram", "runs.db"


@frozen
class Folder:
    """The folder of an experiment; its methods raise OSError where it cannot be used."""

    path: Path

    @property
    def has_plan(self) -> bool:
        """Whether an experiment has been begun in it."""
        return (self.path / _PLAN).exists()

    def read_plan(self) -> Plan:
        """The plan.

        Raises:
            OSError: there is no such folder, or it cannot be read.
            GramDecodeError, ValidationError: the folder has no such file, or it was edited.
        """
        file, patterns = self.path / _PLAN, tuple[Pattern, ...]()
        if self.has_plan or not self.path.is_dir():
            patterns = gram.parse(decode(file.read_bytes(), str(file)), str(file)).patterns
        if not patterns:
            raise ValidationError(f"{file}: no experiment is in this folder")
        return plan_from_patterns(patterns, has_hash=True)

    def begin(self, plan: Plan) -> None:
        """Make the folder and write the plan, before anything runs."""
        self.path.mkdir(parents=True, exist_ok=True)
        gram.write_atomically(self.path / _PLAN, plan.text, private=True)
        (self.path / _RESULTS).touch(0o600)

    def held(self) -> AbstractContextManager[object]:
        """Inside, no other process runs the same experiment; raises OSError where one does."""
        return holding(self.path / _PLAN, wait=False, private=True)

    def run_of(self, plan: Plan, key: Key) -> Address:
        """Where the run of a trial is recorded."""
        case, repeat, arm = key
        number = plan.arms.index(arm)
        run = f"{plan.numbers[case]:04}-{repeat + 1}-{number + 1}-{file_name(arm)}"
        return Address(str(self.path / _RUNS), run)

    def write(self, plan: Plan, trial: Trial) -> None:
        """Add a trial to the results."""
        told = entry("Trial", trial.to_json())
        signed = _marked(told, "digest", _digest(told, plan))
        records.add_to_file(self.path / _RESULTS, records.pattern_line(signed))

    def read(self, plan: Plan) -> tuple[Trial, ...]:
        """The trials that are done.

        Raises:
            OSError, GramDecodeError: the results cannot be read.
            ValidationError: they were edited, or are not this plan's; the fault has its place.
        """
        cases = {each.name: each for each in (*plan.cases, *plan.pilot)}
        known, seen = {*plan.keys, *plan.pilot_keys}, list[Trial]()

        def made(
            case: str, scores: Any, run: str | None = None, digest: str = "", **told: Any
        ) -> Trial:
            scores = {name: Score(**score) for name, score in scores.items()}
            address = Address(str(self.path / _RUNS), run) if run else None
            return Trial(case=cases[case], scores=scores, run=address, **told)

        for each in entries_of(self.path / _RESULTS):
            is_own = _digest(each, plan) == each.value.properties.get("digest")
            trial = read_entry(each, "Trial", made) if is_own else None
            if trial is None or trial.key not in known:
                message = "the plan has no such trial, or it is there twice"
                message = message if trial else "the result was edited, or is of another plan"
                hint = "results stay as they were written; begin another experiment instead"
                fault = gram.Diagnostic.of("edited-result", message, each, hint=hint)
                raise ValidationError.of([fault])
            known.remove(trial.key)
            seen.append(trial)
        return tuple(seen)


def _digest(entry: Pattern, plan: Plan) -> str:
    return short_hash(plan.hash + dumps(_marked(entry, "digest")))


def folder_of(out: records.PathLike) -> Folder:
    """The folder of an experiment, which need not be there yet.

    Raises:
        OSError: a file that is no folder has its name.
    """
    expect(out, (str, os.PathLike), "out", by="ab")
    path = Path(out)
    if resolved(path).exists() and not path.is_dir():
        raise NotADirectoryError(20, "an experiment needs a folder, this is a file", str(path))
    return Folder(path)


def before_running(plan: Plan) -> Iterator[str]:
    """What can be said of a plan before anything runs."""
    free = [each.name for each in plan.cases if each.expects_nothing]
    if free and "passed" in [each.name for each in plan.metrics]:
        yield f"any answer passes {counted(len(free), 'case')} that expect nothing, as {free[0]}"
    if len(plan.arms) == 1:
        yield "there is one arm: nothing is compared"
        return
    (cases, unit), tests = _units(plan), round(ALPHA / plan.alpha)
    if smallest_p(cases) > ALPHA:
        repeats = ", however often they are repeated" if plan.repeats > 1 else ""
        yield (
            f"these cases cannot reach 5 %: {counted(cases, unit)} cannot give a p-value below "
            f"{smallest_p(cases):.2g}{repeats}; 6 are the fewest that can"
        )
    elif smallest_p(cases) > plan.alpha:
        yield (
            f"{counted(cases, unit)} cannot reach 5 % in one of {tests} comparisons alone: "
            f"corrected, their smallest p-value is {smallest_p(cases) * tests:.2g}"
        )


def _units(plan: Plan) -> tuple[int, str]:
    """How many cases there are, or clusters of cases: those of a cluster may all be alike."""
    clusters = clusters_of(plan.cases)
    return (len(set(clusters)), "cluster") if clusters else (len(plan.cases), "case")


def what_it_finds(plan: Plan) -> Iterator[str]:
    """Which differences in the primary metric a plan finds, and how often."""
    is_rate = any(each.name == plan.primary and each.worst is False for each in plan.metrics)
    (cases, unit), tests = _units(plan), round(ALPHA / plan.alpha)
    among = f", as one of {tests} tests" if tests > 1 else ""
    for kind, what in enumerate(("a difference", "a main effect", "an interaction")):
        group = [each for each in plan.contrasts if len(each.factors) == kind]
        if not group:
            continue
        runs = plan.repeats * min(len(side) for each in group for side in (each.minus, each.plus))
        for words, size in _sizes(cases, runs, plan.alpha, is_rate=is_rate).items():
            size = size and size * max(1, kind)  # a pair is twice what its groups differ by
            if size is None or (is_rate and size > max(1, kind)):
                yield f"{counted(cases, unit)} are too few to find {what}{among} ({words})"
            else:
                said = f"{100 * size:.0f} points" if is_rate else f"{size:.2g}"
                yield (
                    f"{counted(cases, unit)} find {what} in {plan.primary} of {said} "
                    f"{POWER:.0%} of the time{among} ({words})"
                )


def _sizes(cases: int, runs: int, alpha: float, *, is_rate: bool) -> dict[str, float | None]:
    """What is found, by what has to be assumed of the cases; ``runs`` of a case are averaged."""
    if not is_rate:
        words = "in standard deviations of the cases' differences"
        return {words: findable(cases, deviation=1.0, alpha=alpha)}
    if runs > 1:
        words = "each run an even chance, effects alike in all cases"
        return {words: findable_rate(cases, runs, alpha=alpha)}
    lost = {"where no case is lost": 0.0, "where one in ten is": 0.1}
    return {words: findable(cases, lost=share, alpha=alpha) for words, share in lost.items()}
