"""The parts of a signature with the places they were read from, and what is wrong with them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from gram import ArgumentError, Diagnostic, GramError, Pattern, Symbol, TreePath, Value
from gram.errors import expect_all
from gram.words import nearest

from ..schemas import KEYWORDS, KIND_OF, Keywords, NotJson, dump_json, to_json_value
from .values import ALIASES, BUILT_IN, NO_KEYWORDS, RESERVED, RESERVED_KEYS, basic


class SignatureError(GramError, ValueError):
    """A type signature is not valid, or a JSON Schema that should become one.

    Attributes:
        faults: all the errors, in the order of the text where there is one. Warnings are not
            among them, see `signature_diagnostics`.
        lineno, colno: the place of the first fault, from 1; None when it was not read from text.
        path: the path of the first fault: element indices, then the name of the part.
    """

    def __init__(self, faults: Iterable[Diagnostic]) -> None:
        self.faults = expect_all(faults, Diagnostic, "faults", by="SignatureError")
        if not self.faults:
            raise ArgumentError("SignatureError: faults must have at least one")
        super().__init__(*(fault.message for fault in self.faults))
        first = self.faults[0]
        self.lineno, self.colno, self.path = first.lineno, first.colno, first.path

    def _text(self) -> str:
        lines = []
        for fault in self.faults:
            is_placed = fault.filename is not None and fault.lineno is not None
            place = f"{fault.filename}:{fault.lineno}:{fault.colno}: " if is_placed else ""
            lines.append(place + fault.message + (f"\n  hint: {fault.hint}" if fault.hint else ""))
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return SignatureError, (self.faults,)


class Element(NamedTuple):
    """A pattern of a signature, with the path to it from the tool or text that was read."""

    pattern: Pattern
    path: TreePath = ()

    def below(self) -> list[Element]:
        """Its elements."""
        elements = enumerate(self.pattern.elements)
        return [Element(each, (*self.path, index)) for index, each in elements]


class Faults(list[Diagnostic]):
    """The faults of one signature, each with the place it was read from."""

    def tell(
        self, code: str, message: str, element: Element, part: str | None = None, **more: Any
    ) -> None:
        """Note a fault of an element, or of one part of it; the rest is as for `Diagnostic.of`."""
        found = Diagnostic.of(code, message, element.pattern, part, **more)
        self.append(found.below(*element.path))


Role: TypeAlias = Literal["parameter", "field", "part", "return", "type"]


class Owner(NamedTuple):
    """A node or shape that is read, and what messages call it.

    What its record says is read as JSON.

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

    @classmethod
    def named(
        cls, role: Role, words: str, element: Element, faults: Faults, assumed: str = ""
    ) -> Owner:
        """The owner at a place: called by its name where it has one."""
        subject = element.pattern.value
        written = subject.properties.get("paramName")
        name = subject.identity or (written if isinstance(written, str) else "")
        if name in RESERVED and not subject.labels:
            name = ""  # a type in the place of the name
        called = f'"{name}"' if name or written == "" else words
        return cls(role, called, element, faults, assumed)

    def tell(self, code: str, message: str, part: str | None = None, **more: Any) -> None:
        """Note a fault of it, or of one part of it; the rest is as `Faults.tell` takes it."""
        self.faults.tell(code, message, self.element, part, **more)

    def warn(self, code: str, message: str, part: str, hint: str | None = None) -> None:
        """Note something that is likely a slip, and valid all the same."""
        self.tell(code, message, part, severity="warning", hint=hint)

    @property
    def record(self) -> Mapping[str, Value]:
        """Its record."""
        return self.element.pattern.value.properties

    @property
    def is_named(self) -> bool:
        """Whether it is called by its name."""
        return self.words.startswith('"')

    @property
    def may_be_absent(self) -> bool:
        """Whether it is a value that a caller might leave out."""
        return self.role in ("parameter", "field")

    @property
    def is_optional(self) -> bool:
        """Whether a caller might leave it out, and nothing on it forbids that."""
        return self.may_be_absent and self.record.get("optional") is not False

    def __str__(self) -> str:
        return f"{self.role} {self.words}" if self.is_named else self.words

    def get(self, key: str, wanted: str, fits: Callable[[Any], bool], absent: Any = None) -> Any:
        """What a key says; None after a fault: it is not JSON, or not what is wanted."""
        if key not in self.record:
            return absent
        try:
            found = to_json_value(self.record[key])
        except NotJson as error:
            message = str(error)
            if not message.startswith("json`"):
                message = f"{key} of {self.words}: {message}"
            self.tell("not-json", message, key)
            return None
        if fits(found):
            return found
        message = f'"{key}" of {self.words} must be {wanted}, got {dump_json(found)}'
        self.tell("ill-typed", message, key)
        return None

    def text(self, key: str, wanted: str = "a type name") -> str | None:
        """The text of a key, or None; another value is a fault."""
        found: str | None = self.get(key, wanted, is_a(str))
        return found

    def optional(self) -> bool | None:
        """The mark ``optional``, or None when there is none."""
        written: bool | None = self.get("optional", "true or false", is_a(bool))
        if written is not None and not self.may_be_absent:
            message = f'"optional" of {self.words}: only parameters and fields can be optional'
            self.tell("optional", message, "optional")
        return written

    def keywords(self, labels: frozenset[str]) -> tuple[Keywords, Keywords, bool | None]:
        """The JSON Schema keywords, the foreign ones under ``keywords``, and a constant schema."""
        for key in ("default", "const"):
            if (word := self.record.get(key)) in _NO_VALUE:
                message = f"{key} of {self.words} is the word {word}; JSON's null is json`null`"
                self.tell("null-word", message, key)
        keys = sorted(self.record.keys() - RESERVED_KEYS)
        self._check_keys(keys, labels)
        keywords = Keywords.of({key: self.get(key, "", lambda _: True) for key in keys})
        foreign = self.get("keywords", "a JSON object", is_a(dict, bool), {})
        if isinstance(foreign, bool):
            return keywords, NO_KEYWORDS, foreign
        return keywords, Keywords.of(foreign or {}), None

    def _check_keys(self, keys: Iterable[str], labels: frozenset[str]) -> None:
        """Warn of keys that are misspelt, unknown or without effect."""
        basics = {name for label in labels if (name := basic(label))}
        for key in keys:
            if key not in KEYWORDS:
                if not key.startswith("x-"):
                    self.warn("unknown-key", *_unknown_key(key, self.words))
                continue
            if key == "default" and self.role == "return":
                message = "default of the return type has no effect: a result is never left out"
                self.warn("no-effect", message, key)
            kinds = _LABELS_OF.get(KIND_OF.get(key, ""))
            is_vain = kinds and len(basics) == len(labels) > 0 and not kinds & basics
            if kinds and is_vain and key != "required":  # mostly another slip, told already
                found, wanted = ", ".join(sorted(basics)), " and ".join(sorted(kinds))
                message = f"{key} of {self.words} has no effect: it is for {wanted}, not {found}"
                self.warn("no-effect", message, key)


