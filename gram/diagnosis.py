"""Says what is wrong where a text stops being gram: what was found, what could stand there, a hint.

Nothing here decides whether a text is gram; the parser calls it at the first token that cannot
continue, with the parser's own stack of states.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .errors import GramDecodeError
from .grammar import grammar
from .lexer import END, ERROR
from .source import Source
from .syntax import Token

# What a reader calls the parts of the grammar, widest first: where a pattern may begin, its
# tokens are not named one by one.
_PARTS = (
    ("_pattern", "a pattern"),
    ("annotation", "an annotation"),
    ("_annotatable", "a pattern"),
    ("element", "an element"),
    ("value", "a value"),
    ("bound", "a number"),
    ("key", "a key"),
    ("label_name", "a label name"),
    ("identifier", "an identifier"),
    ("symbol", "a symbol"),
    ("label", "a label"),
    ("record", "a record"),
    ("node", "a node"),
    ("arrow", "an arrow"),
)

_TERMINALS = {
    END: "the end of the text",
    "BACKTICK": "a backticked string",
}

# What may follow almost any number or word, and is hardly ever what was meant.
_UNLIKELY = {"DOTS", "ELLIPSIS", "BACKTICK"}

_FOUND = {
    END: "end of the text",
    "DOUBLE": "a double-quoted string",
    "SINGLE": "a single-quoted string",
    "BACKTICK": "a backticked string",
    "FENCE": "a fenced string",
    "TAGGED_FENCE": "a tagged string",
    "MEASUREMENT": "a measurement",
    "DECIMAL": "a decimal",
    "HEXADECIMAL": "a hexadecimal number",
    "OCTAL": "an octal number",
    "INTEGER": "an integer",
}

_CLOSED_BY = {"[": "]", "(": ")", "{": "}"}


def syntax_error(source: Source, token: Token, stack: Sequence[int]) -> GramDecodeError:
    """The error for a token that cannot continue what the parser has read.

    Args:
        source: the text.
        token: the first token that does not fit.
        stack: the parser's states, the current one last.
    """
    found = source.text[token.start : token.end]
    if token.type == ERROR and (broken := _broken_string(source, token.start)):
        return broken
    expected = _expected(stack)
    name = f"`{_visible(found)}`"
    if token.type in _FOUND:
        name = _FOUND[token.type] + (f" {name}" if token.type != END and len(found) < 30 else "")
    message = f"unexpected {name}"
    if expected:
        message += f", expected {_one_of(expected)}"
    return GramDecodeError(
        message,
        source.text,
        token.start,
        filename=source.filename,
        expected=expected,
        hint=_hint(source.text, token, found, expected),
    )


# --- what could stand there


def _expected(stack: Sequence[int]) -> tuple[str, ...]:
    """What could come next, in the words of the language."""
    shifts = {
        terminal: state
        for terminal in (*grammar().terminals, END)
        if (state := _shifted_from(stack, terminal)) is not None
    }
    words: list[str] = []
    for part, word in _PARTS:
        covered = [
            terminal
            for terminal in grammar().first[part]
            if terminal in shifts and part in grammar().states[shifts[terminal]]
        ]
        if covered:
            words.append(word)
            for terminal in covered:
                del shifts[terminal]
    for terminal in shifts.keys() - _UNLIKELY or shifts:
        literal = grammar().literals.get(terminal)
        words.append(_TERMINALS.get(terminal) or (f"`{literal}`" if literal else terminal))
    return tuple(dict.fromkeys(words))


def _shifted_from(stack: Sequence[int], terminal: str) -> int | None:
    """The state in which the parser would take ``terminal``, or None when it would not."""
    states, rules = grammar().states, grammar().rules
    trail = list(stack)
    while True:
        action = states[trail[-1]].get(terminal)
        if action is None:
            return None
        if action >= 0:
            return trail[-1]
        rule = rules[~action]
        del trail[len(trail) - rule.size :]
        trail.append(states[trail[-1]][rule.symbol])
        if terminal == END and trail[-1] == grammar().end:
            return trail[-1]


def _one_of(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _visible(text: str) -> str:
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in shown)


# --- strings that do not end, or hold what they may not

_BODY = {
    quote: re.compile(rf"{quote}[^{quote}\\\n]*(?:\\[{quote}\\/bfnrt][^{quote}\\\n]*)*")
    for quote in "\"'`"
}
_FENCE_OPENER = re.compile(
    r"```[ \t\r\f\v]*(?:(?!(?:true|false)[ \t\r\f\v]*\n)[A-Za-z_][0-9A-Za-z_.\-@]*[ \t\r\f\v]*)?",
    re.ASCII,
)


def _broken_string(source: Source, start: int) -> GramDecodeError | None:
    """The error for a quote that opens no string, or None when there is no quote."""
    text = source.text

    def error(message: str, offset: int, hint: str | None = None) -> GramDecodeError:
        return GramDecodeError(message, text, offset, filename=source.filename, hint=hint)

    if opener := _FENCE_OPENER.match(text, start):
        if text.startswith("\n", opener.end()):
            return error("this fenced string is not closed", start, "end it with ```")
        return error(
            "a fence is followed by a tag at the most, then a line break",
            opener.end(),
            "for a string on one line use `…`, \"…\" or '…'",
        )
    if text[start] not in _BODY:
        return None
    quote = text[start]
    body = _BODY[quote].match(text, start)
    assert body is not None
    stop = body.end()
    if text.startswith("\\", stop) and text[stop + 1 : stop + 2] not in ("", "\n"):
        return error(
            f"unknown escape `{_visible(text[stop : stop + 2])}`",
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


# --- hints for common slips


def _hint(text: str, token: Token, found: str, expected: Iterable[str]) -> str | None:
    before = text[: token.start].rstrip()
    if found in _CLOSED_BY.values() and before.endswith(","):
        return f"remove the comma before `{found}`"
    if found == "]" and before.endswith("|"):
        return "an element list cannot be empty: remove the `|`"
    if found == "," and "`|`" in expected:
        return "elements are separated from the subject by `|`: [subject | element, element]"
    if found and "`|`" in expected and found[0] in "([":
        return "a `|` stands between the subject and its elements: [subject | element, element]"
    if found.startswith(("'", '"')) and "an identifier" in expected:
        return "a name that is no symbol is written in backticks: `two words`"
    if found in ("=", ":", "::") and before.endswith(")"):
        return "an arrow is written `-->` or `==>`"
    if found == "#" or text.startswith("/*", token.start):
        return "a comment begins with //"
    if re.search(r"[^\w]0o$", text[: token.start]) and found.isdigit():
        return "an octal number is written with a leading 0: 017"
    if found in (",", ";") and "a pattern" in expected:
        return "patterns are separated by blanks or line breaks alone"
    if found == "@" and "an element" in expected:
        return "an annotation stands only before a pattern at the top level"
    if found == "null":
        return "gram has no null: leave the property out"
    if found == "+" and "a value" in expected:
        return "a positive number has no sign"
    if found == "." and "a value" in expected:
        return "a decimal has a digit before its point: 0.5"
    if token.type == "SYMBOL" and not before:
        return f"a pattern is written in brackets: ({found}) or [{found} | …]"
    return None
