"""Which keys a run uses, and how they are replaced in what comes in.

A key is a text of `SHORTEST` characters or more that is the value of an environment variable named
``…_API_KEY``, or that a provider or a tool uses and has given to `hide`. Keys are replaced where
replies, results, errors and progress come in (`interp.execution.handlers`), and in our own errors
and logs. Programs, messages of the user and what the user's code prints are never changed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final
from weakref import WeakValueDictionary

REDACTED: Final = "[redacted]"

SHORTEST: Final = 16
"""A shorter value is no key: servers on localhost get some that are ordinary words."""


class Hidden:
    """Keys that are known as long as this object is kept."""

    def __init__(self, values: frozenset[str]) -> None:
        self.values = values

    def __reduce__(self) -> tuple[Any, ...]:
        return hide, tuple(self.values)


_hidden: WeakValueDictionary[frozenset[str], Hidden] = WeakValueDictionary()


def hide(*values: str | None) -> Hidden:
    """Make keys known, in every form in which they are sent; None and short ones are left out."""
    keys = _keys_among(values)
    return _hidden.setdefault(keys, Hidden(keys))


def without_keys(text: str) -> str:
    """A text without known keys, however JSON inside it spells them.

    >>> without_keys("Authorization: Bearer abcdefgh1234")
    'Authorization: Bearer abcdefgh1234'
    """
    keys = known_keys()
    return keys.without(text) if keys else text


def known_keys() -> Keys | None:
    """The keys that are known now; None if there are none."""
    values = (os.environ[each].strip() for each in os.environ if each.upper().endswith("_API_KEY"))
    found = _keys_among(values).union(*list(_hidden))
    return _keys_of(found) if found else None


def _keys_among(values: Iterable[str | None]) -> frozenset[str]:
    """The values that are long enough, from the first character that is no backslash on."""
    bare = (each.lstrip("\\") for each in values if each)
    return frozenset(each for each in bare if len(each) >= SHORTEST)


class StreamWithoutKeys:
    """Replaces keys in a text that comes in pieces; what may be the beginning of one is held back.

    The results joined are those of `Keys.without` for the whole text.
    """

    def __init__(self, keys: Keys | None) -> None:
        self._keys = keys
        self._held = ""

    def feed(self, piece: str) -> str:
        """Add a piece of the text; returns what can be shown now."""
        if self._keys is None:
            return piece
        text, done, shown = self._held + piece, 0, ""
        while True:
            undecided = self._keys.beginning_in(text, done)
            found = self._keys.pattern.search(text, done)
            if not found or found.start() >= undecided:
                break
            shown += text[done : found.start()] + REDACTED
            done = found.end()
        self._held = text[undecided:]
        return shown + text[done:undecided]

    def rest(self) -> str:
        """What is held back, at the end of the text."""
        held, self._held = self._held, ""
        return self._keys.without(held) if self._keys else held


def without_userinfo(address: str) -> str:
    """An address without user and password.

    >>> without_userinfo("https://me:pass@host/v1?a=1")
    'https://host/v1?a=1'
    """
    return _USERINFO.sub(r"\1", address)


_USERINFO: Final = re.compile(
    r"^(?:((?:[A-Za-z][A-Za-z0-9+.\-]*:)?//)"
    r"(?:[^/?#]*@|[^/?#:@]+:(?!\d*(?:[/?#]|$)).*@)"  # also where a password has a slash
    r"|[^/?#@]*:[^/?#@]*@)",  # also where the scheme is missing
    re.DOTALL,
)


# --- replacing


class Keys:
    """Keys, ready to be replaced in texts."""

    def __init__(self, values: frozenset[str]) -> None:
        self._plain = sorted(values, key=lambda key: (-len(key), key))  # the longest first
        spellings = [_spellings(key) for key in self._plain]
        self._have_marks = any(mark in key for key in values for mark in _MARKS)
        self._spellings = [list(map(re.compile, each)) for each in spellings]
        any_of_them = "|".join(map("".join, spellings))
        self.pattern = re.compile(f"{_beginning_of(self._plain)}(?:{any_of_them})")

    def without(self, text: str) -> str:
        """A text without the keys, however JSON inside it spells them."""
        may_be_spelled = "\\u" in text or ("\\" in text and self._have_marks)
        if not may_be_spelled and not any(key in text for key in self._plain):
            return text  # soon known, since most texts have none
        return self.pattern.sub(REDACTED, text)

    def without_in_json(self, text: str) -> str:
        """A text without the keys that is JSON if it was JSON; names are replaced as well.

        JSON is compared decoded. A text that has no key stays as it is.
        """
        clean = self.without(text)
        if clean == text:
            return text
        from .json_text import parse_json, write_json  # imported late: most texts have no keys

        try:
            value = parse_json(text)
            wanted = self._without_in_value(value)
            return text if wanted == value else write_json(wanted)
        except (ValueError, RecursionError):
            return clean

    def _without_in_value(self, value: Any) -> Any:
        match value:
            case str():
                return self.without(value)
            case list():
                return [self._without_in_value(each) for each in value]
            case dict():
                found: dict[str, Any] = {}
                for name, each in value.items():
                    clean = self.without(name)
                    if clean != name and clean in found.keys() | value.keys():
                        clean = f"{clean} {len(found)}"  # else one would replace the other
                    found[clean] = self._without_in_value(each)
                return found
        text = json.dumps(value)
        clean = self.without(text)
        return value if clean == text else clean

    def beginning_in(self, text: str, start: int) -> int:
        """Where the end of a text begins that may be the beginning of a key."""
        longest = len(self._plain[0]) * _LONGEST_SPELLING
        for at in range(max(start, len(text) - longest), len(text)):
            if any(_may_begin(text, at, each) for each in self._spellings):
                return at
        return len(text)


_keys_of = lru_cache(maxsize=1)(Keys)


def _may_begin(text: str, at: int, spelling: Iterable[re.Pattern[str]]) -> bool:
    """Whether a text from some place to its end may be the beginning of a key, or a whole one."""
    before = at
    for character in spelling:
        found = character.match(text, at)
        if found is None:
            is_cut = _ESCAPE_BEGUN.match(text, before) or _ESCAPE_BEGUN.match(text, at)
            return at == len(text) or is_cut is not None
        before, at = at, found.end()
    return at == len(text) or _ESCAPE_BEGUN.match(text, before) is not None


# --- spellings

_BACKSLASHES: Final = r"\\{1,8}+"
"""As many as JSON inside JSON inside JSON has before one character."""
_ESCAPE_BEGUN: Final = re.compile(rf"(?:{_BACKSLASHES}(?:u[0-9a-fA-F]{{0,4}})?)+\Z")
_LONGEST_SPELLING: Final = 2 * len("\\\\\\\\\\\\\\\\u0000")
_MARKS: Final = "\"'/\\"
"""What is written behind a backslash."""


def _beginning_of(keys: Iterable[str]) -> str:
    """A look ahead for what a key may begin with: most places of a text are passed by it alone."""
    first = "".join(sorted({key[0] for key in keys}))
    codes = "|".join(_codes(each)[0] for each in first)
    marks = f"|[{re.escape(first)}]" if set(first) & set(_MARKS) else ""
    return rf"(?=[{re.escape(first)}]|{_BACKSLASHES}(?:{codes}{marks}))"


def _spellings(key: str) -> list[str]:
    """For each character of a key, how JSON may spell it at any depth; backslashes are one."""
    characters = re.sub(r"\\+", r"\\", key)
    return [
        _spelled(each, after_backslash=before == "\\")
        for before, each in zip(" " + characters, characters, strict=False)
    ]


def _spelled(character: str, *, after_backslash: bool) -> str:
    """A regular expression for a character as it is, and as an escape."""
    if character == "\\":
        return rf"(?:{_BACKSLASHES}(?:u005[cC])?+){{1,8}}+"
    codes = _codes(character)
    first = "" if after_backslash else _BACKSLASHES  # those before it have been taken
    before = r"\\{0,8}+" if character in _MARKS else ""
    return rf"(?:{before}{re.escape(character)}|{first}{_BACKSLASHES.join(codes)})"


def _codes(character: str) -> list[str]:
    """The codes of a character in its escape, without the backslash before each."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return [f"u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4)]
