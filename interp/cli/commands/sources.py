"""Commands on files of programs: ``check`` and ``lint`` judge them, ``fmt`` lays them out,
``convert`` and ``graph`` print them in other forms."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import gram
import lenses_ext
from gram import Diagnostic, Document, GramDecodeError, Pattern, Source, Subject
from gram.checks import syntax_fault
from gram.diagnostics import only_errors
from gram.documents import resolved
from gram.json import Json
from gram.words import counted
from lenses_ext import Project, load_project, parse_program
from lenses_ext.names import diagnose, find_runnables, load_together, shared_tools
from lenses_ext.rules import NAMESAKES, with_levels

from ...json_text import read_json
from ...models import check_program, lint_program, offered_check
from ..each_file import each_file, laid_out, rewrite
from ..failures import NO
from ..inputs import declaring
from ..inputs.declaring import Options, command, json_option, option
from ..inputs.files import STDIN, are_many, read_program, read_text
from ..inputs.project import project_levels
from ..terminal import console
from ..terminal.console import forbid, note, show, show_diff, tell

if TYPE_CHECKING:
    from ...exchange import Exchanged

_TABLES = (".csv", ".jsonl")
"""The endings of files that have cases and nothing else."""

_WORDS = {"error": "error", "warning": "warning", "info": "remark"}
"""What faults of each severity are called where they are counted."""


class _FaultOptions(Options):
    format: Literal["text", "json", "sarif", "github"] = option(
        "How faults are printed: as text, JSON, SARIF or annotations on GitHub.", default="text"
    )
    as_json: bool = option("The same as --format json.", name="--json")
    strict: bool = option("Exit with 1 for warnings too.")
    stdin_filename: str | None = declaring.stdin_filename_option

    def __attrs_post_init__(self) -> None:
        is_other = self.as_json and self.format not in ("text", "json")
        forbid(is_other, f"--json and --format {self.format} print different things: choose one")


@command("check")
def check_command(
    files: tuple[str, ...],
    options: _FaultOptions,
    fix: bool = option("First fix what can be fixed without changing trees."),
    models: bool = option("Also ask servers, over the network, whether they offer the models."),
) -> None:
    """Report the faults in FILES; without --models no network, key or tool library is needed.

    FILES are files, folders and globs; - is standard input. Schedules, experiments and cases are
    judged, too, also cases in .csv and .jsonl. Of several files, it is told where a definition
    differs from that of the same name in another file. Exits with 1 if there is an error, with 0
    if there are only warnings. `gram lint` reports what is valid and doubtful.
    """
    asked = offered_check(lambda name: note(f"asks {name} for its models"))
    more = (asked,) if models else ()
    levels = project_levels()
    documents: dict[Path, Document] = {}

    def matters(program: Project, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        return with_levels(found, program.patterns, levels)

    def find(file: str) -> tuple[Diagnostic, ...]:
        text, name = read_text(file, options.stdin_filename)
        if Path(name).suffix.lower() in _TABLES:
            return _faults_of_cases(text, name)
        found = _read_faulty(text, name)
        if not isinstance(found, Document):
            return found
        head = found.patterns[0].value if found.patterns else Subject()
        is_plan = "Experiment" in head.labels and "hash" in head.properties
        others = tuple(_others(found, is_plan))
        if is_plan:  # it repeats an agent for each arm
            return others
        if file == STDIN:
            program = Project.of(found)
        else:
            documents[resolved(Path(file))] = found
            program = load_project(file, {Path(file): found})
        return (*matters(program, check_program(program, *more)), *others)

    def drifted() -> Iterator[Diagnostic]:
        """Where a definition differs from its namesake in another of the files."""
        some = documents if len(documents) > 1 else {}
        return _judge_together(some, lambda it: matters(it, diagnose(it, (NAMESAKES,))))

    mend = partial(_fix_file, find=check_program) if fix else None
    _report_faults(files, find, options, fix=mend, together=drifted)


@command("lint")
def lint_command(
    files: tuple[str, ...],
    options: _FaultOptions,
    fix: bool = option("First correct the names of tools in instructions."),
) -> None:
    """Report what is valid in FILES, and doubtful; `gram check` reports what is wrong.

    FILES are files, folders and globs, judged together; - is standard input. How much a code
    matters is said in gram.toml, lint = {unused-tool = "off"}, or in a program, {lint:
    {unused-tool: "off"}}: error, warning, info or off. Exits with 1 if there is an error, with 0
    if there are only warnings.
    """
    levels, today = project_levels(), date.today()
    documents: dict[Path, Document] = {}

    def doubts(program: Document | Project) -> Iterator[Diagnostic]:
        return with_levels(lint_program(program, today=today), program.patterns, levels)

    def find(file: str) -> Iterable[Diagnostic]:
        found = _read_faulty(*read_text(file, options.stdin_filename))
        if not isinstance(found, Document):
            return found
        if file == STDIN:  # a text opens no files
            return doubts(found)
        documents[resolved(Path(file))] = found
        return ()

    def mend(file: str) -> None:
        where = resolved(Path(file))
        _fix_file(file, lambda document: _judge_together({where: document}, doubts))

    together = partial(_judge_together, documents, doubts)
    _report_faults(files, find, options, fix=mend if fix else None, together=together)


def _report_faults(
    files: Sequence[str],
    find: Callable[[str], Iterable[Diagnostic]],
    options: _FaultOptions,
    *,
    fix: Callable[[str], object] | None,
    together: Callable[[], Iterable[Diagnostic]],
) -> None:
    """Print the faults of files, count them, and leave with the exit code that they make.

    Args:
        fix: fixes a file before; None for no.
        together: the faults of all files, once each of them was read.
    """
    forbid(fix and STDIN in files, "--fix writes files, so it cannot be used with standard input")
    faults: list[Diagnostic] = []

    def judge(file: str) -> None:
        try:
            if fix:
                fix(file)
            faults.extend(find(file))
        except GramDecodeError as error:  # not UTF-8
            faults.append(syntax_fault(error))

    tally = each_file(files, judge)
    once: dict[object, Diagnostic] = {}
    for each in (*faults, *together()):  # a file that several import is judged with each of them
        where = os.path.realpath(each.filename or STDIN)
        once.setdefault((each.code, where, each.span or each.path, each.message), each)
    found = [*once.values()]
    if only_errors(found) or (options.strict and any(it.severity == "warning" for it in found)):
        tally.code = max(tally.code, NO)
    form = "json" if options.as_json else options.format
    if found or form != "text":
        from ..terminal.faults_shown import show_faults  # imported late: good programs need none

        show_faults(found, form)
    if found:
        counts = Counter[str](each.severity for each in found)
        said = [counted(counts[kind], word) for kind, word in _WORDS.items() if counts[kind]]
        fixable = sum(bool(each.fix) for each in found)
        hint = f"; {fixable} can be fixed with --fix" if fixable else ""
        note(f"{', '.join(said)} in {counted(len(tally.rows), 'file')}{hint}")
    tally.leave()


def _fix_file(file: str, find: Callable[[Document], Iterable[Diagnostic]]) -> None:
    """Write a file with all fixes: mending one fault may show another behind it."""

    def mended(text: str, name: str) -> str:
        while True:
            found = _read_faulty(text, name)
            faults = find(found) if isinstance(found, Document) else found
            after = gram.apply_fixes(found if isinstance(found, Document) else text, faults)
            if after == text:
                return text
            text = after

    rewrite(file, mended)


def _judge_together(
    documents: Mapping[Path, Document], find: Callable[[Project], Iterable[Diagnostic]]
) -> Iterator[Diagnostic]:
    """What is found in documents that are judged together, with the files that they import."""
    names = {each.filename for each in documents.values()}  # others are only imported
    found = (each for program in load_together(documents) for each in find(program))
    return (each for each in found if each.filename in names)


def _read_faulty(text: str, name: str) -> Document | tuple[Diagnostic, ...]:
    """The document that a text is, or its syntax errors."""
    try:
        return parse_program(text, name)
    except GramDecodeError:
        return tuple(map(syntax_fault, gram.syntax_errors(text, name)))


def _others(document: Document, is_plan: bool) -> Iterator[Diagnostic]:
    """What is wrong with the cases, schedules and experiments that are in a document."""
    labels = {label for each in document.patterns for label in each.value.labels}
    if "Case" in labels and not is_plan:
        yield from _faults_of_cases(document.text, document.filename or "<stdin>.gram")
    if "Experiment" in labels:
        from ...evaluation.experiments import experiment_faults

        yield from experiment_faults(document)
    if "Schedule" in labels:
        from ...workers import schedule_faults  # imported late: few files have some

        yield from schedule_faults(document)
    is_program = find_runnables(document) or shared_tools(document)
    if not (labels & {"Case", "Schedule", "Experiment"} or is_program):
        note(f"{document.filename}: no agent here, checked as plain data")


def _faults_of_cases(text: str, name: str) -> tuple[Diagnostic, ...]:
    from ...evaluation.cases import case_faults  # imported late: few files have some

    return case_faults(Source(text, name))


@command("fmt")
def fmt_command(
    files: tuple[str, ...],
    check: bool = option("Exit with 1 when a file would change; write nothing."),
    diff: bool = option("Print what would change; write nothing."),
    as_json: bool = json_option,
    stdin_filename: str | None = declaring.stdin_filename_option,
) -> None:
    """Lay out FILES in place: files, folders and globs.

    - reads standard input and writes standard output.
    """
    writes = not (check or diff)
    forbid(as_json and (diff or STDIN in files), "--json tells of files: without --diff and -")

    def lay_out(file: str) -> dict[str, Any]:
        if writes and file != STDIN:
            return {"changed": rewrite(file, gram.format_text)}
        text, name = read_text(file, stdin_filename)
        laid_out = gram.format_text(text, name)
        if writes:
            show(laid_out, nl=False)
            return {}
        if laid_out == text:
            return {"changed": False}
        if diff:
            show_diff(text, laid_out, name)
        if check and not as_json:
            note(f"{name} would change")
        return {"changed": True, "code": NO}

    tally = each_file(files, lay_out)
    tally.show(as_json, verb="laid out" if writes else "would change")
    tally.leave()


@command("convert")
def convert_command(
    files: tuple[str, ...],
    target: Literal["json", "gram", "agentspec"] | None = option("What to print.", name="--to"),
    is_bundled: bool = option("Print FILE with all that it imports.", name="--bundle"),
    agent: str | None = declaring.agent_option,
) -> None:
    """Print gram FILES as canonical JSON, or JSON and Agent Spec FILES as gram.

    The name of a file says which it is; for standard input (-), --to is needed. Of several files,
    an object from file to JSON is printed, or the gram of each under its name.

    With --to agentspec the one agent or workflow of a program, or that of --agent, is printed as
    Open Agent Spec, in YAML. What has no counterpart is told on standard error, both ways, each
    with its path.

    With --bundle the gram of one text is printed: a file and what it uses of those that it imports.
    What clashes is put inside the agents and tools that use it; where that cannot be, it says why.
    """
    from ... import exchange  # imported late: check and fmt need none

    several = are_many(files)
    as_json: dict[str, Json] = {}
    is_exported = target == "agentspec"
    forbid(is_bundled and target not in (None, "gram"), "--bundle prints gram, and nothing else")
    forbid(agent is not None and not is_exported, "--agent chooses what --to agentspec prints")
    forbid(is_exported and several, "an Agent Spec file is of one program: name one file")

    def convert(file: str) -> None:
        if is_bundled:
            program = lenses_ext.bundle(read_program(file))
            show(f"// {file}\n" * several + laid_out(program), nl=False)
            return
        forbid(target is None and file == STDIN, "standard input needs --to json or --to gram")
        if is_exported:
            source = read_program(file)
            _show(file, lambda: exchange.to_agent_spec(source, agent))
            return
        text, name = read_text(file)
        read = {".json": "gram", ".yaml": "gram", ".yml": "gram"}
        if (target or read.get(Path(file).suffix, "json")) == "json":
            as_json[name] = gram.to_json(gram.parse(text, name).patterns)
        elif _is_agent_spec(text):
            show(f"// {name}\n" * several, nl=False)
            _show(name, lambda: exchange.from_agent_spec(text, name))
        else:
            show(f"// {name}\n" * several + lenses_ext.write_program(_patterns(text, name)))

    tally = each_file(files, convert)
    tally.show_by_file(as_json, several)
    tally.leave()


def _is_agent_spec(text: str) -> bool:
    """Whether a text that becomes gram is Agent Spec: YAML, or an object that says so."""
    is_json = text.lstrip().startswith(("{", "["))
    return not is_json or ('"component_type"' in text and '"subject"' not in text)


def _show(name: str, make: Callable[[], Exchanged]) -> None:
    from ...exchange import NoCounterpartError

    try:
        made = make()
    except NoCounterpartError as error:
        raise NoCounterpartError(f"{name}: {error}") from None
    for loss in made.losses:
        tell(f"{name}: {loss}")
    show(made.text, nl=False)


def _patterns(text: str, name: str) -> Pattern | tuple[Pattern, ...]:
    try:
        data = read_json(text)
    except ValueError as error:
        at = getattr(error, "pos", 0)
        message = f"not JSON: {getattr(error, 'msg', error)}"
        raise GramDecodeError(message, text, at, filename=name) from None
    try:
        patterns: Pattern | tuple[Pattern, ...] = gram.from_json(data)
    except GramDecodeError as error:
        raise GramDecodeError(error.msg, filename=name) from None
    return patterns


_SUFFIXES = {"": "mermaid", ".mmd": "mermaid", ".svg": "svg", ".dot": "dot", ".gv": "dot"}


@command("graph")
def graph_command(
    file: str,
    form: Literal["mermaid", "dot", "svg"] | None = option(
        "What to draw it as; without it, the suffix of OUT decides, else Mermaid.", name="--as"
    ),
    out: str | None = option("Write to this file.", "OUT", name="-o"),
    run: str | None = option("Show what this run came to, and how often.", "RUN"),
    agent: str | None = declaring.agent_option,
) -> None:
    """Draw the agents, tools and workflows of the program in FILE, and the arrows between them.

    Faulty programs are drawn too: a name that is not defined is drawn as such.
    """
    console.expect_a_name(out, "-o")
    console.expect_other_file(out)
    forbid(file == run == STDIN, "standard input cannot be both the program and the run")
    suffix = Path(out or "").suffix.lower()
    why = f"no {suffix} is drawn: name OUT .svg, .dot or .mmd"
    forbid(form is None and suffix not in _SUFFIXES, why)
    drawing = lenses_ext.drawing_of(read_program(file), agent)
    if run is not None:
        from ...history.replaying import timeline  # imported late: only this needs runs
        from ...views import with_counts
        from ..inputs.record_option import named_runs

        found = timeline(named_runs(run)[-1], has_prices=False)
        drawing = with_counts(drawing, found)
        if found.requests + found.calls and not any(each.count for each in drawing.nodes):
            tell(f"gram: {run} is a run of {found.agent}, and came to nothing that is drawn")
    chosen = form or _SUFFIXES[suffix]
    text = getattr(lenses_ext, f"to_{chosen}")(drawing)
    if out is None:
        show(text)
    else:
        console.write_result(out, f"{text}\n")
