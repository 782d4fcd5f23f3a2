"""Tool calls as people read them: on one line."""

from __future__ import annotations

from contextlib import suppress

from ..json_text import Json, read_json, write_json


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
        args = ", ".join(f"{_as_word(name)}: {write_json(value)}" for name, value in args.items())
    return f"{name}({args if isinstance(args, str) else write_json(args)})"


def _as_word(name: str) -> str:
    return name if name.replace("-", "_").isidentifier() else write_json(name)


def progress_text(done: float, total: float | None, message: str) -> str:
    """How far a call is.

    >>> progress_text(2, 10, "pages"), progress_text(0.5, None, "")
    ('2 of 10: pages', '0.5')
    """
    of = "" if total is None else f" of {total:g}"
    return f"{done:g}{of}{message and f': {message}'}"
