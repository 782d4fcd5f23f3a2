"""What `gram lsp` costs, in processor time: a file of 56 KB, right after a key and later.

Run it from the project's root with ``python -m benchmarks.editor``. The targets are 50 ms for an
answer, and 1.5 times the time of `gram check` and `gram lint` for faults.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks.notation import agents, least
from gram import Diagnostic
from interp.cli.lsp.open_files import Meaning, OpenFile
from interp.cli.lsp.told import completions, told_at
from interp.models import check_program, lint_program
from lenses_ext import load_project, parse_program

TEXT = agents(160, alike=False)
FILE = Path("agents.gram").resolve()
MIDDLE = TEXT.index("say80")
BROKEN = TEXT[: TEXT.index("]\n", MIDDLE)] + TEXT[TEXT.index("]\n", MIDDLE) + 1 :]

LAST = Meaning(OpenFile(TEXT, FILE, "utf-16"), {})

_typed = count()


def after_a_key(text: str) -> Meaning:
    """What an open file means that has just been changed."""
    file = OpenFile(f"{text}// {next(_typed)}\n", FILE, "utf-16", LAST)
    return Meaning(file, {FILE: file})


def asked_at_once(ask: Callable[[Meaning], object], text: str) -> object:
    """What is answered right after a key."""
    return ask(after_a_key(text))


def judged(meaning: Meaning) -> Sequence[Diagnostic]:
    """What `gram check` and `gram lint` find."""
    program = meaning.program
    return [*check_program(program), *lint_program(program, today=date.today())]


def from_a_file() -> Sequence[Diagnostic]:
    """The same, by the commands' way."""
    program = load_project(FILE, {FILE: parse_program(f"{TEXT}// {next(_typed)}\n")})
    return [*check_program(program), *lint_program(program, today=date.today())]


def main() -> None:
    """Print the milliseconds of each answer, and the ratio of both ways to find faults."""
    answers: dict[str, Callable[[Meaning], object]] = {
        "hover": lambda meaning: told_at(meaning, MIDDLE),
        "definition": lambda meaning: meaning.use_at(MIDDLE),
        "completion": lambda meaning: completions(meaning, MIDDLE),
    }
    for text, state in ((TEXT, "whole"), (BROKEN, "broken")):
        known = after_a_key(text)
        for name, ask in answers.items():
            first = min(least(partial(asked_at_once, ask, text)) for _ in range(3))
            again = least(partial(ask, known))
            print(f"{state:7}{name:11}{first * 1e3:6.1f} ms, again {again * 1e3:6.1f} ms")
    typed = min(least(lambda: judged(after_a_key(TEXT))) for _ in range(3))
    read = min(least(from_a_file) for _ in range(3))
    print(f"faults  {typed / read:.2f} times what check and lint take")


if __name__ == "__main__":
    main()
