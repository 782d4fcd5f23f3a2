"""Collects what is wrong with one signature, each fault with the place it was read from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from attrs import evolve

from gram import Diagnostic, GramError, Pattern, Severity, Source, Span, TreePath, origin
from gram.words import nearest

from ..schemas import KEYWORDS, KIND_OF
from .values import ALIASES, BUILT_IN, RESERVED, RESERVED_KEYS, Type, basic


class SignatureError(GramError, ValueError):
    """A type signature is not valid, or a JSON Schema that should become one.

    Attributes:
        faults: all the errors, in the order of the text where there is one. Warnings are not
            among them, see `signature_diagnostics`.
        lineno, colno: the place of the first fault, from 1; None when it was not read from text.
        path: the path of the first fault: element indices, then the name of the part.
    """

    def __init__(self, faults: Iterable[Diagnostic]) -> None:
        self.faults = tuple(faults)
        super().__init__(*(fault.message for fault in self.faults))
        first = self.faults[0]
        self.lineno, self.colno, self.path = first.lineno, first.colno, first.path

    def _text(self) -> str:
        return "\n".join(map(_line, self.faults))

    def __reduce__(self) -> tuple[object, ...]:
        return SignatureError, (self.faults,)


def _line(fault: Diagnostic) -> str:
    hint = f"\n  hint: {fault.hint}" if fault.hint else ""
    if fault.filename is not None and fault.lineno is not None:
        return f"{fault.filename}:{fault.lineno}:{fault.colno}: {fault.message}{hint}"
    return fault.message + hint


class Element(NamedTuple):
    """A pattern of a signature, with the path to it from the tool or text that was read."""

    pattern: Pattern
    path: TreePath = ()

    def below(self) -> list[Element]:
        """Its elements."""
        elements = enumerate(self.pattern.elements)
        return [Element(each, (*self.path, index)) for index, each in elements]


Spans: TypeAlias = Mapping[int, Mapping[str | None, Span]]
"""Where a text says a pattern and its parts, by the pattern's identity."""
Role: TypeAlias = Literal["parameter", "field", "part", "return", "type"]


class Owner(NamedTuple):
    """What a message is about.

    Attributes:
        role: what it is.
        words: what it is called, quotes included, such as ``"age"`` or ``the return type``.
        element: where it was read.
        faults: what is wrong with the signature that it is in.
        assumed: the name of a parameter that is written without one.
    """

    role: Role
    words: str
    element: Element
    faults: Faults
    assumed: str = ""

    def tell(self, code: str, message: str, part: str | None = None, **more: Any) -> None:
        """Note a fault of it, or of one part of it; the rest is as `Faults.tell` takes it."""
        self.faults.tell(code, message, self.element, part, **more)

    def warn(self, code: str, message: str, part: str, hint: str | None = None) -> None:
        """Note something that is likely a slip, and valid all the same."""
        self.tell(code, message, part, severity="warning", hint=hint)

    @property
    def is_named(self) -> bool:
        """Whether it is called by its name."""
        return self.words.startswith('"')

    @property
    def may_be_absent(self) -> bool:
        """Whether it is a value that a caller might leave out."""
        return self.role in ("parameter", "field")

    def __str__(self) -> str:
        return f"{self.role} {self.words}" if self.is_named else self.words


def owner_of(role: Role, element: Element, words: str, faults: Faults, assumed: str = "") -> Owner:
    """The owner at a place: called by its name where it has one."""
    subject = element.pattern.value
    written = subject.properties.get("paramName")
    name = subject.identity or (written if isinstance(written, str) else "")
    if name in RESERVED and not subject.labels:
        name = ""  # a type in the place of the name
    return Owner(role, f'"{name}"' if name or written == "" else words, element, faults, assumed)


class Written(NamedTuple):
    """A type as it was read, with its owner, for the checks that follow.

    ``optional`` says whether the value may be left out.
    """

    owner: Owner
    type: Type
    optional: bool = False


class Faults:
    """The faults of one signature.

    Args:
        found: those of its spelling.
        spans: where a text says a pattern and its parts, by the pattern's identity.
        source: this text.

    Attributes:
        found: the faults so far.
    """

    def __init__(
        self, found: Iterable[Diagnostic], spans: Spans, source: Source | None = None
    ) -> None:
        self.found, self._spans, self._source = list(found), spans, source

    @property
    def errors(self) -> list[Diagnostic]:
        """The faults that make the signature invalid."""
        return [each for each in self.found if each.severity == "error"]

    def tell(
        self,
        code: str,
        message: str,
        element: Element,
        part: str | None = None,
        *,
        severity: Severity = "error",
        hint: str | None = None,
    ) -> None:
        """Note a fault of an element, or of one part of it."""
        found = Diagnostic.of(code, message, element.pattern, part, severity=severity, hint=hint)
        spans = self._spans.get(id(element.pattern))
        if spans is not None:
            span = spans.get(part, spans[None])
            found = evolve(found, span=span, source=self._source)
        self.found.append(found.below(*element.path))

    def place(self, pattern: Pattern) -> str | None:
        """The line and column of a pattern, or None when it was not read from a text."""
        spans = self._spans.get(id(pattern))
        if spans is not None and self._source is not None:
            return self._source.line_and_column(spans[None].start)
        read = origin(pattern)
        return f"{read.lineno}:{read.colno}" if read else None

    def sorted(self) -> tuple[Diagnostic, ...]:
        """The faults in the order of the text."""
        return tuple(sorted(self.found, key=lambda each: each.span or (0, 0)))


