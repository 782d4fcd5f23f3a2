"""The errors of the agent language's views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gram import GramError, Pattern, dumps, origin

if TYPE_CHECKING:
    from gram import Fault


class PartError(GramError):
    """A part is missing or wrong: raised by the functions of a lens.

    The lens makes a `FocusError` of it, which has its name, the path and the pattern, too.

    Attributes:
        reason: what is wrong.
        hint: how to mend it, or None.
    """

    is_missing = False

    def __init__(self, reason: str, hint: str | None = None) -> None:
        super().__init__(reason, hint)
        self.reason = reason
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.reason}; {self.hint}" if self.hint else self.reason


class MissingPartError(PartError):
    """A part is missing: `preview` gives None for it."""

    is_missing = True


class FocusError(GramError, LookupError):
    """The part that an optic or an edit looks at is missing, or is not what it should be.

    Attributes:
        optic: the name of the lens, traversal, prism or function.
        path: where in the pattern it looked, such as ``value.properties.model``, or ``""``.
        pattern: the pattern it looked at, or the other object that was given.
        reason: what it found there.
        hint: how to mend it, or None.
        is_missing: whether nothing is there; else it is not what it should be.
    """

    def __init__(
        self,
        optic: str,
        path: str,
        pattern: object,
        reason: str,
        hint: str | None = None,
        is_missing: bool = False,
    ) -> None:
        super().__init__(optic, path, pattern, reason, hint, is_missing)
        self.is_missing = is_missing
        self.optic = optic
        self.path = path
        self.pattern = pattern
        self.reason = reason
        self.hint = hint

    def __str__(self) -> str:
        where = f"at {self.path} of" if self.path else "in"
        reason, line_break, more = self.reason.partition("\n")  # a hint may be on its own line
        text = f"{self.optic}: {reason} {where} {describe(self.pattern)}"
        text += f"; {self.hint}" if self.hint else ""
        text += line_break + more
        place = origin(self.pattern) if isinstance(self.pattern, Pattern) else None
        return f"{place}: {text}" if place else text


class _WrongUseError(GramError, TypeError):
    """An optic was used as its kind cannot be.

    Attributes:
        optic: the name of the optic.
    """

    _says = ""

    def __init__(self, optic: str) -> None:
        super().__init__(optic)
        self.optic = optic

    def __str__(self) -> str:
        return f"{self.optic} {self._says}"


class ReadOnlyError(_WrongUseError):
    """A getter was set, which shows a computed part."""

    _says = "is computed and cannot be set"


class ManyPartsError(_WrongUseError):
    """A traversal or prism was viewed, which looks at any number of parts."""

    _says = "looks at any number of parts, not at one: use collect"


class LawError(GramError, AssertionError):
    """An optic breaks a law; see `lenses_ext.laws`.

    Attributes:
        law: the name of the law, such as ``put-get``.
        optic: the name of the optic.
        state: the whole for which it is broken.
        reason: what the law asks for there, and what came instead.
    """

    def __init__(self, law: str, optic: str, state: object, reason: str) -> None:
        super().__init__(law, optic, state, reason)
        self.law = law
        self.optic = optic
        self.state = state
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.optic} breaks {self.law}: {self.reason}\n  of: {shown(self.state)}"


class ProgramError(GramError, ValueError):
    """A program has no such agent, or what it refers to cannot be found.

    Attributes:
        faults: what is wrong with the program, each with its place.
    """

    def __init__(self, message: str, faults: Iterable[Fault] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)

    @classmethod
    def of(cls, faults: Iterable[Fault]) -> ProgramError:
        """The error that lists faults, one a line with its hint."""
        faults = tuple(faults)
        return cls("\n".join(each.with_hint() for each in faults), faults)

    def __reduce__(self) -> tuple[object, ...]:
        return ProgramError, (str(self), self.faults)


def shown(value: object) -> str:
    """A value for a message, patterns in gram."""
    if isinstance(value, Pattern):
        return dumps(value)
    if isinstance(value, tuple) and value and all(isinstance(each, Pattern) for each in value):
        return f"({', '.join(map(dumps, value))})"
    return repr(value)


def describe(state: object) -> str:
    """A pattern in a few characters, ``[name:Label]``, for messages."""
    if isinstance(state, tuple) and all(isinstance(each, Pattern) for each in state):
        return "the document"
    if not isinstance(state, Pattern):
        return f"{type(state).__name__} (not a Pattern)"
    labels = "".join(f":{label}" for label in sorted(state.value.labels))
    return f"[{state.value.identity}{labels}]"
