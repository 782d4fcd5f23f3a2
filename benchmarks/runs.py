"""Runs of an agent, beside a hand-written loop over ``openai`` and beside other frameworks.

Run it with ``python -m benchmarks.runs``, or with the names of some cases, some contenders or both.
The contenders are installed in environments of their own (see `benchmarks.environments`), talk to
one local server in a process of its own, and take turns. What counts is the CPU time of their
processes, with Python's garbage collector on. A contender that fails, or gives no answer for long,
is ended and reported in its table, as is what one cannot do; the others go on without it. A machine
changes its speed while it measures, so the last column compares what belongs together: it is the
median of what a contender took beside what the loop took in the same turn. A contender that cannot
be installed is left out, and pip says why. All cases take about ten minutes, unless the machine is
very busy: a case that has taken `ENOUGH` seconds begins no further turn but for the first three,
and none at all after `MOST`; its tables say how many turns there were. What is being measured is
printed to standard error.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from signal import SIGKILL
from statistics import median
from tempfile import TemporaryFile
from threading import Timer
from typing import Any, Final

from benchmarks.environments import ROOT, python_with, version_in
from benchmarks.model_server import serving

FOLDER = ROOT / "benchmarks" / "contenders"
OURS, LOOP = "ours", "openai loop"
PATIENCE: Final = 90
"""How many seconds a contender may take for one turn; on a busy machine that may be long."""
ENOUGH: Final = 30
"""After how many seconds no further turn of a case begins, but for the first three."""
MOST: Final = 90
"""After how many seconds no further turn of a case begins, but for the first."""
STARTS: Final = 15
"""The most turns of whole processes, each of which is run once a turn."""


@dataclass(frozen=True)
class Contender:
    """What is measured: a module of ``contenders``, the packages it needs, and its only case."""

    module: str
    packages: tuple[str, ...] = ()
    only: str = ""

    @property
    def python(self) -> str:
        """The Python that has its packages alone.

        What else is installed counts: `pydantic` looks through all of it when it is imported.
        """
        if self.packages:
            return python_with(self.module, self.packages)
        return python_with("this_checkout", ("--editable", str(ROOT)))


BUILDING = "import and build the agent"

CONTENDERS: Mapping[str, Contender] = {
    OURS: Contender("ours"),
    "ours, no tools": Contender("ours_without_tools", only=BUILDING),
    LOOP: Contender("openai_loop", ("openai",)),
    "pydantic-ai": Contender("pydantic_ai_agent", ("pydantic-ai-slim[openai]",)),
    "openai-agents": Contender("openai_agents_agent", ("openai-agents",)),
    "langgraph": Contender("langgraph_agent", ("langgraph", "langchain", "langchain-openai")),
    "smolagents": Contender("smolagents_agent", ("smolagents[openai]",)),
}


@dataclass(frozen=True)
class Case:
    """A row of the table: what is run, how often a turn at least, and for how many turns."""

    what: str
    arguments: Mapping[str, int] = field(default_factory=dict)
    times: int = 20
    turns: int = 7


CASES: Mapping[str, Case] = {
    "one run over HTTP": Case("over_http"),
    "one run over HTTP, async": Case("over_http_async"),
    "after 1,000 messages": Case("over_http", {"earlier": 1_000}, 2, 4),
    "after 10,000 messages": Case("over_http", {"earlier": 10_000}, 1, 2),
    "in process": Case("in_process", {}, 50),
    "in process, 10 rounds": Case("in_process", {"rounds": 10}, 10),
    "in process, after 1,000 messages": Case("in_process", {"earlier": 1_000}, 5),
    "in process, 50 tools": Case("in_process", {"tools": 50}, 10),
    "100 at once": Case("over_http_async_at_once", {}, 100, 5),
    "1,000 at once": Case("over_http_async_at_once", {}, 1_000, 2),
}

_BUILD = (
    "import sys; sys.path.insert(0, {folder!r}); import {module} as m; c = m.Contender({url!r})"
)
_MEMORY = "; import resource as r; print(r.getrusage(r.RUSAGE_SELF).ru_maxrss / 1024)"
_CANNOT = "cannot: "
_UNLESS = f"; {{0!r}} in c.cannot and sys.exit(print({_CANNOT!r} + c.cannot[{{0!r}}]))"
PROCESSES: Mapping[str, str] = {
    BUILDING: _UNLESS.format("in_process") + "; c.in_process()",
    "start to first answer over HTTP": _UNLESS.format("over_http") + "; c.over_http()()",
}
"""Whole processes: code that follows the making of a contender."""

Figures = dict[str, list[float]]


class LostError(Exception):
    """A contender that failed or did not answer; its text says how."""


def main() -> None:
    """Measure the cases that are named, or all, and print a table for each."""
    cases = [name for name in sys.argv[1:] if name not in CONTENDERS] or [*CASES, *PROCESSES]
    contenders = [name for name in CONTENDERS if name in sys.argv[1:]] or [*CONTENDERS]
    if not {*CASES, *PROCESSES}.issuperset(cases):
        known = "; ".join([*CASES, *PROCESSES, *CONTENDERS])
        sys.exit(f"name some of these cases and contenders, or none for all: {known}")
    pythons = _installed(contenders)
    with serving() as url:
        for number, title in enumerate(cases, 1):
            print(f"{number} of {len(cases)}: {title} …", file=sys.stderr)
            able = {
                name: at for name, at in pythons.items() if CONTENDERS[name].only in ("", title)
            }
            if title in CASES:
                _compare(title, CASES[title], able, url)
            else:
                _compare_processes(title, PROCESSES[title], able, url)


def _installed(contenders: Iterable[str]) -> dict[str, str]:
    """The Python of each contender, its versions printed; one without is left out and told of."""
    pythons = {}
    for name in contenders:
        packages = CONTENDERS[name].packages
        try:
            python = CONTENDERS[name].python
        except subprocess.CalledProcessError as error:
            print(f"{name}: left out, {', '.join(packages)} cannot be installed: {error}")
            continue
        pythons[name] = python
        versions = [f"{p} {version_in(python, p.partition('[')[0])}" for p in packages]
        print(f"{name}: {', '.join(versions) or 'this checkout'}", flush=True)
    return pythons


def _is_enough(turns: int, begun: float) -> bool:
    """Whether a case has had turns and time enough."""
    passed = time.monotonic() - begun
    return (turns >= 3 and passed >= ENOUGH) or (turns >= 1 and passed >= MOST)


def _compare(title: str, case: Case, pythons: Mapping[str, str], url: str) -> None:
    request = {"what": case.what, "arguments": dict(case.arguments), "times": case.times}
    cpu: Figures = {}
    wall: Figures = {}
    memory: Figures = {}
    lost: dict[str, str] = {}
    turns, begun = 0, time.monotonic()
    with ExitStack() as stack:
        asks = {
            name: stack.enter_context(worker(python, CONTENDERS[name].module, url))
            for name, python in pythons.items()
        }
        while turns < case.turns and not _is_enough(turns, begun):
            turns += 1
            for name, ask in asks.items():
                if name in lost:
                    continue
                try:
                    found = ask(request)
                except LostError as error:
                    lost[name] = str(error)
                    continue
                if "cannot" in found:
                    lost[name] = _CANNOT + found["cannot"]
                for key, figures in (("cpu", cpu), ("wall", wall), ("kilobytes", memory)):
                    if key in found:
                        figures.setdefault(name, []).append(found[key])
    _print(f"{title}: CPU of one run, {turns} turns", cpu, 1e3, "ms")
    _print_lost(lost)
    if "at_once" in case.what:
        _print(f"{title}: time of one run", wall, 1e3, "ms")
        first = {name: [max(each)] for name, each in memory.items()}  # later ones use it again
        _print(f"{title}: memory of one run", first, 1, "kB")


@contextmanager
def worker(python: str, module: str, url: str) -> Iterator[Callable[[object], dict[str, Any]]]:
    """A process that measures one contender, as a function from requests to results.

    The function raises `LostError` where the process fails, or takes longer than `PATIENCE`.
    """
    command = [python, str(FOLDER / "worker.py"), module, url]
    pipe = subprocess.PIPE
    with (
        TemporaryFile() as errors,
        subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=errors, text=True, env=_environment()
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        to_worker, from_worker = process.stdin, process.stdout

        def ask(request: object) -> dict[str, Any]:
            end = Timer(PATIENCE, process.kill)
            end.start()
            line = ""
            with suppress(BrokenPipeError):  # it has ended
                to_worker.write(json.dumps(request) + "\n")
                to_worker.flush()
                line = from_worker.readline()
            end.cancel()
            if not line:
                errors.seek(0)
                raise LostError(_how_lost(process.wait(), errors.read().decode()))
            found: dict[str, Any] = json.loads(line)
            return found

        end = Timer(PATIENCE, process.kill)
        try:
            yield ask
        finally:
            with suppress(BrokenPipeError):
                to_worker.close()
            end.start()
            process.wait()
            end.cancel()


def _how_lost(code: int, errors: str) -> str:
    """What became of a process that ended too early: the time it had, or its last words."""
    if code == -SIGKILL:
        return f"gave no answer within {PATIENCE} s"
    lines = [line.strip(" |+-") for line in errors.splitlines()]  # a group's end in a frame
    return f"failed: {next(filter(None, reversed(lines)), f'exit code {code}')}"


def _compare_processes(title: str, code: str, pythons: Mapping[str, str], url: str) -> None:
    cpu: Figures = {}
    memory: Figures = {}
    lost: dict[str, str] = {}
    turns, begun = -1, time.monotonic()
    while turns < STARTS and not _is_enough(turns, begun):
        turns += 1
        for name, python in pythons.items():
            if name in lost:
                continue
            module = CONTENDERS[name].module
            build = _BUILD.format(folder=str(FOLDER), module=module, url=url)
            program = [python, "-c", build + code + _MEMORY]
            before = os.times()
            try:
                found = subprocess.run(
                    program, capture_output=True, text=True, env=_environment(), timeout=PATIENCE
                )
            except subprocess.TimeoutExpired:
                lost[name] = _how_lost(-SIGKILL, "")
                continue
            after = os.times()
            if found.returncode:
                lost[name] = _how_lost(found.returncode, found.stderr)
            elif found.stdout.startswith(_CANNOT):
                lost[name] = found.stdout.strip()
            elif turns:  # the first, number 0, compiles
                used = after.children_user + after.children_system
                used -= before.children_user + before.children_system
                cpu.setdefault(name, []).append(used)
                memory.setdefault(name, []).append(float(found.stdout))
    _print(f"{title}: CPU, {turns} turns", cpu, 1, "s")
    _print_lost(lost)
    _print(f"{title}: resident memory", memory, 1, "MB")


def _environment() -> dict[str, str]:
    """The environment of a contender: no keys, no proxies, no path of this project.

    Modules are compiled once, as those that pip installs.
    """
    hidden = ("_API_KEY", "_PROXY", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.upper().endswith(hidden)}
    return {**kept, "OPENAI_API_KEY": "none"}


def _print_lost(lost: Mapping[str, str]) -> None:
    """Print what became of the contenders that the table leaves out."""
    for name, how in lost.items():
        print(f"{name:16} {how}")


def _print(title: str, figures: Figures, factor: float, unit: str) -> None:
    """Print a table: the minimum and the median of each, and how many times the loop's they are.

    The last column is the median of how many times the loop's it is turn by turn.
    """
    base = next((name for name in (LOOP, OURS, *figures) if name in figures), LOOP)
    print(f"\n{title}\n{'':16} {'minimum':>12} {'median':>12}   beside {base} … turn by turn")
    for name in CONTENDERS:
        if name not in figures:
            continue
        least, middle = min(figures[name]), median(figures[name])
        turns = [ours / theirs for ours, theirs in zip(figures[name], figures[base], strict=False)]
        ratios = [least / min(figures[base]), middle / median(figures[base]), median(turns)]
        shown = [f"{each * factor:,.3g} {unit}" for each in (least, middle)]
        beside = " … ".join(f"{each:.{2 if each >= 0.1 else 3}f} x" for each in ratios)
        print(f"{name:16} {shown[0]:>12} {shown[1]:>12}   {beside}")


if __name__ == "__main__":
    main()
