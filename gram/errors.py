"""The errors of the notation. ``GramError`` is the root of every error this project raises."""

from __future__ import annotations

from collections.abc import Iterable

from .source import Source

MAX_LEVELS = 100
"""How deep a tree may nest: an atom is level 1, each element below it adds 1, and so does each
array or map inside a value. The limit keeps equality, hashing, repr and pickling safe."""


class GramError(Exception):
    """The root of all errors of ``gram``, ``lenses_ext`` and ``interp``."""


class GramDecodeError(GramError, ValueError):
    """A text is not gram, or JSON is not the canonical form.

    Attributes:
        msg: what is wrong, without the place.
        doc: the text that was read.
        pos: the offset of the fault in ``doc``.
        lineno, colno: its line and column, from 1.
        filename: the name of the text, or None.
        expected: what could have stood there, in the words of the language.
        hint: how to mend it, or None.
    """

    def __init__(
        self,
        msg: str,
        doc: str = "",
        pos: int = 0,
        *,
        filename: str | None = None,
        expected: Iterable[str] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(msg)
        self.msg = msg
        self.doc = doc
        self.pos = pos
        self.filename = filename
        self.expected = tuple(expected)
        self.hint = hint
        self.lineno, self.colno = Source(doc).position(pos)

    def __str__(self) -> str:
        source = Source(self.doc, self.filename)
        place = source.place(self.pos) if self.doc else self.filename
        text = f"{place}: {self.msg}" if place else self.msg
        if self.doc:
            text += f"\n{source.excerpt(self.pos)}"
        return text + (f"\nhint: {self.hint}" if self.hint else "")

    def __reduce__(self) -> tuple[object, ...]:
        return GramDecodeError, (self.msg, self.doc, self.pos), self.__dict__


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

    def __str__(self) -> str:
        return f"{self.path}: {self.msg}" if self.path else self.msg


class TooDeepError(GramEncodeError):
    """A tree nests deeper than 100 levels."""

    def __init__(self, path: str = "") -> None:
        super().__init__(f"nests deeper than {MAX_LEVELS} levels", path)

    def __reduce__(self) -> tuple[object, ...]:
        return TooDeepError, (self.path,)


class ArgumentError(GramError, TypeError):
    """A function was called with an argument of the wrong type."""


def expect(value: object, kind: type | tuple[type, ...], name: str, *, by: str) -> None:
    """Refuse an argument that is not of the wanted type.

    Args:
        value: the argument.
        kind: the wanted class, or several of them; ``type(None)`` is written as None.
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


_KIND_WORDS = {
    "Callable": "function",
    "Iterable": "iterable",
    "Mapping": "mapping",
    "PathLike": "path",
    "Readable": "file",
    "Sequence": "sequence",
    "Writable": "file",
}


def _with_article(kind: type) -> str:
    if kind is type(None):
        return "None"
    word = _KIND_WORDS.get(kind.__name__, kind.__name__)
    return f"an {word}" if word[0] in "aeiouAEIOU" else f"a {word}"


def name_of(value: object) -> str:
    """What a message calls an argument: the name of its type; of a class, that it is one."""
    if value is None:
        return "None"
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
