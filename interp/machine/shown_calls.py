"""Tool calls as people read them: on one line, or an argument to a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final
from unicodedata import east_asian_width

from gram.plurals import counted

from ..json_text import Json, read_json, write_json
from ..visible_text import visible_text

_GOES_ON: Final = "|     "
"""What a line begins with that goes on with an argument: an argument begins with its name."""

_NARROWEST: Final = 20  # columns; in fewer, a line would have no room behind its mark


def call_text(name: str, args: Json) -> str:
    """A tool call on one line; arguments that are not an object are shown unchanged.

    The name of an argument is quoted when it is not a word, so that it cannot pass for more.

    >>> call_text("greet", {"name": "Al"}), call_text("greet", '{"name": ')
    ('greet(name: "Al")', 'greet({"name": )')
    >>> call_text("pay", {"amount: 1, to": "Al"})
    'pay("amount: 1, to": "Al")'
    """
    with suppress(ValueError):
        args = read_json(args) if isinstance(args, str) else args  # as the model wrote them
    if isinstance(args, dict):
        args = ", ".join(_argument_texts(args))
    return f"{name}({args if isinstance(args, str) else write_json(args)})"


def question_text(
    name: str,
    args: Mapping[str, Json],
    place: Sequence[str],
    *,
    width: int | None = None,
    most: int | None = None,
) -> str:
    """A call that somebody has to decide about: each argument on a line of its own, behind a mark.

    What a model wrote is nowhere else than behind marks, so that it cannot pass for a question.

    Args:
        name: the name of the tool.
        args: its arguments.
        place: the place of who calls it, see `path_of_names`.
        width: where lines are broken, so that a terminal does not; None for nowhere.
        most: how many characters of an argument are shown; None for all.

    >>> print(question_text("pay", {"to": "Al", "why": "a  b"}, ["bank", "clerk"]))
    pay for bank/clerk
    | to: "Al"
    | why: "a␣␣b"
    """
    by = "/".join(map(_as_word, place))
    lines = [visible_text(f"{_as_word(name)} for {by}" if by else _as_word(name))]
    for each in _argument_texts(args):
        text = visible_text(each)
        if most is not None and len(text) > most:
            text = f"{text[:most]}… ({counted(len(text) - most, 'more character')})"
        lines += _behind_marks(text, width)
    return "\n".join(lines)


def _argument_texts(args: Mapping[str, Json]) -> list[str]:
    return [f"{_as_word(name)}: {write_json(value)}" for name, value in args.items()]


def _behind_marks(text: str, width: int | None) -> Iterator[str]:
    """The lines of an argument, each with its mark and not wider than a terminal."""
    line, taken = "| ", 2
    for char in text:
        columns = 2 if east_asian_width(char) in "FWA" else 1
        if width is not None and taken + columns > max(width, _NARROWEST):
            yield line
            line, taken = _GOES_ON, len(_GOES_ON)
        line, taken = line + char, taken + columns
    yield line


def _as_word(name: str) -> str:
    return name if name.replace("-", "_").isidentifier() else write_json(name)


def progress_text(done: float, total: float | None, message: str) -> str:
    """How far a call is.

    >>> progress_text(2, 10, "pages"), progress_text(0.5, None, "")
    ('2 of 10: pages', '0.5')
    """
    of = "" if total is None else f" of {total:g}"
    return f"{done:g}{of}{message and f': {message}'}"
