"""Make a program better, and show it, or say that it could not be shown."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import evolve

from gram import Document
from gram.documents import holding
from gram.errors import expect
from lenses_ext import Project, load_project

from ...errors import ValidationError
from ...history.records import PathLike
from ..cases import Case, Checks, RubricJudge
from ..experiments import Arm, Budget, MetricLike, require_statistics
from ..experiments.carrying_out import cases_of, expect_counts, prepare
from ..experiments.metrics import short_hash
from ..experiments.plan import make_plan
from .changes import Candidate, Changeable, Leaks, Proposer, proposer_of
from .deciding import Improvement, Looks, before_spending, expect_power
from .one_search import FILE, Journal, OneSearch
from .searching import FINALISTS, Search, Sets, alike_together, search_by_front

TRIES = 10
"""How many changes are proposed, where nothing else is asked for."""

_SHORTEST = 2_000  # characters that texts may have together, whatever they have now


def improve(
    program: PathLike | Project | Document,
    change: str | Iterable[str],
    cases: PathLike | Iterable[Case],
    metric: MetricLike = "passed",
    *,
    base: Arm | None = None,
    checks: Checks = {},  # noqa: B006  # it is only read
    judge: RubricJudge | None = None,
    proposer: Proposer = None,
    search: Search[Candidate] = search_by_front,
    tries: int = TRIES,
    budget: Budget | None = None,
    looks: PathLike | None = None,
    out: PathLike | None = None,
    seed: int | None = None,
    jobs: int = 4,
    progress: bool | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Improvement:
    """Search for changes that make a program better, and test the best of them once.

    The cases are in three sets, which follow from their contents: candidates are found on the
    first, one is chosen on the second, and the last decides, in one paired test. One last set
    decides in at most five searches, each at a fifth of 5 %. Called again with the same folder, a
    search that was stopped goes on.

    Args:
        program: the program: its file, or a document or project that was read.
        change: the paths of what may change, as `gram set` has them; commas part several.
        cases: the cases, or their file.
        metric: what is to be better: a name, a `Metric`, or a function of a trial.
        base: how the program is run: tools, model, settings and limits. Where texts of tools may
            change, tools match by their types unless it says otherwise.
        checks: the functions that cases name as their checks.
        judge: what judges the rubrics of cases; by default one with the model of the program.
        proposer: who proposes changes, see `Proposer`; by default the program's own model.
        search: how candidates are searched for; `search_with_gepa` is another way.
        tries: how many changes are proposed, at most.
        budget: what the search may take, judges and the proposer included. It keeps what choosing
            and the last set need, as runs took until then; by default as many runs as ``tries``
            need.
        looks: the file that counts how often the last set has decided; by default beside the file
            of cases.
        out: the folder that keeps the search; without it, nothing is kept.
        seed: draws what is drawn at random; by default it is drawn itself.
        jobs: how many runs go on at once.
        progress: whether to show progress bars, see `ab`.
        tell: is called with what has to be known before anything is spent, and with what is done.

    Raises:
        OSError: a file cannot be read or written; what was done is kept.
        GramDecodeError: a file is not gram.
        ArgumentError: an argument is of the wrong type.
        ValidationError: a program or a case is not valid, the folder has another search, or the
            last set can show nothing.
        ToolBindingError: the tools do not bind.
        ConfigurationError: a model cannot be asked, or a path leads to nothing that can change.
        AgentError: the proposer failed.
    """
    require_statistics()
    expect_counts("improve", tries=tries, jobs=jobs)
    expect(program, (str, os.PathLike, Project, Document), "program", by="improve")
    read = Project.of(program) if isinstance(program, Document) else program
    read = read if isinstance(read, Project) else load_project(read)
    changeable = Changeable.of(read, change)
    given = cases_of(cases, by="improve")
    arm = evolve(base or Arm(), program=read)
    if changeable.changes_tools and arm.match is None:
        arm = evolve(arm, match="types")
        tell("texts of tools may change: they match by types, and gram run needs --match types")
    (prepared,), (measured,), judge = prepare(given, {"program": arm}, [metric], checks, judge)
    plan = make_plan([prepared], [measured], given, primary=measured.name, repeats=1, seed=0)
    texts = [each.text for each in read.documents.values()]
    subject = short_hash("\0".join([plan.hash, *texts, *sorted(changeable.places)]))
    expect(seed, (int, type(None)), "seed", by="improve")
    drawn = secrets.randbelow(2**31) if seed is None else abs(seed)
    temporary = TemporaryDirectory(prefix="gram-improve-") if out is None else nullcontext(out)
    with temporary as name:
        folder = Path(name)
        journal = Journal(folder, subject, (secrets.token_hex(8), drawn))
        if looks is None and isinstance(cases, str | os.PathLike):
            looks = Path(cases).with_name(f"{Path(cases).name}.looks.gram")
        elif looks is None:
            tell("the cases have no file: looks=FILE counts how often their last set has decided")
        ledger = Looks(Path(looks or folder / "looks.gram"))
        sets = Sets.of(given)
        last, before, has_looked = ledger.before(sets.last, journal.id)
        expect_power(sets, last)
        sets = evolve(sets, last=last)
        reserved = (FINALISTS + 1) * len(sets.choosing) + 2 * len(sets.last)
        whole, one_candidate = budget or Budget(), 2 * len(sets.search) + reserved
        most = whole.runs or len(sets.search) * (1 + tries) + reserved
        if most < one_candidate:
            raise ValidationError(
                f"{most:g} runs are too few: with these cases, one candidate and the last "
                f"test need {one_candidate}"
            )
        whole = evolve(whole, runs=most)
        one = OneSearch(
            changeable,
            arm,
            measured,
            {each.name: each for each in alike_together(given)},
            sets,
            Leaks(given, read.patterns),
            max(_SHORTEST, 2 * sum(map(len, changeable.texts.values()))),
            proposer_of(proposer, prepared),
            journal,
            ledger,
            before + 1,
            has_looked,
            whole,
            reserved,
            {"checks": checks, "judge": judge, "jobs": jobs, "progress": progress},
            tell,
        )
        for each in before_spending(sets, before + 1, measured, whole):
            tell(each)
        journal.begin()
        ledger.expect_writable()
        with holding(folder / FILE, wait=False, private=True):
            return one.carried_out(search, tries, None if out is None else folder)
