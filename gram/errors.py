"""The errors of the notation; how a wrong type of argument is refused; how texts are shown."""

from __future__ import annotations

import re
import sysconfig
import traceback
from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")

MAX_LEVELS = 100
"""How deep a tree may nest: an atom is level 1, each element below it adds 1, and so does each
array or map inside a value. The limit keeps equality, hashing, repr and pickling safe."""


class GramError(Exception):
    """The root of all errors of ``gram``, ``lenses_ext`` and ``interp``.

    Its text shows control and bidirectional characters as escapes, see `visible`.
    """

    def __str__(self) -> str:
        return visible(self._text())

    def _text(self) -> str:
        """What is wrong, as it was given."""
        return super().__str__()

    def _render_traceback_(self) -> list[str]:
        """What IPython and notebooks print instead of a traceback through all our files."""

        return short_traceback(self)


class ArgumentError(GramError, TypeError):
    """A function was called with an argument of the wrong type."""


class GramEncodeError(GramError, TypeError):
    """A value has no notation.

    Attributes:
        msg: what is wrong, without the path.
        path: where in the tree, such as ``properties.k[2]``; empty for the root.
    """

    def __init__(self, msg: str, path: str = "") -> None:
        super().__init__(msg, path)
        self.msg = msg
        self.path = path

    def _text(self) -> str:
        return f"{self.path}: {self.msg}" if self.path else self.msg


class TooDeepError(GramEncodeError):
    """A tree nests deeper than 100 levels."""

    def __init__(self, path: str = "") -> None:
        super().__init__(f"nests deeper than {MAX_LEVELS} levels", path)

    def __reduce__(self) -> tuple[object, ...]:
        return TooDeepError, (self.path,)


class NoPatternError(GramError, LookupError):
    """No pattern is at the path or the span, or has the name, that a function was given."""


def expect(value: object, kind: Any, name: str, *, by: str) -> None:
    """Refuse an argument that is not of the wanted type.

    Args:
        value: the argument.
        kind: the wanted class, or several of them, abstract ones too; ``type(None)`` is written
            as None.
        name: the name of the parameter, or of a part of it, such as ``tools[2]``.
        by: the name of the function that refuses it.

    Raises:
        ArgumentError: the argument is of another type.

    >>> expect(5, str, "text", by="loads")
    Traceback (most recent call last):
        ...
    gram.errors.ArgumentError: loads: text must be a str, got int
    >>> expect([], (int, type(None)), "width", by="fmt")
    Traceback (most recent call last):
        ...
    gram.errors.ArgumentError: fmt: width must be an int or None, got list
    """
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(map(_with_article, kinds))
        raise ArgumentError(f"{by}: {name} must be {wanted}, got {name_of(value)}")


def expect_all(
    values: Iterable[T], kind: type[T], name: str, *, by: str, wanted: str | None = None
) -> tuple[T, ...]:
    """An iterable of things of one type as a tuple; another argument is refused.

    Args:
        values: the argument.
        kind: the type of each.
        name: the name of the parameter.
        by: the name of the function that refuses it.
        wanted: what a message says that the function takes, when it takes more than that.

    >>> expect_all([1, "2"], int, "sizes", by="sum")
    Traceback (most recent call last):
        ...
    gram.errors.ArgumentError: sum: sizes[1] must be an int, got str
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        wanted = wanted or f"an iterable of {kind.__name__}s"
        raise ArgumentError(f"{by}: {name} must be {wanted}, got {name_of(values)}")
    found = tuple(values)
    for index, each in enumerate(found):
        expect(each, kind, f"{name}[{index}]", by=by)
    return found


_KIND_WORDS = {"Callable": "function", "IOBase": "file", "PathLike": "path"}


def _with_article(kind: type) -> str:
    if kind is type(None):
        return "None"
    name = kind.__name__.lower() if kind.__module__ == "collections.abc" else kind.__name__
    word = _KIND_WORDS.get(kind.__name__, name)
    return f"an {word}" if word[0] in "aeiouAEIOU" else f"a {word}"


def name_of(value: object) -> str:
    """What a message calls an argument: the name of its type; of a class, that it is one."""
    if value is None:
        return "None"
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


# Compiled when they are used: `re` keeps them, and most programs need none.
_HARMFUL = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls but tab and newline, and C1
    "\u2028\u2029"  # separators of lines and paragraphs
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what changes the direction of a text
    "\U000e0000-\U000e007f]"  # tags
    "|\r(?!\n)"
)


def visible(text: str) -> str:
    """A text whose characters that hide or reverse others are shown as escapes.

    Letters of all scripts and emoji are kept.

    >>> print(visible("safe\\x1b[2J"))
    safe\\x1b[2J
    """
    return re.sub(
        _HARMFUL, lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text
    )


_OURS = {__name__.partition(".")[0], "lenses_ext", "interp"}
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


def short_traceback(error: BaseException) -> list[str]:
    """The lines to print for an error: where the user's code called us, and the message.

    A cause is printed above it if the user's code raised it, such as a tool.
    """
    lines = []
    cause = error.__cause__
    if cause is not None and _own_frames(cause):
        lines += [*short_traceback(cause), "", "It was the cause of this error:", ""]
    if frames := _own_frames(error):
        lines.append("Traceback (most recent call last, without the libraries):")
        lines += "".join(frames).splitlines()
    return [*lines, f"{type(error).__name__}: {error}"]


def _own_frames(error: BaseException) -> list[str]:
    own = [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if (frame.f_globals.get("__name__") or "").partition(".")[0] not in _OURS
        and not frame.f_code.co_filename.startswith(_LIBRARIES)
    ]
    return traceback.StackSummary.extract(iter(own)).format()
