"""Says what is wrong where a text stops being gram: what was found, what could be there, a hint.

Nothing here decides whether a text is gram; the parser calls it at the first token that cannot
continue. What was read up to there is read once more, without building anything, so that
reading itself need not remember what only an error asks for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from string import Template
from typing import Any

from ..errors import MAX_LEVELS
from ..grammar import Rule, grammar, terminal
from ..source import GramDecodeError, Source
from ..words import one_of
from .lexer import END, ERROR, tokens
from .scalars import QUOTES
from .syntax import Token

_TERMINALS = {END: "the end of the text", "BACKTICK": "a backticked string"}

# What may follow almost any number or word, and is hardly ever what was meant.
_UNLIKELY = {"DOTS", "ELLIPSIS", "BACKTICK"}

_LONGEST_SHOWN = 40
_CONTEXT = 100  # how far back and on a slip is looked for

CLOSERS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
"""The terminal that closes the bracket which another opens."""


@cache
def words() -> dict[str, Any]:
    """What is in ``hints.toml``, with the names and numbers of the grammar."""
    import tomllib  # imported late: most texts have no faults

    text = Path(__file__).with_name("hints.toml").read_text(encoding="utf-8")
    number, name = r"(?<![\w.])-?\d+(?:\.\d+)?", terminal("SYMBOL").pattern
    return tomllib.loads(text.replace("NUMBER", number).replace("NAME", name))


def syntax_error(source: Source, token: Token, start: int = 0) -> GramDecodeError:
    """The error for a token that cannot follow the tokens before it.

    Args:
        source: the text.
        token: the first token that does not fit.
        start: where the parser began to read.
    """
    if token.type == ERROR and (broken := _broken_string(source, token.start)):
        return broken
    text = source.text
    read = tokens_before(text, token.start, start)
    stack, opened = [grammar().start], list[Token]()
    for each in read:
        take(stack, each.type)
        _follow(opened, each)
    expected = _expected(stack)
    message = f"unexpected {_named(text, token)}"
    if expected:
        message += f", expected {one_of(expected)}"
    last = read[-1].end if read else token.start
    before = text[max(0, last - _CONTEXT) : last] + (" " if last < token.start else "")
    rest = text[token.start : max(token.end, token.start + _CONTEXT)]
    hint = (
        _odd_character(before, rest)
        or _from_table("spellings", before, rest, expected)
        or _unclosed_bracket(source, token, opened)
        or _from_table("places", before, rest, expected)
    )
    error = GramDecodeError(
        message, text, token.start, filename=source.filename, expected=expected, hint=hint
    )
    if token.type in CLOSERS.values() and read and read[-1].type == "COMMA":
        error.unwanted = read[-1].span
    return error


def depth_error(source: Source, pos: int, end: int, start: int = 0) -> GramDecodeError:
    """The error for a tree that nests too deep, at the bracket that opens a level too many.

    Args:
        source: the text.
        pos: the place of the error when brackets alone do not nest as deep.
        end: where the parser gave up.
        start: where it began to read.
    """
    opened: list[Token] = []
    for token in tokens_before(source.text, end, start):
        _follow(opened, token)
        # the outermost brace opens a record, which is not a level
        records = any(bracket.type == "LBRACE" for bracket in opened)
        if len(opened) - records > MAX_LEVELS:
            pos = token.start
            break
    message = f"nests deeper than {MAX_LEVELS} levels"
    return GramDecodeError(message, source.text, pos, filename=source.filename)


def tokens_before(text: str, end: int, start: int = 0) -> list[Token]:
    """The tokens between ``start`` and ``end``."""
    return list(takewhile(lambda token: token.start < end, tokens(text, start)))


def _follow(opened: list[Token], token: Token) -> None:
    """Add a bracket that ``token`` opens, remove the one it closes."""
    if token.type in CLOSERS:
        opened.append(token)
    elif token.type in CLOSERS.values() and opened:
        opened.pop()


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST_SHOWN else f"{word[:_LONGEST_SHOWN]}…"


# --- what was found


def _named(text: str, token: Token) -> str:
    """What a token is, with its spelling where it is short."""
    if token.type == END:
        return "end of the text"
    found = text[token.start : token.end]
    if token.type == ERROR and not found.isprintable():
        name = unicodedata.name(found, "")
        return f"character U+{ord(found):04X}" + (f" ({name})" if name else "")
    kind: str = words()["found"].get(token.type, "")
    if len(found) > _LONGEST_SHOWN or not found.isprintable():
        return kind.rstrip() or f"`{found[:_LONGEST_SHOWN]}…`"
    return kind + (found if "`" in found else f"`{found}`")


# --- what could be there


def _expected(stack: Sequence[int]) -> tuple[str, ...]:
    """What could come next, in the words of the language."""
    shifts: dict[str, int] = {}
    for name in (*grammar().terminals, END):
        trail = list(stack)
        if take(trail, name):
            shifts[name] = trail[-1] if name == END else trail[-2]
    said: list[str] = []
    for part, word in words()["parts"]:
        covered = [
            name
            for name in first_of(part)
            if name in shifts and part in grammar().states[shifts[name]]
        ]
        if covered:
            said.append(word)
            for name in covered:
                del shifts[name]
    literals = grammar().literals
    rest = shifts.keys() - _UNLIKELY or shifts.keys()
    marks = sorted((literals[mark] for mark in rest & literals.keys()), key=lambda m: (len(m), m))
    said.extend(f"`{mark}`" for mark in marks)
    said.extend(_TERMINALS.get(other, other) for other in sorted(rest - literals.keys()))
    return tuple(dict.fromkeys(said))


@cache
def first_of(symbol: str) -> frozenset[str]:
    """The terminals that a part of the grammar can begin with."""
    rules = grammar().rules
    made = {rule.symbol for rule in rules}
    found, pending = {symbol}, [symbol]
    for each in pending:
        begins = {part for rule in rules if rule.symbol == each for part in _first_parts(rule)}
        pending.extend(begins - found)
        found |= begins
    return frozenset(found - made)


def _first_parts(rule: Rule) -> Iterator[str]:
    """The parts that a rule can begin with: those before it may be empty."""
    empty = {each.symbol for each in grammar().rules if not each.parts}
    for part in rule.parts:
        yield part
        if part not in empty:
            return


def take(stack: list[int], terminal: str) -> bool:
    """Whether the parser takes ``terminal``; the stack is then the one after it."""
    states, rules = grammar().states, grammar().rules
    while (action := states[stack[-1]].get(terminal)) is not None:
        if action >= 0:
            stack.append(action)
            return True
        rule = rules[~action]
        del stack[len(stack) - len(rule.parts) :]
        stack.append(states[stack[-1]][rule.symbol])
        if stack[-1] == grammar().end:
            return True
    return False


# --- strings that do not end, or hold what they may not


@cache
def _unclosed(name: str) -> re.Pattern[str]:
    """A terminal of strings without the quote that ends it."""
    return re.compile(terminal(name).pattern.removesuffix(QUOTES[name]), re.ASCII)


@cache
def _fence_opener() -> re.Pattern[str]:
    """The opener of a fence, with or without a tag, without its line break."""
    openers = (terminal(name).pattern for name in ("TAGGED_FENCE_OPENER", "FENCE_OPENER"))
    return re.compile("|".join(opener.removesuffix("\n") for opener in openers), re.ASCII)


def _broken_string(source: Source, start: int) -> GramDecodeError | None:
    """The error for a quote that opens no string, or None when there is no quote."""
    text = source.text

    def error(message: str, offset: int, hint: str | None = None) -> GramDecodeError:
        return GramDecodeError(message, text, offset, filename=source.filename, hint=hint)

    if opener := _fence_opener().match(text, start):
        if text.startswith("\n", opener.end()):
            return error("this fenced string is not closed", start, "end it with ```")
        return error(
            "a fence is followed by a tag at the most, then a line break",
            opener.end(),
            "for a string on one line use `…`, \"…\" or '…'",
        )
    quote = text[start]
    name = next((name for name, mark in QUOTES.items() if mark == quote), None)
    body = _unclosed(name).match(text, start) if name else None
    if body is None:
        return None
    stop = body.end()
    escaped = text[stop + 1 : stop + 2]
    if text.startswith("\\", stop) and escaped not in ("", "\n"):
        shown = escaped if escaped.isprintable() else f"U+{ord(escaped):04X}"
        return error(
            f"unknown escape `\\{shown}`",
            stop,
            rf"the escapes of this string are \{quote} \\ \/ \b \f \n \r \t",
        )
    other = {'"': "'", "'": '"', "`": "'"}[quote]
    hint = f"end it with {quote}"
    if other in text[start + 1 : stop]:
        hint += f", the quote it began with; {other} inside it is text"
    elif text.startswith("\n", stop):
        hint += r" before the line ends, write \n for a line break, or use a fenced string (```)"
    return error("this string is not closed", start, hint)


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


def _from_table(table: str, before: str, rest: str, expected: Collection[str]) -> str | None:
    for end, at, needed, hint in words()[table]:
        ended = re.search(rf"(?:{end})\Z", before, re.ASCII)
        begun = ended and re.match(at, rest, re.ASCII)
        if ended and begun and not (needed and set(needed).isdisjoint(expected)):
            said = ended.groupdict() | begun.groupdict()
            return Template(hint).substitute({name: _short(word) for name, word in said.items()})
    return None


# --- brackets


def _unclosed_bracket(source: Source, token: Token, opened: Sequence[Token]) -> str | None:
    """For a text that ends, or goes on with the next pattern, before a bracket is closed."""
    found, closing = source.text[token.start : token.end], token.type in CLOSERS.values()
    if not opened:
        return f"no bracket is open that `{found}` could close" if closing else None
    at, closer = opened[-1].start, grammar().literals[CLOSERS[opened[-1].type]]
    begins_line = source.position(token.start)[1] == 1
    goes_on = (closing and found != closer) or (begins_line and found in ("(", "[", "@", "@@"))
    if token.type == END or goes_on:
        place = source.line_and_column(at)
        return f"the `{source.text[at]}` opened at {place} is not closed: `{closer}` is missing"
    return None
