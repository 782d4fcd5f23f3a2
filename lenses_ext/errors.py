"""The errors of the agent language's views."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

import attrs

from gram import GramError, Pattern, dumps, freeze, origin, write_value

if TYPE_CHECKING:
    from gram import Diagnostic


@attrs.define(slots=False, eq=False, repr=False)
class PartError(GramError):
    """A part is missing or wrong: raised by the functions of a lens.

    The lens makes a `FocusError` of it, which has its name, the path and the pattern, too.

    Attributes:
        reason: what is wrong.
        hint: how to mend it, or None.
    """

    is_missing: ClassVar = False
    reason: str
    hint: str | None = None

    def _text(self) -> str:
        return f"{self.reason}; {self.hint}" if self.hint else self.reason


class MissingPartError(PartError):
    """A part is missing: `preview` gives None for it."""

    is_missing: ClassVar = True


@attrs.define(slots=False, eq=False, repr=False)
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

    optic: str
    path: str
    pattern: object
    reason: str
    hint: str | None = None
    is_missing: bool = False

    def _text(self) -> str:
        where = f"at {self.path} of" if self.path else "in"
        reason, line_break, more = self.reason.partition("\n")  # a hint may be on its own line
        text = f"{self.optic}: {reason} {where} {describe(self.pattern)}"
        text += f"; {self.hint}" if self.hint else ""
        text += line_break + more
        return self._with_place(text)

    @property
    def in_words(self) -> str:
        """The message in words of a program, without lenses: ``the model of "al": …``."""
        part = part_in_words(self.optic, self.path)
        holder = holder_in_words(self.pattern)
        text = self.reason_in_words
        whole = f"{part} of {holder}" if part else holder
        needed = self.reason.endswith(_NEEDED)
        text = f"{whole}{_NEEDED}" if needed else f"{whole}: {text}"
        return self._with_place(f"{text}; {self.hint}" if self.hint else text)

    @property
    def reason_in_words(self) -> str:
        """The reason in words of a program: "a text" instead of "str"."""
        text = _SHOWN_PATTERN.sub(r"\1", self.reason)
        return _KINDS_NAMED.sub(lambda it: f"{it[1]} {_KINDS[it[2]]}", text)

    def _with_place(self, text: str) -> str:
        place = origin(self.pattern) if isinstance(self.pattern, Pattern) else None
        return f"{place}: {text}" if place else text


_NEEDED = " has to be there"
_SHOWN_PATTERN = re.compile(r"<Pattern (.*)>")
_KINDS = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false",
    "Measurement": "a number with a unit", "Range": "a range", "Symbol": "a symbol",
    "TaggedString": "a tagged text", "Pattern": "a pattern",
    **dict.fromkeys(("PMap", "dict"), "a map"),
    **dict.fromkeys(("PVector", "tuple", "list"), "a list"),
}  # fmt: skip
_KINDS_NAMED = re.compile(rf"(expected|or|found) ({'|'.join(_KINDS)})\b")


def type_in_words(value: object) -> str:
    """What kind of value something is, for people who write no Python."""
    name = type(value).__name__
    return _KINDS.get(name, name)


def value_in_words(value: object) -> str:
    """The beginning of a value as it is written in a program, for messages.

    >>> from gram import Range
    >>> value_in_words([1, Range(1, 2)])
    '[1, 1..2]'
    """
    try:
        return f"{write_value(freeze(value)):.60}"
    except GramError:
        return f"{value!r:.60}"


_PART_OF_ELEMENTS = re.compile(r"signature|parameters|answer|tool|node|arrow|schema")
_PARTS = {"tool": "tools", "node": "nodes", "arrow": "arrows"}


def part_in_words(optic: str, path: str) -> str:
    """What a lens looks at, in words of a program; "" where that is the whole pattern.

    >>> part_in_words("agent_models", "value.properties.model")
    'the model'
    >>> part_in_words("agent_tool_specs", "elements"), part_in_words("parameter('q')", "elements")
    ('the tools', 'the parameter "q"')
    """
    _, is_property, key = path.partition("value.properties.")
    if is_property:
        return f"the {key}"
    if path.endswith("value.identity"):
        return "the name"
    if optic.startswith("parameter("):
        return f'the parameter "{optic[11:-2]}"'
    words = optic.removeprefix("tool_spec_").removeprefix("tool_")
    found = _PART_OF_ELEMENTS.search(words) if "elements" in path or words != optic else None
    return f"the {_PARTS.get(found[0], found[0])}" if found else ""


def holder_in_words(state: object) -> str:
    """A pattern as messages call it: by its name, or by its label.

    >>> from gram import loads_one
    >>> holder_in_words(loads_one("(al:Agent)")), holder_in_words(loads_one("(:Agent)"))
    ('"al"', 'the Agent')
    """
    if isinstance(state, Pattern) and (state.value.identity or state.value.labels):
        label = "".join(sorted(state.value.labels)[:1])
        return f'"{state.value.identity}"' if state.value.identity else f"the {label}"
    return "the pattern" if isinstance(state, Pattern) else describe(state)


@attrs.define(slots=False, eq=False, repr=False)
class _WrongUseError(GramError, TypeError):
    """An optic was used as its kind cannot be.

    Attributes:
        optic: the name of the optic.
    """

    _says: ClassVar = ""
    optic: str

    def _text(self) -> str:
        return f"{self.optic} {self._says}"

    @property
    def in_words(self) -> str:
        """The message in words of a program, without lenses."""
        return f"{part_in_words(self.optic, 'elements') or self.optic} {self._says}"


class ReadOnlyError(_WrongUseError):
    """A getter was set, which shows a computed part."""

    _says: ClassVar = "is computed and cannot be set"


class ManyPartsError(_WrongUseError):
    """A traversal or prism was viewed, which looks at any number of parts."""

    _says: ClassVar = "looks at any number of parts, not at one: use collect"


@attrs.define(slots=False, eq=False, repr=False)
class LawError(GramError, AssertionError):
    """An optic breaks a law; see `lenses_ext.laws`.

    Attributes:
        law: the name of the law, such as ``put-get``.
        optic: the name of the optic.
        state: the whole for which it is broken.
        reason: what the law asks for there, and what came instead.
    """

    law: str
    optic: str
    state: object
    reason: str

    def _text(self) -> str:
        return f"{self.optic} breaks {self.law}: {self.reason}\n  of: {shown(self.state)}"


class ProgramError(GramError, ValueError):
    """A program has no such agent, or what it refers to cannot be found.

    Attributes:
        faults: what is wrong with the program, each with its place.
    """

    def __init__(self, message: str, faults: Iterable[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)

    @classmethod
    def of(cls, faults: Iterable[Diagnostic]) -> ProgramError:
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
        return type_in_words(state)
    labels = "".join(f":{label}" for label in sorted(state.value.labels))
    return f"[{state.value.identity}{labels}]"
