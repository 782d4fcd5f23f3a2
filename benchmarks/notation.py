"""The notation and the commands, beside a C parser with the same trees built in Python.

Run it with ``python -m benchmarks.notation``; ``--plots`` also draws how cost grows, for
docs/inside/performance.md. What counts is CPU time with Python's garbage collector on; the
alternatives take turns, and the least and the median of their times are printed. A ratio is of
the least times.
"""

from __future__ import annotations

import gc
import io
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks import c_parser
from benchmarks.plots import plot
from gram import format_text, loads, origin, parse, walk

AGENT = """\
[agent{n}:Agent {{
  description: "A friendly agent that greets people", // number {n}
  instruction: "Have friendly conversations. When the user greets you, call `{tool}`.",
  model: "OpenAI/gpt-5.6-luna"
}} |
  [{tool}:ToolSpecification {{description: "Returns a friendly greeting message"}} |
    ({name}::Text {{default: "world"}})==>(::String)]
]
"""
EDGE = "(n{n}:Person {{age: {age}}})-[:KNOWS]->(n{next})\n"
COMMAND = "import sys; from interp.cli import main; sys.argv[0] = 'gram'; main()"
LIBRARIES = "import attrs, pyrsistent, click"
COMMANDS: Mapping[str, Sequence[str]] = {
    "check": ["check"],
    "get": ["get", "*.model"],
    "set -i": ["set", "-i", "*.model", "A/b"],
    "fmt": ["fmt"],
}
PLOTS = Path(__file__).parent.parent / "docs" / "inside" / "plots"

Work = Callable[[], object]
Line = list[tuple[float, float]]


def agents(count: int, *, alike: bool = True) -> str:
    """A text of agents; unless they are alike, each has a tool of its own."""
    own = [("sayHello", "personName") if alike else (f"say{n}", f"name{n}") for n in range(count)]
    return "".join(AGENT.format(n=n, tool=tool, name=name) for n, (tool, name) in enumerate(own))


def graph(count: int) -> str:
    """A text of relationships."""
    return "".join(EDGE.format(n=n, age=n % 90, next=n + 1) for n in range(count))


def main() -> None:
    """Print all tables, and draw the plots when asked to."""
    with TemporaryDirectory() as folder:
        at = Path(folder)
        reading()
        commands(at)
        processes(at)
        if "--plots" in sys.argv[1:]:
            draw_bytes()
            draw_agents(at)
            draw_files(at)


# --- what is measured


def reading() -> None:
    """Reading trees, beside the C parser with trees, and with places."""
    for name, text in (("1 MB of agents", agents(2_800)), ("1 MB of a graph", graph(22_000))):
        table(
            f"reading {name} ({len(text) / 1e6:.2f} MB)",
            "C parser and trees",
            {
                "C parser and trees": partial(c_parser.read, text),
                "C parser alone": partial(c_parser.parse_only, text),
                "gram.loads": partial(loads, text),
                "gram.parse": partial(parse, text),
                "gram.parse, every origin asked": partial(places, text),
                "gram.parse, all constructs": lambda text=text: parse(text).items,
            },
        )


def places(text: str) -> None:
    """Read a text, and ask where each of its patterns was read from."""
    for _, pattern in walk(parse(text).patterns):
        origin(pattern)


def commands(at: Path) -> None:
    """Commands on many agents in one file, without the start of a process."""
    for count, alike in ((2_000, True), (2_000, False), (400, True)):
        text, file = agents(count, alike=alike), at / "agents.gram"
        file.write_text(text)
        table(
            f"{count:,} agents in a file" + ("" if alike else ", each with a tool of its own"),
            "C parser and trees",
            {
                "C parser and trees": partial(c_parser.read, text),
                "gram check": command("check", file),
                "gram get '*.model'": command("get", file, "*.model"),
                "gram set agent7.model": command("set", file, "agent7.model", "A/b"),
                "gram set '*.model'": command("set", file, "*.model", "A/b"),
                "gram fmt": partial(format_text, text),
            },
            rounds=3,
        )


def write_files(folder: Path, count: int) -> None:
    """Write a folder of small files, an agent in each."""
    folder.mkdir()
    for n in range(count):
        text = AGENT.format(n=n, tool="sayHello", name="personName")
        (folder / f"{n}.gram").write_text(text)