# --- names of types


def _by_word(**words_of: str) -> dict[str, str]:
    """What each word is meant for, of the words for each."""
    return {word: meant for meant, words in words_of.items() for word in words.split()}


_ELSEWHERE = _by_word(
    String="str", Number="float decimal", Integer="long", Array="list tuple set",
    Object="dict map record", Null="none nil unit void", AnyOf="union", Any="unknown",
)  # fmt: skip
"""Names that types have in other languages, in lower case."""


def unknown_type(name: str, owner: str, shapes: Iterable[str] = ()) -> str:
    """What to say of a name that is not a type, with the nearest name that is."""
    candidates = {*BUILT_IN, *ALIASES, *shapes}
    near = next(iter(nearest(name, sorted(candidates))), _ELSEWHERE.get(name.lower()))
    meant = f'; did you mean "{near}"?' if near else "."
    known = f"{', '.join(BUILT_IN)}, or a type defined as [{name}:Object | …]"
    return f'unknown type "{name}" of {owner}{meant} Known: {known}'


def haskell_type(name: str) -> str | None:
    """What to write instead of a type as Haskell writes it, or None when it is not such."""
    match = re.match(r"(IO|Maybe|Either|List)(?: +(.*))?$|\[(.*)\]$", name, re.DOTALL)
    if match is None:
        return None
    argument = match[2] or "Text"
    json_name = ALIASES.get(argument, argument)
    advice = {
        "IO": f'drop "IO" (the return type of "(…) --> IO {argument}" is {json_name})',
        "Maybe": f'drop "Maybe" and write {{optional: true}} beside {argument}',
        "Either": 'write AnyOf {of: ["…", "…"]}',
    }.get(match[1], f'write Array {{elementType: "{match[3] or argument}"}}')
    return f'"{name}" is not a JSON type: {advice}'


# --- the path


def no_return_hint(nodes: Sequence[Pattern]) -> str | None:
    """How to mend a path whose last node is not a return type."""
    last = nodes[-1].value if nodes else None
    if last is None or not last.identity:
        return None
    name, label = last.identity, "::".join(sorted(last.labels))
    if not label:
        return f"a type comes after ::, write (::{name})" if name in RESERVED else None
    if len(nodes) == 1:
        return f"write ({name}::{label})==>(::String)"
    is_parameter = f'"{name}" has a name, so it is a parameter: add ==>(::String) after it'
    return f"{is_parameter}, or write (::{label}) if it is the result"


# --- the keys of records

_LABELS_OF = {kind: {kind.title()} for kind in ("string", "number", "array", "object")}
_LABELS_OF["number"].add("Integer")
"""The basic types of the kinds that keywords are about."""

_MEANT = _by_word(
    description="desc doc help", minimum="min", maximum="max", optional="opt", pattern="regex",
    examples="example", enum="choices values options", elementType="items_type itemType",
    paramName="name",
)  # fmt: skip


def check_keys(keys: Iterable[str], labels: frozenset[str], owner: Owner) -> None:
    """Warn of keys of a record that are misspelt, unknown or without effect."""
    basics = {name for label in labels if (name := basic(label))}
    for key in keys:
        if key not in KEYWORDS:
            if not key.startswith("x-"):
                _warn_of_unknown(key, owner)
            continue
        if key == "default" and owner.role == "return":
            message = "default of the return type has no effect: a result is never left out"
            owner.warn("no-effect", message, key)
        kinds = _LABELS_OF.get(KIND_OF.get(key, ""))
        is_vain = kinds and len(basics) == len(labels) > 0 and not kinds & basics
        if kinds and is_vain and key != "required":  # which is mostly another slip, told already
            found, wanted = ", ".join(sorted(basics)), " and ".join(sorted(kinds))
            message = f"{key} of {owner.words} has no effect: it is for {wanted}, not {found}"
            owner.warn("no-effect", message, key)


def _warn_of_unknown(key: str, owner: Owner) -> None:
    message, hint = f'unknown key "{key}" of {owner.words}', None
    plain = {_plain(known): known for known in sorted({*KEYWORDS, *RESERVED_KEYS})}
    begins = (known for known in plain if len(key) > 3 and known.startswith(_plain(key)))
    found = [*nearest(_plain(key), plain, cutoff=0.7), *begins]
    if key == "nullable":
        message, hint = f"{message}; null is a type", "write ::Null beside the type"
    elif near := _MEANT.get(key) or next((plain[each] for each in found), None):
        message += f'; did you mean "{near}"?'
    else:
        message += ": it is not a keyword of JSON Schema"
        hint = f'if it is meant, write "x-{key}"'
    owner.warn("unknown-key", message, key, hint)


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


def keyword_hint(keyword: str, value: object) -> str | None:
    """How to mend a keyword whose value is not what JSON Schema says, or None."""
    match keyword, value:
        case "required", False:
            return "write optional: true"
        case "required", True:
            return "leave it out: what has no default is required"
        case "items", str():
            return f'write elementType: "{value}"'
        case "type", str() if basic(value):
            return f"write the type as a label, ::{value}"
        case "enum", str():
            return f'write a list, enum: ["{value}"]'
        case "properties", dict():
            return "write the fields in a type beside the signature: [Name:Object | (field::Text)]"
    return None
