"""An experiment as a file: cases, arms, factors, metrics and a budget, in the words of a plan.

.. code-block:: text

    (:Experiment {cases: "cases.jsonl", program: "hello.gram", metrics: ["passed", "seconds"],
      repeats: 2, seed: 1, budget: {cost: 5}})
    (model:Factor {levels: ["OpenAI/gpt-5.6-luna", "OpenAI/gpt-5.6-sol"]})
    [tone:Factor | (plain:Arm), (warm:Arm {prompt: "Greet warmly."})]

What the experiment says of a program is for all arms. A factor has the name of what it changes (a
property of arms, or a path as `gram set` takes it) and its levels; or any name, and an arm for each
level. Paths are from the folder of the file, and inside its project. A file names no code: a
``library`` is the name of tools that the caller gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from attrs import evolve, fields
from pyrsistent import PMap, PVector, pmap

from gram import Diagnostic, Document, GramError, Pattern, Subject, Value, write_value
from gram.diagnostics import Severity
from gram.documents import decode, resolved
from gram.plurals import counted
from gram.suggestions import did_you_mean
from lenses_ext import (
    Model,
    Settings,
    agent_instruction,
    change_places,
    find_agents,
    find_places,
    load_project,
    parse_program,
)
from lenses_ext.names import project_root
from lenses_ext.places import read_value
from lenses_ext.schemas import to_json_value

from ...errors import ConfigurationError, ValidationError
from ...history.records import PathLike, Reader
from ...json_text import read_json
from ...reprs import shortened
from ..cases import read_cases
from .arms import Arm, Edit, Library, agent_of
from .budget import Budget
from .contrasts import MANY
from .judging import judged_by
from .metrics import NAMES, Metric, MetricLike, matches_schema
from .plan import EXPERIMENT, plan_from_patterns

_LABELS = (EXPERIMENT, "Arm", "Factor", "Case")
_OF_ARM = ("program", "agent", "model", "prompt", "library", "settings", "limits", "edits")
_NUMBERS = {"repeats": 1, "seed": 0, "pilot": 0}
_OF_EXPERIMENT = (*_OF_ARM, *_NUMBERS, "cases", "metrics", "primary", "difference", "budget")
_FEW, _LEFT = 3, 6  # cases of a pilot where nothing is said, and those that it leaves
_LONGEST = 40  # characters of a level's name


def read_experiment(
    path: PathLike,
    tools: Mapping[str, Library] = {},  # it is only read
    *,
    base: Arm | None = None,
    judge: Callable[[Path], MetricLike] | None = None,
) -> dict[str, Any]:
    """Read an experiment from its file, as arguments: ``ab(**read_experiment("x.gram"))``.

    Args:
        path: the file.
        tools: the libraries that arms name.
        base: what the file leaves out of its arms.
        judge: makes a metric of the file of a judge; by default one without tools.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: it is not gram.
        ValidationError: something is wrong with it; ``faults`` has everything that was found.
        ConfigurationError: no arm names a library that is given, or a judge cannot be asked.
    """
    text = decode(Path(path).read_bytes(), str(path))
    written = _Written(parse_program(text, str(path)), tools)
    if errors := [each for each in written.faults if each.severity == "error"]:
        raise ValidationError.of(errors)
    found = written.options
    judges = {each.stem for each in found["metrics"] if isinstance(each, Path)}
    if unused := sorted(tools.keys() - written.libraries - judges):
        hint = f"it names {', '.join(sorted(written.libraries)) or 'none'}"
        raise ConfigurationError(f"{path}: no arm has the library {unused[0]}; {hint}")
    found["base"] = found["base"].over(base) if base else found["base"]
    found["metrics"] = [metric_of(each, judge or _judge) for each in found["metrics"]]
    return found


def experiment_faults(document: Document) -> tuple[Diagnostic, ...]:
    """What is wrong with the experiment of a document, or with a plan that was written.

    Files that it names are read. Nothing runs, and libraries need not be there.
    """
    if any("hash" in each.value.properties for each in document.patterns[:1]):
        try:
            plan_from_patterns(document.patterns, has_hash=True)
        except ValidationError as error:
            return tuple(error.faults)
        return ()
    return tuple(_Written(document).faults)


def edit_at(path: str, value: Value) -> Edit:
    """The edit that sets a value at a path, as `gram set` does; a text is read for its place."""

    def new(old: object) -> Any:
        return read_value(value, old) if isinstance(value, str) else value

    def edited(agent: Pattern) -> Pattern:
        (changed,) = change_places((agent,), [(each, new) for each in find_places((agent,), path)])
        return changed

    return edited


def _schema_in(file: Path) -> Metric:
    try:
        schema = read_json(decode(file.read_bytes(), str(file)))
        if not isinstance(schema, dict):
            raise ConfigurationError(f"{file}: a JSON Schema is an object")
        return matches_schema(schema, file.stem)
    except ValueError as error:
        raise ConfigurationError(f"{file}: not JSON: {error}") from None
    except ValidationError as error:
        raise ConfigurationError(f"{file}: {error}") from None


def metric_of(named: str | Path, judge: Callable[[Path], MetricLike]) -> MetricLike:
    """The metric of a name, of the file of a judge (.gram) or of a JSON Schema (.json).

    Raises:
        OSError: the file cannot be read.
        GramError: it is no judge, or no JSON Schema.
    """
    if isinstance(named, str):
        return named
    return judge(named) if named.suffix == ".gram" else _schema_in(named)


def _judge(file: Path) -> MetricLike:
    return judged_by(load_project(file), name=file.stem)


class _Written:
    """What a file says, and what is wrong with it.

    Args:
        document: the file.
        tools: the libraries that arms may name; None for any.

    Attributes:
        options: the arguments of `ab`; metrics that are files are their paths.
        faults: what is wrong.
        libraries: the names of the libraries that are named.
    """

    def __init__(self, document: Document, tools: Mapping[str, Library] | None = None) -> None:
        self.options: dict[str, Any] = {}
        self.faults: list[Diagnostic] = []
        self.libraries: set[str] = set()
        self._arms: dict[str, Arm] = {}
        self._factors: dict[str, dict[str, Arm]] = {}
        self._placed: list[tuple[Pattern, Arm, bool]] = []  # each arm, and whether it is a level
        self._tools = tools
        self._file = Path(document.filename or "")
        heads = [each for each in document.patterns if _is(EXPERIMENT, each)]
        if not heads:
            raise ValidationError(f"{self._file}: there is no (:Experiment {{…}}) in this file")
        self._head = heads[0]
        for each in heads[1:]:
            self._fault("another experiment is in this file", each)
        with self._collected(self._head):
            self._read_head(document)
        for part in (*self._head.elements, *document.patterns):
            with self._collected(part):
                self._read_part(part)
        self.options |= {"arms": self._arms or {self._file.stem: Arm()}, "factors": self._factors}
        if not self.faults:
            self._judge_whole()

    def _read_head(self, document: Document) -> None:
        read = Reader(self._head, EXPERIMENT, _OF_EXPERIMENT)
        steps: dict[str, Callable[[Reader], Any]] = {
            "base": self._arm,
            "cases": lambda read: self._path(read, "cases"),
            "metrics": lambda read: [self._metric(read, each) for each in read.names("metrics")],
            "primary": lambda read: read.text("primary", "") or None,
            "difference": lambda read: read.seconds("difference"),
            "budget": self._budget,
            **{each: partial(self._number, each) for each in _NUMBERS if read.has(each)},
        }
        for key, step in steps.items():
            with self._collected(self._head):
                self.options[key] = step(read)
        if not self.faults:
            says = self.options
            if says["base"].program is None and find_agents(document):
                says["base"] = evolve(says["base"], program=str(self._file))
            if says["cases"] is None and any(_is("Case", each) for each in document.patterns):
                says["cases"] = self._file
            says["metrics"] = says["metrics"] or ["passed"]

    def _read_part(self, part: Pattern) -> None:
        """Read an arm or a factor; what is neither, such as a case or an agent, is left alone."""
        if _is("Arm", part):
            self._add(self._arms, part, self._arm(Reader(part, "Arm", _OF_ARM)))
        elif _is("Factor", part):
            self._factors[part.value.identity] = self._levels(part)
        for label in part.value.labels - {*_LABELS}:
            if near := did_you_mean(label, _LABELS):
                self._fault(f"the label {label} is not known here", part, "labels", near)

    def _levels(self, factor: Pattern) -> dict[str, Arm]:
        name, levels = factor.value.identity, dict[str, Arm]()
        for part in factor.elements:
            self._add(levels, part, self._arm(Reader(part, "Arm", _OF_ARM)), is_level=True)
        values = Reader(factor, "Factor", ["levels"]).properties.get("levels", ())
        for value in values if isinstance(values, PVector) else ():
            says = {name: value} if name in _OF_ARM else {"edits": {name: value}}
            arm = self._arm(Reader(Pattern(Subject("", {"Arm"}, says)), "Arm", _OF_ARM))
            text = value if isinstance(value, str) else write_value(value)
            label = shortened(" ".join(text.split()), _LONGEST)
            self._add(levels, factor, arm, label, is_level=True)
        if len(levels) < 2:
            hint = "write levels: […], or an arm for each: [name:Factor | (one:Arm {…}), …]"
            self._fault(f"a factor needs two levels, found {len(levels)}", factor, "levels", hint)
        return levels

    def _add(
        self,
        known: dict[str, Arm],
        part: Pattern,
        arm: Arm,
        name: str = "",
        *,
        is_level: bool = False,
    ) -> None:
        name = name or part.value.identity
        if not name or name in known:
            told = f"{name} is there twice" if name else "this needs a name: [name:Arm {…}]"
            self._fault(told, part, "identity")
        known[name] = arm
        self._placed.append((part, arm, is_level))

    def _arm(self, read: Reader) -> Arm:
        edits = [edit_at(*each) for each in sorted(self._map(read, "edits").items())]
        if read.has("prompt"):
            edits.insert(0, agent_instruction.set(self._prompt(read)))
        program, library = self._path(read, "program"), read.text("library", "")
        if library and self._tools is not None and library not in self._tools:
            hint = did_you_mean(library, self._tools) or f"--tools {library}=FILE.py gives it"
            read.refuse("no-library", f"no library {library} is given", "library", hint)
        self.libraries |= {library} - {""}
        settings, limits = (_plain(self._map(read, each)) for each in ("settings", "limits"))
        return Arm(
            program and str(program),
            (self._tools or {}).get(library),
            Model.parse(read.text("model")) if read.has("model") else None,
            dict(Settings().with_changes(settings)) or None,
            edits,
            read.text("agent", "") or None,
            limits=limits or None,
        )

    # --- the properties

    def _map(self, read: Reader, key: str) -> Mapping[str, Value]:
        value = read.properties.get(key, pmap())
        if not isinstance(value, PMap):
            read.refuse("ill-typed", f"{key} of {read.label} must be a map", key)
        return value

    def _number(self, key: str, read: Reader) -> int:
        if (found := read.number(key)) < _NUMBERS[key]:
            read.refuse("ill-typed", f"{key} must be at least {_NUMBERS[key]}", key)
        return found

    def _budget(self, read: Reader) -> Budget:
        given = Pattern(Subject("", {"Budget"}, self._map(read, "budget")))
        limits = Reader(given, "Budget", [each.name for each in fields(Budget)]).properties
        return Budget(**limits)  # type: ignore[arg-type]  # it refuses what is no number

    def _path(self, read: Reader, key: str, name: str | None = None) -> Path | None:
        """The file that a property names, from the folder of this file and inside its project."""
        name = name or read.text(key, "")
        if not name:
            return None
        path, root = self._file.parent / name, project_root(resolved(self._file))
        if Path(name).is_absolute():
            hint = "write the path from the folder of this file"
            read.refuse("outside", f"{name} is an absolute path", key, hint)
        if not resolved(path).is_relative_to(root):
            hint = f"the project is {root}; a gram.toml above both files widens it"
            read.refuse("outside", f"{name} is outside the project", key, hint)
        if not path.is_file():
            read.refuse("no-file", f"there is no file {path}", key)
        return path

    def _prompt(self, read: Reader) -> str:
        """A text, or that of the file after an @."""
        text = read.text("prompt")
        path = self._path(read, "prompt", text[1:]) if text.startswith("@") else None
        return decode(path.read_bytes(), str(path)).rstrip("\n") if path else text

    def _metric(self, read: Reader, name: str) -> str | Path | None:
        """The name of a metric, or the file of a judge or a schema."""
        if name.endswith((".gram", ".json")):
            return self._path(read, "metrics", name)
        if name not in NAMES:
            hint = did_you_mean(name, NAMES) or f"there are {', '.join(NAMES)}"
            read.refuse("no-metric", f'there is no metric "{name}"', "metrics", hint)
        return name

    # --- the whole

    def _judge_whole(self) -> None:
        """Find what is wrong between parts that are right by themselves."""
        says, head = self.options, self._head
        names = [each.stem if isinstance(each, Path) else each for each in says["metrics"]]
        primary = says["primary"]
        if primary is not None and primary not in names:
            hint = did_you_mean(primary, names) or f"there are {', '.join(names)}"
            self._fault(f"{primary} is not among the metrics", head, "primary", hint)
        if says["cases"] is None:
            hint = 'name their file: cases: "cases.jsonl"'
            self._fault("the experiment has no cases", head, hint=hint)
            return
        with self._collected(head):
            says["cases"] = cases = read_cases(says["cases"])
            says.setdefault("pilot", max(0, min(_FEW, len(cases) - _LEFT)))
            if says["pilot"] >= len(cases):
                told = f"a pilot has fewer cases than all {counted(len(cases), 'case')}"
                self._fault(told, head, "pilot")
            first = next(iter(says["arms"].values())).over(says["base"])
            for part, arm, is_level in self._placed or [(head, first, False)]:
                with self._collected(part):
                    agent_of(arm.over(first if is_level else says["base"]), cases)
        combinations = prod([len(says["arms"]), *map(len, self._factors.values())])
        if combinations > MANY:
            told = f"{combinations} combinations are many: each case runs in all of them"
            self._fault(told, head, severity="warning")

    @contextmanager
    def _collected(self, part: Pattern) -> Iterator[None]:
        """Errors inside are faults; those without a place are about this part."""
        try:
            yield
        except ValidationError as error:
            if not error.faults:
                self._fault(str(error), part)
            for each in error.faults:
                self.faults.append(each if each.source else evolve(each, **_place_of(part)))
        except (GramError, OSError) as error:
            self._fault(str(error), part)

    def _fault(
        self,
        message: str,
        part: Pattern,
        key: str | None = None,
        hint: str | None = None,
        severity: Severity = "error",
    ) -> None:
        found = Diagnostic.of("experiment", message, part, key, hint=hint, severity=severity)
        self.faults.append(found)


def _is(label: str, pattern: Pattern) -> bool:
    return label in pattern.value.labels


def _place_of(part: Pattern) -> dict[str, Any]:
    place = Diagnostic.of("", "", part)
    return {"span": place.span, "source": place.source}


def _plain(values: Mapping[str, Value]) -> dict[str, Any]:
    return {key: to_json_value(value) for key, value in values.items()}