def is_a(*kinds: type) -> Callable[[object], bool]:
    """Whether a value is of one of some kinds."""
    return lambda value: isinstance(value, kinds)


_NO_VALUE = frozenset(map(Symbol, ("null", "Null", "NULL", "None", "nil", "undefined")))
"""Words for null elsewhere: in gram a bare word is text."""


# --- names of types


_SLIPS = json.loads(Path(__file__).with_name("slips.json").read_text("utf-8"))
"""What types and keys are called elsewhere."""


def unknown_type(name: str, owner: str, shapes: Iterable[str] = ()) -> str:
    """What to say of a name that is not a type, with the nearest name that is."""
    candidates = {*BUILT_IN, *ALIASES, *shapes}
    near = next(iter(nearest(name, sorted(candidates))), _SLIPS["types"].get(name.lower()))
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


def _unknown_key(key: str, owner: str) -> tuple[str, str, str | None]:
    """What to say of a key that is neither ours nor JSON Schema's; the key; a hint."""
    message, hint = f'unknown key "{key}" of {owner}', None
    plain = {_plain(known): known for known in sorted({*KEYWORDS, *RESERVED_KEYS})}
    begins = (known for known in plain if len(key) > 3 and known.startswith(_plain(key)))
    found = [*nearest(_plain(key), plain, cutoff=0.7), *begins]
    if key == "nullable":
        message, hint = f"{message}; null is a type", "write ::Null beside the type"
    elif near := _SLIPS["keys"].get(key) or next((plain[each] for each in found), None):
        message += f'; did you mean "{near}"?'
    else:
        message += ": it is not a keyword of JSON Schema"
        hint = f'if it is meant, write "x-{key}"'
    return message, key, hint


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
