"""Removes keys and passwords from texts that are shown, logged or saved.

A key is known if it is in an environment variable named ``…_API_KEY``, or was given to `hide`.
`redact` replaces only known keys, in plain text and in JSON. `redact_error` is for error messages
and logs, whose exact wording matters less: it also replaces parts of known keys and all texts that
look like credentials.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, Final, TypeAlias
from weakref import WeakSet

from gram import counted, quote

from .reprs import hide_in_reprs

REDACTED: Final = "[redacted]"

_SHORTEST: Final = 8
"""A shorter value is not treated as a secret: servers on localhost get keys such as ``none``, and
replacing these would change ordinary words."""

# Compiled when they are used: `re` keeps them, and most commands show no error.
_AUTHORIZATION: Final = (
    r"(authorization[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic)\s+)?|\bbearer\s+)"
    r"[A-Za-z0-9._~+/=\-]{8,}"
)
_WORD: Final = r"(?<![\w-])[\w-]{3,7}(?![\w-])"
_MASK = re.compile(r"[*•…]|\.\.")
_MARKS: Final = frozenset("<>&'\"=")
_HARD_TO_SEE: Final = r"\\[u/]"
"""Escapes that no JSON of ours has, so that a key may be spelled with them in any way."""

_PASSWORD: Final = r"(\b[a-z][a-z0-9+.\-]{0,20}://)[^/@\s\"']*:[^/@\s\"']*@"

_NAMED_PASSWORD: Final = r"(password\s*=\s*)('(?:\\.|[^'\\])*'|[^\s&;]+)"


class Hidden:
    """Secret values, hidden as long as this object is kept.

    Args:
        values: The secrets; short ones and None are left out.
    """

    def __init__(self, values: Iterable[str | None]) -> None:
        given = frozenset(each for each in values if each)
        self.values = frozenset(each for each in given if len(each) >= _SHORTEST)
        self.short = given - self.values

    def __repr__(self) -> str:
        return f"Hidden({counted(len(self.values), 'value')})"

    def __reduce__(self) -> tuple[Any, ...]:
        return hide, (*self.values, *self.short)


_handed_over: WeakSet[Hidden] = WeakSet()


def hide(*values: str | None) -> Hidden:
    """Hide secret values wherever texts are redacted, as long as the returned object is kept."""
    hidden = Hidden(values)
    _handed_over.add(hidden)
    return hidden


def redact(text: str) -> str:
    """Replace every known key in a text.

    >>> redact("Authorization: Bearer abcdefgh1234")
    'Authorization: Bearer abcdefgh1234'
    """
    keys = _known_keys()
    return keys.sub(REDACTED, text) if keys else text


hide_in_reprs(redact)


def redact_error(text: str) -> str:
    """Replace everything in the text of an error or log that may be secret.

    These are known keys, parts of them with at least 8 characters, also in base64 and hexadecimal,
    words that are the beginning or end of one, the values of ``Authorization`` headers, and
    passwords in addresses and in parameters such as ``password=…``.

    >>> redact_error("Authorization: Bearer hMac9Qw2XzT7 for http://me:pa55@host")
    'Authorization: Bearer [redacted] for http://[redacted]@host'
    """
    secrets = _secrets()
    text = _without_parts(redact(text), [*_spellings_of(secrets), *_encoded(secrets)])
    text = _without_ends(text, secrets.union(*(hidden.short for hidden in list(_handed_over))))
    text = re.sub(_AUTHORIZATION, rf"\1{REDACTED}", text, flags=re.IGNORECASE)
    text = re.sub(_NAMED_PASSWORD, rf"\1{REDACTED}", text, flags=re.IGNORECASE)
    return re.sub(_PASSWORD, rf"\1{REDACTED}@", text, flags=re.IGNORECASE)


def redact_cut(text: str) -> str:
    """Replace known keys, and parts of them with at least 8 characters, in what was cut."""
    return _without_parts(redact(text), _spellings_of(_secrets()))


def redactor() -> Callable[[str], str]:
    """`redact` with the keys that are known now, for those who redact many texts."""
    keys = _known_keys()
    return _redactor_of(keys) if keys else str


@lru_cache(maxsize=1)
def _redactor_of(keys: re.Pattern[str]) -> Callable[[str], str]:
    """The same function for the same keys, so that what was made with it can be kept."""
    return partial(keys.sub, REDACTED)


Kept: TypeAlias = Callable[[str], bool]
"""Whether a name stays as it is even if it is a key."""


def is_word_of_language(name: str) -> bool:
    """Whether a name means something in programs: without it they could not be read."""
    from lenses_ext import WORDS  # imported late: most commands replace nothing

    return name in WORDS


def is_plain_word(name: str) -> bool:
    """Whether a name is of letters alone, as all those are that we write in JSON of our own."""
    return re.fullmatch("[A-Za-z_]+", name) is not None


def redacted_json(
    text: str, redact: Callable[[str], str], *, keeps: Kept = is_word_of_language
) -> str:
    """A text that is JSON, or should be, without keys; what was JSON still is.

    Args:
        text: the text.
        redact: replaces the keys in a text.
        keeps: which names stay.

    >>> redacted_json('{"id": 1234567890}', lambda text: text.replace("1234567890", "[redacted]"))
    '{"id":"[redacted]"}'
    """
    if redact is str:
        return text
    from .json_text import parse_json, write_json

    shown = redact(text)
    if shown == text and not re.search(_HARD_TO_SEE, text):
        return text
    try:
        value = parse_json(text)
    except ValueError:
        return shown
    clean = _json_without_keys(value, redact, keeps)
    return shown if _is_json(shown, clean) else write_json(clean)


def _json_without_keys(value: Any, redact: Callable[[str], str], keeps: Kept) -> Any:
    match value:
        case str():
            return redact(value)
        case dict():
            names = redacted_names(value, redact, keeps)
            return {
                names[key]: _json_without_keys(each, redact, keeps) for key, each in value.items()
            }
        case list():
            return [_json_without_keys(each, redact, keeps) for each in value]
    text = json.dumps(value)
    shown = redact(text)
    return value if shown == text else shown


def _is_json(text: str, value: Any) -> bool:
    from .json_text import read_json

    try:
        return bool(read_json(text) == value)
    except ValueError:
        return False


def redacted_names(
    names: Iterable[str], redact: Callable[[str], str], keeps: Kept = is_word_of_language
) -> dict[str, str]:
    """Each name and what is written for it; those that would become the same are numbered."""
    found: dict[str, str] = {}
    for name in sorted(names):
        clean = name if keeps(name) else redact(name)
        is_taken = clean != name and clean in found.values()
        found[name] = f"{clean} {len(found)}" if is_taken else clean
    return found


class RedactedStream:
    """Redacts a text that arrives in parts, even if a key is split between them.

    The joined results equal `redact` of the whole text. Only text that may be the beginning of a
    key is delayed.
    """

    def __init__(self) -> None:
        self._keys = _known_keys()
        self._spellings = _spellings_of(_secrets())
        self._held = ""

    def feed(self, text: str) -> str:
        """Add the next part of the text; returns the text that can be shown now."""
        text = self._held + text
        shown, done = "", 0
        while True:
            undecided = self._beginning_of_a_key(text, done)
            match = self._keys.search(text, done) if self._keys else None
            if match is None or match.start() >= undecided:
                break
            shown += text[done : match.start()] + REDACTED
            done = match.end()
        self._held = text[undecided:]
        return shown + text[done:undecided]

    def rest(self) -> str:
        """The delayed text, after the last part."""
        held, self._held = self._held, ""
        return self._keys.sub(REDACTED, held) if self._keys else held

    def _beginning_of_a_key(self, text: str, start: int) -> int:
        """The start of the longest end of a text that may be the beginning of a key."""
        first = len(text)
        for key in self._spellings:
            at = text.find(key[0], max(start, len(text) - len(key) + 1))
            while -1 < at < first:
                if key.startswith(text[at:]):
                    first = at
                at = text.find(key[0], at + 1)
        return first


def _known_keys() -> re.Pattern[str] | None:
    """A regular expression that finds every known key, or None if there are no keys."""
    return _pattern_of(_secrets())


@lru_cache(maxsize=1)
def _pattern_of(secrets: frozenset[str]) -> re.Pattern[str] | None:
    spellings = _spellings_of(secrets)
    return re.compile("|".join(map(re.escape, spellings))) if spellings else None


def _secrets() -> frozenset[str]:
    named = (os.environ.get(name, "").strip() for name in os.environ if _holds_a_key(name))
    in_environment = frozenset(each for each in named if len(each) >= _SHORTEST)
    return in_environment.union(*(hidden.values for hidden in list(_handed_over)))


def _holds_a_key(variable: str) -> bool:
    return variable.upper().endswith("_API_KEY")


def _spellings_of(secrets: frozenset[str]) -> list[str]:
    """The secrets in plain text, as JSON and Python write them, and all of that as others quote it.

    These are gram, HTML and XML, JSON that escapes more than it has to, and addresses.
    The longest come first, so that a secret that contains another one is replaced as a whole.
    """
    spellings = {
        spelling
        for secret in secrets
        for written in (secret, *_reprs(secret))
        for said in (written, *(json.dumps(written, ensure_ascii=a)[1:-1] for a in (True, False)))
        for spelling in (said, quote(said)[1:-1], quote(said, "`")[1:-1], *_in_markup(said))
    }.union(*map(_in_addresses, secrets))
    return sorted(spellings, key=lambda spelling: (-len(spelling), spelling))


def _in_markup(said: str) -> Iterator[str]:
    """A text as HTML and XML escape it, and JSON that is meant for them."""
    if said.isalnum():
        return
    yield said.replace("/", "\\/")
    if _MARKS.isdisjoint(said):
        return
    in_text = said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    yield in_text
    in_attribute = in_text.replace('"', "&quot;")
    yield in_attribute
    yield from (in_attribute.replace("'", mark) for mark in ("&#x27;", "&#39;"))
    for marks in ("<>&", "<>&'", "<>&'="):
        yield "".join(f"\\u{ord(each):04x}" if each in marks else each for each in said)


def _in_addresses(secret: str) -> Iterator[str]:
    """A secret as it is in the query, or in the path, of an address."""
    if not (secret.isascii() and secret.isalnum()):
        from urllib.parse import quote as percent, quote_plus  # imported late: most are

        text = secret.encode(errors="replace")
        yield from (percent(text, safe=""), percent(text), quote_plus(text))


def _reprs(secret: str) -> set[str]:
    """A secret as it is inside the repr of a text, whichever quotes are around that."""
    around = "'\""  # with both in a text, its repr escapes the single quotes
    escaped = {form(around + secret)[4:-1] for form in (repr, ascii)}
    return escaped | {each.replace("\\'", "'") for each in escaped}


def _encoded(secrets: Iterable[str]) -> Iterator[str]:
    """The secrets in hexadecimal, and in base64 wherever they are in what is encoded."""
    from base64 import b64encode  # imported late: most commands show no error

    for secret in secrets:
        given = secret.encode(errors="replace")
        yield given.hex()
        for before in range(3):  # three bytes are four characters; those at the ends are shared
            found = b64encode(b" " * before + given).decode().rstrip("=")
            yield found[before and before + 1 : -1]


def _without_parts(text: str, spellings: list[str]) -> str:
    """Replace the parts of secrets in a text that are at least ``_SHORTEST`` characters long."""
    parts = {
        spelling[at : at + _SHORTEST].lower()
        for spelling in spellings
        for at in range(len(spelling) - _SHORTEST + 1)
    }
    lowered = "".join(map(_lower, text))  # servers change the case of headers
    found = [part for part in parts if part in lowered]
    if not found:
        return text
    secret = [False] * len(text)
    for part in found:
        for match in re.finditer(f"(?={re.escape(part)})", lowered):
            secret[match.start() : match.start() + _SHORTEST] = [True] * _SHORTEST
    groups = groupby(zip(text, secret, strict=True), key=lambda each: each[1])
    return "".join(
        REDACTED if is_secret else "".join(character for character, _ in group)
        for is_secret, group in groups
    )


def _lower(character: str) -> str:
    """The lower case of a character where it is one character too."""
    lowered = character.lower()
    return lowered if len(lowered) == 1 else character


def _without_ends(text: str, secrets: Iterable[str]) -> str:
    """Replace words that are the beginning or the end of a secret, as where it is cut or masked.

    Plain words stay unless there is a mask beside them.
    """

    def shown(match: re.Match[str]) -> str:
        word, start, end = match[0], match.start(), match.end()
        is_masked = _MASK.search(text, max(0, start - 2), start) or _MASK.match(text, end)
        may_be_one = is_masked or (len(word) > 3 and not word.isalpha())
        lowered = word.lower()
        is_one = may_be_one and any(
            each.startswith(lowered) or each.endswith(lowered) for each in given
        )
        return REDACTED if is_one else word

    given = tuple(each.lower() for each in secrets)
    return re.sub(_WORD, shown, text) if given else text
