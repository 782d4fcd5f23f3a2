"""What a command costs before it does anything: whole processes, beside what they cannot avoid.

Run it from the project's root with ``python -m benchmarks.startup``. Bytecode counts: a first run
after an install compiles what was not compiled yet.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial

from benchmarks.compare import compare

RUN = "import sys; from interp.cli import main; sys.argv[0] = 'gram'; main()"


def process(*arguments: str) -> Callable[[], object]:
    """A run of Python with these arguments, to its end."""
    command = [sys.executable, *arguments]
    return partial(subprocess.run, command, check=True, capture_output=True)


def main() -> None:
    """Compare commands with an empty program, and with the libraries alone."""
    hello = "examples/hello_world.gram"
    compare(
        "start-up",
        {
            "python alone": process("-c", "pass"),
            "its libraries": process("-c", "import attrs, pyrsistent, click, lenses"),
            "import gram, lenses_ext, interp": process("-c", "import gram, lenses_ext, interp"),
            "gram check": process("-c", RUN, "check", hello),
            "gram get": process("-c", RUN, "get", hello, "hello_world_agent.model"),
            "gram run --offline": process("-c", RUN, "run", hello, "Hello", "--offline"),
        },
    )


if __name__ == "__main__":
    main()