def processes(at: Path) -> None:
    """Whole processes on one small file, and on fifty."""
    one, fifty = at / "one", at / "fifty"
    write_files(one, 1)
    write_files(fifty, 50)
    work: dict[str, Work] = {"Python with its libraries": process("-c", LIBRARIES)}
    for name, arguments in COMMANDS.items():
        for folder in (one, fifty):
            files = f"{len(list(folder.iterdir()))} file(s)"
            work[f"gram {name}, {files}"] = process("-c", COMMAND, *arguments, str(folder))
    table("whole processes", "Python with its libraries", work, clock=children)


def draw_bytes() -> None:
    """Draw how the cost of reading grows with the text."""
    lines: dict[str, Line] = defaultdict(list)
    for name, made, each in (("agents", agents, 2_800), ("a graph", graph, 22_000)):
        for size in (0.1, 1, 2.5, 5, 10):
            text = made(int(each * size))
            for what, read in (("loads", loads), ("C parser", c_parser.read)):
                lines[f"{what}, {name}"].append((len(text) / 1e6, least(partial(read, text))))
    plot(PLOTS / "bytes.svg", "Reading trees", "MB of text", "seconds of CPU", lines)


def draw_agents(at: Path) -> None:
    """Draw how the cost of commands grows with the agents in a file."""
    lines: dict[str, Line] = defaultdict(list)
    file = at / "growing.gram"
    for count in (100, 500, 1_000, 2_000, 4_000):
        text = agents(count)
        file.write_text(text)
        for name, work in {
            "gram check": command("check", file),
            "gram set '*.model'": command("set", file, "*.model", "A/b"),
            "gram set agent7.model": command("set", file, "agent7.model", "A/b"),
            "gram fmt": partial(format_text, text),
        }.items():
            lines[name].append((count, least(work)))
    plot(PLOTS / "agents.svg", "Commands on one file", "agents", "seconds of CPU", lines)


def draw_files(at: Path) -> None:
    """Draw how the cost of one command grows with the files that it is given."""
    lines: dict[str, Line] = defaultdict(list)
    for count in (1, 10, 25, 50, 100):
        folder = at / f"files{count}"
        write_files(folder, count)
        for name, arguments in COMMANDS.items():
            work = process("-c", COMMAND, *arguments, str(folder))
            lines[f"gram {name}"].append((count, least(work, children)))
    plot(PLOTS / "files.svg", "One command on many files", "files", "seconds of CPU", lines)


# --- how it is measured


def command(name: str, *arguments: object) -> Work:
    """A command in this process, its output thrown away."""
    from interp.cli import main as gram

    def run() -> None:
        before, sys.argv = sys.argv, ["gram", name, *map(str, arguments)]
        try:
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                gram()
        except SystemExit as left:
            if left.code:
                raise RuntimeError(f"gram {name} failed") from None
        finally:
            sys.argv = before

    return run


def process(*arguments: str) -> Work:
    """A run of Python with these arguments, to its end."""
    command = [sys.executable, *arguments]
    return partial(subprocess.run, command, check=True, capture_output=True)


def children() -> float:
    """The CPU time of the processes that this one has started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def times(work: Work, clock: Callable[[], float]) -> float:
    """The seconds that some work takes once, after the garbage of others is collected."""
    gc.collect()
    before = clock()
    work()
    return clock() - before


def least(work: Work, clock: Callable[[], float] = time.process_time) -> float:
    """The lesser of two times."""
    return min(times(work, clock) for _ in range(2))


def table(
    title: str,
    base: str,
    work: Mapping[str, Work],
    *,
    rounds: int = 5,
    clock: Callable[[], float] = time.process_time,
) -> None:
    """Measure some alternatives in turn, and print each as a multiple of one of them."""
    took: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, each in work.items():
            took[name].append(times(each, clock))
    print(f"\n{title}\n    ratio     least    median")
    for name, seconds in took.items():
        ratio = min(seconds) / min(took[base])
        print(f"  {ratio:6.2f}x {min(seconds):8.3f}s {median(seconds):8.3f}s  {name}")


if __name__ == "__main__":
    main()
