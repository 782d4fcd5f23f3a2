"""An experiment as a file: cases, arms, factors, metrics and a budget, in the words of a plan.

.. code-block:: text

    (:Experiment {cases: "cases.jsonl", program: "hello.gram", metrics: ["passed", "seconds"],
      repeats: 2, seed: 1, budget: {cost: 5}})
    (model:Factor {levels: ["OpenAI/gpt-5.6-luna", "OpenAI/gpt-5.6-sol"]})
    [tone:Factor | (plain:Arm), (warm:Arm {prompt: "Greet warmly."})]

What the experiment says of a program is for all arms. A factor has the name of what it changes (a
property of arms, or a path as `gram set` takes it) and its levels; or any name, and an arm for each
level. Paths are from the folder of the file, and inside its project. A file names no code: a
``library`` is the name of tools that the caller gives, and so is a metric that is a function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from attrs import evolve, fields
from pyrsistent import PVector

import lenses_ext
from gram import Diagnostic, Document, GramError, Pattern, Subject, Value, write_value
from gram.documents import decode, resolved
from gram.words import counted, did_you_mean
from lenses_ext.names import project_root
from lenses_ext.places import read_value
from lenses_ext.schemas import to_json_value

from ...errors import ConfigurationError, ValidationError
from ...history.records import PathLike, Reader
from ...json_text import read_json
from ...shown import shortened
from ..cases import read_cases
from .arms import Arm, Edit, Library, agent_of
from .carrying_out import Budget
from .judges import judged_by
from .metrics import NAMES, Metric, MetricLike, expect_known, matches_schema
from .plan import EXPERIMENT, plan_from_patterns

_ARM, _FACTOR, _CASE = "Arm", "Factor", "Case"
_LABELS = (EXPERIMENT, _ARM, _FACTOR, _CASE)
_OF_ARM = ("program", "agent", "model", "prompt", "library", "settings", "limits", "edits")
_OF_EXPERIMENT = (*_OF_ARM, "cases", "pilot", "metrics", "primary", "repeats", "seed", "budget")
_FEW, _LEFT = 3, 6  # cases of a pilot where nothing is said, and those that it leaves
_LONGEST = 40  # characters of a level's name


def edit_at(path: str, value: Value) -> Edit:
    """The edit that sets a value at a path, as `gram set` does; a text is read for its place."""

    def new(old: object) -> Any:
        return read_value(value, old) if isinstance(value, str) else value

    def edited(agent: Pattern) -> Pattern:
        changes = [(each, new) for each in lenses_ext.find_places((agent,), path)]
        (changed,) = lenses_ext.change_places((agent,), changes)
        return changed

    return edited


class WrittenExperiment:
    """What a file says; without ``tools`` and ``own_metrics`` it may name any.

    Attributes:
        options: the arguments of `ab`; metrics that are files are their paths.
        libraries: the names of the libraries that are named.

    Raises:
        ValidationError: the file has no experiment, or faults, which have their places.
    """

    def __init__(
        self,
        document: Document,
        tools: Mapping[str, Library] | None = None,
        own_metrics: Collection[str] | None = None,
    ) -> None:
        self.libraries: set[str] = set()
        self._tools, self._own_metrics = tools, own_metrics
        self._file = Path(document.filename or "")
        heads = [each for each in document.patterns if EXPERIMENT in each.value.labels]
        if not heads:
            raise ValidationError(f"{self._file}: there is no (:Experiment {{…}}) in this file")
        for each in heads[1:]:
            _refuse("another experiment is in this file", each)
        self._head, parts = heads[0], [*heads[0].elements, *document.patterns]
        with _placed(self._head):
            self.options = self._read_head(document, parts)
        self._read_arms(parts)

    def _read_head(self, document: Document, parts: Sequence[Pattern]) -> dict[str, Any]:
        """Read what the experiment says."""
        read = Reader(self._head, EXPERIMENT, _OF_EXPERIMENT)
        base = self._arm(read)
        if base.program is None and lenses_ext.find_agents(document):
            base = evolve(base, program=str(self._file))
        has_own = any(_CASE in each.value.labels for each in parts)
        file = self._path(read, "cases") or (self._file if has_own else None)
        if file is None:
            hint = 'name their file: cases: "cases.jsonl"'
            read.refuse("no-cases", "the experiment has no cases", hint=hint)
        cases, metrics = read_cases(file), self._metrics(read)
        with _placed(self._head, "budget"):
            given = Pattern(Subject("", {"Budget"}, read.map("budget")))
            limits = Reader(given, "Budget", [each.name for each in fields(Budget)]).properties
            budget = Budget(**limits)  # type: ignore[arg-type]  # it refuses what is no number
        pilot = _number(read, "pilot", 0, max(0, min(_FEW, len(cases) - _LEFT)))
        if pilot and pilot >= len(cases):
            told = f"a pilot has fewer cases than all {counted(len(cases), 'case')}"
            read.refuse("ill-typed", told, "pilot")
        counts = {"repeats": _number(read, "repeats", 1, 1), "seed": _number(read, "seed", 0, None)}
        what = {"cases": cases, "metrics": metrics, "primary": read.text("primary", "") or None}
        return {"base": base, "pilot": pilot, "budget": budget, **counts, **what}

    def _read_arms(self, parts: Sequence[Pattern]) -> None:
        """Read the arms and the factors; what is neither, such as an agent, is left alone."""
        arms, factors = dict[str, Arm](), dict[str, dict[str, Arm]]()
        base: Arm = self.options["base"]
        faults: list[Diagnostic] = []
        for part in parts:
            with _collected(faults):
                for label in part.value.labels - {*_LABELS}:
                    if near := did_you_mean(label, _LABELS):
                        _refuse(f"the label {label} is not known here", part, "labels", near)
                if _ARM in part.value.labels:
                    self._add(arms, part, base)
        if faults and not arms:
            raise ValidationError.of(faults)
        if not arms:
            with _placed(self._head):
                self._add(arms, Pattern(Subject("", {_ARM})), base, self._file.stem)
        first = next(iter(arms.values())).over(base)
        for part in parts:
            with _collected(faults):
                if _FACTOR in part.value.labels:
                    if part.value.identity in ("", *factors):
                        _refuse("a factor needs a name of its own", part, "identity")
                    factors[part.value.identity] = self._levels(part, first)
        if faults:
            raise ValidationError.of(faults)
        self.options |= {"arms": arms, "factors": factors}

    def _levels(self, factor: Pattern, base: Arm) -> dict[str, Arm]:
        name, levels = factor.value.identity, dict[str, Arm]()
        for part in factor.elements:
            self._add(levels, part, base)
        with _placed(factor):
            values = Reader(factor, _FACTOR, ["levels"]).properties.get("levels", ())
            for value in values if isinstance(values, PVector) else ():
                says: Any = {name: value} if name in _OF_ARM else {"edits": {name: value}}
                arm = Pattern(Subject("", {_ARM}, says))
                text = value if isinstance(value, str) else write_value(value)
                self._add(levels, arm, base, shortened(" ".join(text.split()), _LONGEST))
        if len(levels) < 2:
            hint = "write levels: […], or an arm for each: [name:Factor | (one:Arm {…}), …]"
            _refuse(f"a factor needs two levels, found {len(levels)}", factor, "levels", hint)
        return levels

    def _add(self, known: dict[str, Arm], part: Pattern, base: Arm, name: str = "") -> None:
        """Add an arm to those that are known, and find what is wrong with its agent."""
        with _placed(part):
            arm, name = self._arm(Reader(part, _ARM, _OF_ARM)), name or part.value.identity
            if not name or name in known:
                told = f"{name} is there twice" if name else "this needs a name: [name:Arm {…}]"
                _refuse(told, part, "identity")
            known[name] = arm
            agent_of(arm.over(base), self.options["cases"])

    # --- what an arm says

    def _arm(self, read: Reader) -> Arm:
        edits = [edit_at(*each) for each in sorted(read.map("edits").items())]
        if read.has("prompt"):
            edits.insert(0, lenses_ext.agent_instruction.set(self._prompt(read)))
        program, library = self._path(read, "program"), read.text("library", "")
        if library and self._tools is not None and library not in self._tools:
            hint = did_you_mean(library, self._tools) or f"--tools {library}=FILE.py gives it"
            read.refuse("no-library", f"no library {library} is given", "library", hint)
        self.libraries |= {library} - {""}
        settings, limits = (
            {name: to_json_value(value) for name, value in read.map(key).items()}
            for key in ("settings", "limits")
        )
        return Arm(
            program and str(program),
            (self._tools or {}).get(library),
            lenses_ext.Model.parse(read.text("model")) if read.has("model") else None,
            dict(lenses_ext.Settings().with_changes(settings)) or None,
            edits,
            read.text("agent", "") or None,
            limits=limits or None,
        )

    def _prompt(self, read: Reader) -> str:
        """A text, or that of the file after an @; no other files, as they may hold keys."""
        text = read.text("prompt")
        if not text.startswith("@"):
            return text
        if not text.endswith((".txt", ".md")):
            read.refuse("no-file", "the file of a prompt is one of .txt or .md", "prompt")
        path = self._path(read, "prompt", text[1:])
        return decode(path.read_bytes(), str(path)).rstrip("\n") if path else ""

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

    def _metrics(self, read: Reader) -> list[str | Path]:
        """Names of metrics, and files of judges and of schemas."""
        found: list[str | Path] = []
        with _placed(self._head, "metrics"):
            for name in read.names("metrics") or ["passed"]:
                if name.endswith((".gram", ".json")):
                    found.append(self._path(read, "metrics", name) or name)
                else:
                    given = f"no function of this name is given (--metric FILE.py:{name})"
                    self._expect_metric(name, NAMES, f'there is no metric "{name}", and {given}')
                    found.append(name)
        names = [each.stem if isinstance(each, Path) else each for each in found]
        with _placed(self._head, "primary"):
            if (primary := read.text("primary", "")) and names:
                self._expect_metric(primary, names, f"{primary} is not among the metrics")
        return found

    def _expect_metric(self, name: str, names: Sequence[str], told: str) -> None:
        own = self._own_metrics
        if own is None and name not in NAMES and not did_you_mean(name, NAMES):
            return  # who runs it gives it
        expect_known(name, [*names, *(own or ())], told)


@contextmanager
def _placed(part: Pattern, key: str | None = None) -> Iterator[None]:
    """Errors inside that have no place are about this part, or its property."""
    try:
        yield
    except (GramError, OSError) as error:
        if not (faults := error.faults if isinstance(error, ValidationError) else ()):
            _refuse(str(error), part, key)
        place = Diagnostic.of("", "", part)
        raise ValidationError.of(
            each if each.source else evolve(each, span=place.span, source=place.source)
            for each in faults
        ) from None


@contextmanager
def _collected(faults: list[Diagnostic]) -> Iterator[None]:
    """Faults inside are added to those that were found, and what comes after is read, too."""
    try:
        yield
    except ValidationError as error:
        faults += error.faults


def _refuse(
    message: str, part: Pattern, key: str | None = None, hint: str | None = None
) -> NoReturn:
    raise ValidationError.of([Diagnostic.of("experiment", message, part, key, hint=hint)])


def _number(read: Reader, key: str, least: int, default: int | None) -> int | None:
    if read.has(key) and read.number(key) < least:
        read.refuse("ill-typed", f"{key} must be at least {least}", key)
    return read.number(key) if read.has(key) else default


def read_experiment(
    path: PathLike,
    tools: Mapping[str, Library] = {},  # it is only read
    *,
    base: Arm | None = None,
    judge: Callable[[Path], MetricLike] | None = None,
    metrics: Sequence[MetricLike] = (),
) -> dict[str, Any]:
    """Read an experiment from its file, as arguments: ``ab(**read_experiment("x.gram"))``.

    Args:
        path: the file.
        tools: the libraries that arms name.
        base: what the file leaves out of its arms.
        judge: makes a metric of the file of a judge; by default one without tools.
        metrics: more metrics; `metrics` and `primary` of the file may name functions of them.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: it is not gram.
        ValidationError: something is wrong with it; the faults have their places.
        ConfigurationError: no arm names a library that is given, or a judge cannot be asked.
    """
    text = decode(Path(path).read_bytes(), str(path))
    own = {_name_of(each): each for each in metrics if _name_of(each) not in NAMES}
    written = WrittenExperiment(lenses_ext.parse_program(text, str(path)), tools, own)
    found = written.options

    def judged(file: Path) -> MetricLike:
        return judged_by(lenses_ext.load_project(file), name=file.stem)

    judges = {each.stem for each in found["metrics"] if isinstance(each, Path)}
    if unused := sorted(tools.keys() - written.libraries - judges):
        hint = f"it names {', '.join(sorted(written.libraries)) or 'none'}"
        raise ConfigurationError(f"{path}: no arm has the library {unused[0]}; {hint}")
    found["base"] = found["base"].over(base) if base else found["base"]
    named = [own.get(str(each)) or metric_of(each, judge or judged) for each in found["metrics"]]
    found["metrics"] = named + [each for each in metrics if each not in named]
    return found


def experiment_faults(document: Document) -> tuple[Diagnostic, ...]:
    """What is wrong with the experiment of a document, or with a plan that was written.

    Files that it names are read. Nothing runs, and libraries need not be there.
    """
    try:
        if any("hash" in each.value.properties for each in document.patterns[:1]):
            plan_from_patterns(document.patterns, has_hash=True)
        else:
            WrittenExperiment(document)
    except ValidationError as error:
        return tuple(error.faults)
    return ()


def metric_of(named: str | Path, judge: Callable[[Path], MetricLike]) -> MetricLike:
    """The metric of a name, of the file of a judge (.gram) or of a JSON Schema (.json).

    Raises:
        OSError: the file cannot be read.
        GramError: it is no judge, or no JSON Schema.
    """
    if isinstance(named, str):
        return named
    if named.suffix == ".gram":
        return judge(named)
    try:
        return matches_schema(read_json(decode(named.read_bytes(), str(named))), named.stem)
    except (GramError, ValueError) as error:
        raise ConfigurationError(f"{named}: no JSON Schema: {error}") from None


def _name_of(metric: MetricLike) -> str:
    if isinstance(metric, str):
        return metric
    return metric.name if isinstance(metric, Metric) else getattr(metric, "__name__", "")
