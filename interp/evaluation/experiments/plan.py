"""The plan of an experiment: what is compared, on what, how often, and by what it is decided.

.. code-block:: text

    (:Experiment {format: 1, hash: "3f2a…", primary: "passed", repeats: 1, seed: 42})
    [:Arm {name: "A", model: "OpenAI/gpt-5.6-luna"} | [hello:Agent {…}], [:Library | …]]
    (:Metric {name: "passed", better: "higher"})
    (:Case {name: "greets", input: "I am Alice"})

It is written before anything runs. Its hash is that of everything else in it, so that a plan that
was edited is found, and an experiment that goes on is known to be the same one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeAlias

from attrs import evolve, fields, frozen

from gram import Pattern, Subject, TaggedString, Value, dumps, format_text
from gram.words import counted
from lenses_ext import Model, write_program

from ...history.records import Reader, expect_one_of, without_empty, write_text
from ...json_text import Json, write_json
from ...machine import Limits
from ...tools import Tool
from ..cases import READERS, Case, ExpectedCall
from .arms import ReadyArm
from .chance import ALPHA
from .comparing import Better
from .contrasts import Contrast, Levels, contrasts_of
from .metrics import Metric, code_of

Key: TypeAlias = tuple[str, int, str]
"""A trial: the name of its case, which repeat it is, the name of its arm."""

FORMAT = 1
_KEYS = ("format", "hash", "primary", "repeats", "seed", "pilot")
EXPERIMENT = "Experiment"


@frozen
class PlannedMetric:
    """A metric as a plan has it: its function is not part of it.

    Attributes:
        name: its name.
        better: whether higher or lower scores are better.
        worst: the score of a run without one, or None for the worst that any run has.
        code: a text that changes when its code does; empty if that is not known.
    """

    name: str
    better: Better
    worst: float | bool | None
    code: str


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
    cases: tuple[Case, ...]
    pilot: tuple[Case, ...]
    repeats: int
    seed: int
    head: Pattern
    parts: tuple[Pattern, ...]

    def __repr__(self) -> str:
        runs = [counted(len(self.cases), "case"), " / ".join(self.arms)]
        if self.repeats > 1:
            runs.append(f"{self.repeats} times")
        return f"<Plan {self.hash[:8]}: {', '.join(runs)}, decided by {self.primary}>"

    @cached_property  # each result is signed with it
    def hash(self) -> str:
        """The hash of the plan."""
        return sha256(dumps((self.head, *self.parts)).encode()).hexdigest()

    @property
    def text(self) -> str:
        """The plan as gram, with its hash."""
        subject = self.head.value
        marked = evolve(subject, properties=subject.properties.set("hash", self.hash))
        return format_text(write_program((Pattern(marked), *self.parts)))

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
        return tuple(
            (case.name, repeat, arm)
            for case in self.cases
            for repeat in range(self.repeats)
            for arm in self.arms
        )

    @property
    def order(self) -> tuple[Key, ...]:
        """The trials in the order in which they run.

        The cases and repeats are in random order, and so are the arms within each of them: what
        changes while an experiment runs, such as a server's load, meets all arms alike.
        """
        rng = random.Random(self.seed)
        blocks = [(case.name, repeat) for case in self.cases for repeat in range(self.repeats)]
        rng.shuffle(blocks)
        found = []
        for name, repeat in blocks:
            arms = list(self.arms)
            rng.shuffle(arms)
            found += [(name, repeat, arm) for arm in arms]
        return tuple(found)

    def differences(self, other: Plan) -> str:
        """What differs between this plan and another one, as a diff."""
        mine, its = (
            format_text(write_program((each.head, *each.parts))).split("\n")
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
    properties = {
        "format": FORMAT,
        "primary": write_text(primary),
        "repeats": repeats,
        "seed": seed,
        **({"pilot": pilot} if pilot else {}),
    }
    parts = (
        *(_arm_to_pattern(each, levels.get(each.name)) for each in arms),
        *map(_metric_to_pattern, metrics),
        *map(_case_to_pattern, cases),
    )
    patterns = (Pattern(Subject("", {EXPERIMENT}, properties)), *parts)
    return plan_from_patterns(patterns)


def plan_from_patterns(patterns: Sequence[Pattern], *, has_hash: bool = False) -> Plan:
    """Read a plan.

    Args:
        patterns: the plan as gram.
        has_hash: whether it must have its hash, as a written one does.

    Raises:
        ValidationError: it is not a plan, it was edited, or another version wrote it; the fault
            has its place.
    """
    head, *others = patterns
    read = Reader(head, EXPERIMENT, _KEYS)
    if read.number("format") != FORMAT:
        hint = "it was written by another version of this package"
        read.refuse("other-format", f"the format is not {FORMAT}", "format", hint)
    read.without_elements()
    parts: dict[str, list[Pattern]] = {"Arm": [], "Metric": [], "Case": []}
    for each in others:
        parts[expect_one_of(parts, each)].append(each)
    subject = head.value
    bare = evolve(subject, properties=subject.properties.discard("hash"))
    arms = dict(map(_levels_from_pattern, parts["Arm"]))
    cases = tuple(map(_case_from_pattern, parts["Case"]))
    set_aside = read.number("pilot")
    if not arms or not 0 <= set_aside < len(cases):
        read.refuse("no-plan", "a plan has arms and cases")
    drawn = random.Random(f"pilot {read.number('seed')}").sample(cases, set_aside)
    pilot = {each.name for each in drawn}
    plan = Plan(
        tuple(arms),
        tuple(map(_metric_from_pattern, parts["Metric"])),
        read.text("primary"),
        {arm: levels for arm, levels in arms.items() if levels},
        tuple(each for each in cases if each.name not in pilot),
        tuple(each for each in cases if each.name in pilot),
        read.number("repeats"),
        read.number("seed"),
        Pattern(bare),
        tuple(others),
    )
    if plan.repeats < 1 or plan.primary not in [each.name for each in plan.metrics]:
        read.refuse("no-plan", "a plan has repeats, and a primary metric that is among its metrics")
    if has_hash and read.text("hash", "") != plan.hash:
        hint = "a plan stays as it was when the experiment began; begin another in a new folder"
        read.refuse("edited-plan", "the plan was edited: its hash is of another one", hint=hint)
    return plan


# --- the parts


def _arm_to_pattern(ready: ReadyArm, levels: Levels | None) -> Pattern:
    arm = ready.arm
    limits = arm.limits or Limits()
    changed = {
        each.name: getattr(limits, each.name)
        for each in fields(Limits)
        if getattr(limits, each.name) != each.default
    }
    named = isinstance(arm.model, str | Model | None)
    properties = without_empty(
        {
            "name": write_text(ready.name),
            "levels": _json([*levels.items()]) if levels else None,
            "model": write_text(str(ready.model) if named else described(arm.model)),
            "baseUrl": write_text(arm.base_url or ""),
            "dialect": arm.dialect or "",
            "settings": _json(dict(arm.settings)) if arm.settings else None,
            "limits": _json(changed) if changed else None,
            "match": arm.match if arm.match != "full" else None,
            "policy": None if arm.policy is None else dumps(arm.policy.to_pattern()),
            "withoutResultChecks": arm.check_results is False,
        }
    )
    library = Pattern(Subject("", {"Library"}), map(tool_to_pattern, ready.library.values()))
    return Pattern(Subject("", {"Arm"}, properties), [ready.agent, library])


def _levels_from_pattern(pattern: Pattern) -> tuple[str, Levels]:
    """The name of an arm, and its level of each factor."""
    read = Reader(pattern, "Arm", pattern.value.properties)
    found = read.json_value("levels").value if read.has("levels") else []
    if not all(isinstance(each, list) and [*map(type, each)] == [str, str] for each in found):
        read.refuse("ill-typed", "levels are pairs of a factor and a level", "levels")
    return read.text("name"), dict(found)


def described(given: Any) -> str:
    """What a plan knows of an object or a function: its name, and its code if it can be read."""
    name = getattr(given, "__qualname__", type(given).__qualname__)
    return f"{name} {code_of(given)}".rstrip()


def tool_to_pattern(tool: Tool) -> Pattern:
    """A tool as a plan has it: what it is called with, and its code if it can be read."""
    properties = without_empty(
        {
            "description": write_text(tool.description),
            "schema": _json(tool.schema),
            "code": code_of(tool.function),
        }
    )
    return Pattern(Subject(tool.name, {"Implementation"}, properties))


def _metric_to_pattern(metric: Metric) -> Pattern:
    properties: dict[str, Value] = {"name": write_text(metric.name), "better": metric.better}
    if metric.worst is not None:
        is_flag = isinstance(metric.worst, bool)
        properties["worst"] = metric.worst if is_flag else float(metric.worst)
    if metric.code:
        properties["code"] = metric.code
    return Pattern(Subject("", {"Metric"}, properties))


def _metric_from_pattern(pattern: Pattern) -> PlannedMetric:
    read = Reader(pattern, "Metric", ["name", "better", "worst", "code"])
    better, worst = read.text("better"), read.properties.get("worst")
    if better not in ("higher", "lower"):
        read.refuse("ill-typed", "better must be higher or lower", "better")
    return PlannedMetric(
        read.text("name"),
        better,  # type: ignore[arg-type]  # one of the two words, as was checked
        worst if isinstance(worst, bool) else read.seconds("worst"),
        read.text("code", ""),
    )


_CASE_KEYS = ("name", "input", *READERS, "tags", "cluster", "columns")


def _case_to_pattern(case: Case) -> Pattern:
    properties: dict[str, Value] = {"name": write_text(case.name), "input": _json(case.input)}
    properties |= {name: _json(value) for name, value in case.expectations.items()}
    if case.tags:
        properties["tags"] = _json(case.tags)
    if case.cluster is not None:
        properties["cluster"] = write_text(case.cluster)
    if case.columns:
        properties["columns"] = _json(dict(case.columns))
    return Pattern(Subject("", {"Case"}, properties))


def _case_from_pattern(pattern: Pattern) -> Case:
    read = Reader(pattern, "Case", _CASE_KEYS)

    def value(key: str, default: Json = None) -> Json:
        return read.json_value(key).value if read.has(key) else default

    expected = {"not_" if key == "not" else key: value(key) for key in READERS if read.has(key)}
    return Case(
        name=read.text("name"),
        input=value("input", ""),
        tags=value("tags", []),
        cluster=read.text("cluster") if read.has("cluster") else None,
        columns=value("columns", {}),
        **expected,
    )


def _json(value: Json) -> Value:
    """A JSON value as gram, with its keys in order, so that equal plans have equal texts."""
    if isinstance(value, str):
        return write_text(value)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=_plain)
    return TaggedString("json", write_json(json.loads(text)))


def _plain(value: Any) -> Any:
    if isinstance(value, ExpectedCall):
        return value.to_json()
    return dict(value) if isinstance(value, Mapping) else list(value)
