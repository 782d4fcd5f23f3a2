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

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gram import Diagnostic, Document
from gram.documents import decode
from lenses_ext import load_project, parse_program

from ...errors import ConfigurationError, ValidationError
from ...history.records import PathLike
from ...json_text import read_json
from .arms import Arm, Library
from .judging import judged_by
from .metrics import Metric, MetricLike, matches_schema
from .plan import plan_from_patterns
from .written_experiment import WrittenExperiment


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
    written = WrittenExperiment(parse_program(text, str(path)), tools)
    if written.faults:
        raise ValidationError.of(written.faults)
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
    return tuple(WrittenExperiment(document).faults)


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
