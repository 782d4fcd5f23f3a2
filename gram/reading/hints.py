"""How to mend a text that is not gram: a table of common slips, each with its hint."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from string import Template

from ..grammar import terminal
from ..source import Source
from .lexer import END
from .syntax import Token

CLOSERS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
"""The terminal that closes the bracket which another opens."""

_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}
_CONTEXT = 100  # how far back a slip is looked for


def hint_for(
    source: Source,
    token: Token,
    read: Sequence[Token],
    expected: Collection[str],
    opened: Sequence[Token],
) -> str | None:
    """How to mend a text, or None when its slip is not a common one.

    Args:
        source: the text.
        token: the first token that does not fit.
        read: the tokens before it.
        expected: what could be there.
        opened: the brackets that are open there, outermost first.
    """
    text = source.text
    last = read[-1].end if read else token.start
    before = text[max(0, last - _CONTEXT) : last] + (" " if last < token.start else "")
    rest = text[token.start : max(token.end, token.start + _CONTEXT)]
    return (
        _odd_character(before, rest)
        or _from_table(_SPELLINGS, before, rest, expected)
        or _unclosed_bracket(source, token, opened)
        or _from_table(_PLACES, before, rest, expected)
    )


# --- characters that only look right

_ASCII = dict.fromkeys("‐‑‒–—―−", "-") | {
    "→": "-->",
    "⟶": "-->",
    "⇒": "==>",
    "⟹": "==>",
    "←": "<--",
}


def _odd_character(before: str, rest: str) -> str | None:
    """For curly quotes, full-width marks, exotic blanks, and names in other alphabets."""
    char = rest[:1]
    if not char or char.isascii():
        return None
    if char in "“”„‟«»‘’‚‛":
        return "use straight quotes: \" or '"
    plain = _ASCII.get(char) or unicodedata.normalize("NFKC", char)
    if plain.isascii() and not plain.isalnum() and plain.isprintable() and plain != " ":
        return f"use the ASCII `{plain}`"
    if not char.isprintable():
        return "only spaces, tabs and line breaks may be between tokens"
    begun = re.search(r"[\w.\-@]*\Z", before)
    word = (begun[0] if begun else "") + re.split(r"[\s()\[\]{}|,:`\"'\\]", rest, maxsplit=1)[0]
    return (
        "a word with characters other than A to Z, digits and _.-@ is written in backticks: "
        f"`{word}`"
    )


# --- slips by their spelling and by their place

_NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)?"
_NAME = terminal("SYMBOL").pattern
_NAMES = ("an identifier", "a label name", "an element")
_HEADS = ("`->`", "`=>`", "`~>`")
_MISSING_BAR = "a `|` separates the subject from its elements: [subject | element, element]"

# What ends before the token, what begins with it, what could be there (of several one; None:
# anything), hint. A name in (?P<…>) can be used in the hint after a $.
_Row = tuple[str, str, str | tuple[str, ...] | None, str]

_SPELLINGS: tuple[_Row, ...] = (
    ("", r"#|/\*", None, "a comment begins with //"),
    # numbers
    (r"\b0[oO]", r"(?P<digits>\d+)", None, "an octal number is written with a leading 0: 0$digits"),
    (r"\b0[bB]", r"\d", None, "a number is written in decimal, hexadecimal or octal"),
    (r"(?<![\w.])-?0", r"\d+", None, "a number has no leading zero; a code of digits is a string"),
    (_NUMBER + "[eE]", r"[-+]?\d", None, "a number has no exponent: write all its digits"),
    (r"\b\d{4}", r"-\d\d?", None, "a date is a tagged string: date`2026-01-31`"),
    (_NUMBER, r"_\d", None, "a number has nothing between its digits"),
    (_NUMBER + ",", r"\d{3}\b", None, "a number has nothing between its digits"),
    (_NUMBER, r"\.(?!\.)", None, "a decimal has a digit after its point: 5.0"),
    (_NUMBER, r"%", None, "a unit is made of the letters A to Z"),
    (
        f"(?P<number>{_NUMBER}) ",
        r"(?P<unit>[A-Za-z]+)\b(?!\s*:)",
        "`,`",
        "a unit follows its number at once: $number$unit",
    ),
    ("", r"\+", "a value", "a positive number has no sign"),
    ("", r"\.(?P<digits>\d+)", "a value", "a decimal has a digit before its point: 0.$digits"),
    ("", r"\.\.(?P<bound>-?\d)", "a value", "a range with an open end has three dots: ...$bound"),
    (r"\.\.\.", r"-?\d", None, "a range with both ends has two dots: 1..2"),
    # strings and names
    (r"(?P<quote>[\"'`])", r"\w", "`,`", "a $quote inside this string is written \\$quote"),
    (r"\b(?:true|false) ?", "`", None, "true and false cannot be tags"),
    (
        rf"(?P<tag>{_NAME}) ?",
        r"[\"'](?P<content>[^\"']*)",
        "`,`",
        "a tagged string is written in backticks: $tag`$content`",
    ),
    ("", r"'(?P<key>[^']*)'", "a key", 'a key is written bare or in double quotes: "$key"'),
    ("", r"(?P<key>\d\S*?)\s*:", "a key", 'a key is written bare or in double quotes: "$key"'),
    (
        "",
        r"[\"'](?P<name>[^\"']*)",
        _NAMES,
        "a name is written bare or in backticks, never in quotes: `$name`",
    ),
    (
        "",
        r"(?P<name>-?\d[\w.]*)",
        _NAMES,
        "a name that is not a symbol is written in backticks: `$name`",
    ),
    # arrows
    ("", r"--|<--|==|~~|<==|<~~", "a pattern", "an arrow connects nodes, each written in ( )"),
    ("", r"->|=>|~>|>", "an arrow", "an arrow is written `-->`, `==>` or `~~>`"),
    (r"\) ?", r"::?", "an arrow", "an arrow is written `-->`, `==>` or `~~>`"),
    (r"<[-=~]", r">", None, "an arrow both ways is written `<-->`, `<==>` or `<~~>`"),
    (r"[-=~] ", r">", None, "`>` follows at once: `-->`"),
    (r"[-=~]{2}", r"[-=~]", "a node", "an arrow is written `--` or `-->`"),
    (r"\w-", r">", "`]`", "a name may end with `-`: close the `[` before the arrow goes on"),
    (r"\] ?", r"\(", "`->`", "the arrow goes on after its `]`: `-[…]->` or `-[…]-`"),
    (r"[-=~] ?", r"[(>]", _HEADS, "an arrow has two halves, as in `-->`, `--` or `-[…]->`"),
    (
        "",
        r"[-=~]>?",
        (*_HEADS, "`-`", "`=`", "`~`"),
        "both halves of an arrow are of one family: `-->`, `==>` or `~~>`",
    ),
    ("", r"[\[\w\"'`]", "a node", "an arrow leads to a node, written in ( )"),
)

_PLACES: tuple[_Row, ...] = (
    # elements and text without the marks they need
    (
        rf"\|(?:[^\[\]{{}}]*,)? ?(?P<name>{_NAME}) ?",
        rf"(?P<colon>::?)\s*(?P<label>{_NAME})",
        "`,`",
        "an element with labels is written in brackets: ($name$colon$label)",
    ),
    (
        rf"\|(?:[^\[\]{{}}]*,)? ?(?P<name>{_NAME}) ?",
        r"\{",
        "`,`",
        "an element with properties is written in brackets: ($name {…})",
    ),
    (r"\"\"|''", r"[\"']", "`,`", "a string of several lines is written between fences: ```"),
    (rf": ?{_NAME} ", rf"{_NAME}(?!\s*:)", "`,`", "text of several words is written in quotes"),
    ("", r"[:/+*?!&%^\\]", "`,`", "text is written in quotes"),
    # commas and bars
    (r", ?", r"(?P<closer>[\])}])", None, "remove the comma before `$closer`"),
    (r"\| ?", r"\]", None, "an element list cannot be empty: remove the `|`"),
    ("", r"[,;]", "a pattern", "patterns are separated by blanks or line breaks alone"),
    ("", r"[,;]", "`|`", _MISSING_BAR),
    ("", r"[(\[\w\"'`]", "`|`", _MISSING_BAR),
    (rf"@{_NAME} ?\([^()]*", r",", "`)`", "an annotation has one value; several are an array"),
    ("", r"\|", "`,`", "elements are separated by `,`"),
    ("", r"\|", "`)`", "a pattern with elements is written in [ ]"),
    ("", r";", "`,`", "write `,` instead of `;`"),
    ("", r"[\w\"'`(\[{@-]", "`,`", "a `,` is missing"),
    # records
    ("", r"::", "`:`", "in a map inside a value, the colon is a single one"),
    ("", r"", "`:`", "a `:` separates a key from its value"),
    (r"\} ?", r"\{", "`)`", "a subject has one record"),
    (r"\} ?", r":", "`)`", "labels are written before the record"),
    (
        "",
        r"\{",
        "a pattern",
        "a record belongs in a pattern, or at the start of the text as its header",
    ),
    # patterns and names
    (
        rf"\((?P<first>{_NAME}) ",
        rf"(?P<second>{_NAME})",
        "`)`",
        "a name of several words is written in backticks: `$first $second`",
    ),
    ("", r"@@", "an annotation", "`@@` is written once, before all other annotations"),
    ("", r"@", "an element", "only a pattern at the top level can be annotated"),
    (r"\) ?", r"\Z", "an annotation", "an annotation is written before its pattern"),
    (
        "",
        rf"(?P<name>{_NAME})",
        "a pattern",
        "a pattern is written in brackets: ($name) or [$name | …]",
    ),
    ("", r"[^\w\s\[\](){}]", "a value", "text is written in quotes"),
)


def _from_table(
    rows: Sequence[_Row], before: str, rest: str, expected: Collection[str]
) -> str | None:
    for end, at, needed, hint in rows:
        places = (needed,) if isinstance(needed, str) else needed
        if places and not set(places).intersection(expected):
            continue
        ended = re.search(rf"(?:{end})\Z", before, re.ASCII)
        begun = ended and re.match(at, rest, re.ASCII)
        if ended and begun:
            words = ended.groupdict() | begun.groupdict()
            return Template(hint).substitute({name: _short(word) for name, word in words.items()})
    return None


def _short(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:40]}…"


# --- brackets


def _unclosed_bracket(source: Source, token: Token, opened: Sequence[Token]) -> str | None:
    """For a text that ends, or goes on with the next pattern, before a bracket is closed."""
    found = source.text[token.start : token.end]
    closing = found in _CLOSED_BY.values()
    if not opened:
        return f"no bracket is open that `{found}` could close" if closing else None
    at = opened[-1].start
    bracket, starts_line = source.text[at], source.position(token.start)[1] == 1
    closer, place = _CLOSED_BY[bracket], source.line_and_column(at)
    next_pattern = starts_line and found in ("(", "[", "@", "@@")
    if token.type == END or next_pattern or (closing and found != closer):
        return f"the `{bracket}` opened at {place} is not closed: `{closer}` is missing"
    return None
