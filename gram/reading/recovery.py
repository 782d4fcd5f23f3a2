"""Every syntax error of a text: reading goes on behind a token that does not fit.

After an error, reading goes on with what was probably meant. Where that cannot be told, it goes on
with the next bracket or annotation that begins a line: patterns at the top level are independent
of each other. The rest of a broken pattern can be there too;
a comma, bar or closing bracket that belongs to it is not reported as another error.

A guess is only used to find the next error: it changes no text. It is one when the parser then
takes what follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice, pairwise, takewhile

from ..errors import GramDecodeError, expect
from ..source import Source
from .diagnosis import open_brackets, stack_after, syntax_error, take
from .lexer import END, ERROR, tokens
from .parser import parse_trees
from .syntax import Token

_MARKS = ("COMMA", "COLON", "RBRACE", "RPAR", "RSQB", "BAR")
_CLOSERS = ("RBRACE", "RPAR", "RSQB")
_OPENERS = ("(", "[", "@", "@@")

_AS_SURE_AS = ((4, 3, False), (1, 0, True), (2, 20, False))
"""How sure a guess has to be, one try after the other: how many tokens fit behind it, how many it
may leave out, and whether it has to put a mark in the place of the wrong one."""


class Reader:
    """Takes the tokens of a text as the parser does, and goes on where one does not fit.

    Args:
        text: the text.
        read: the tokens that fit already.
        rest: those that follow, the first of which does not fit.

    Attributes:
        read: the tokens of the pattern that is being read, as they may have been meant.
        wrong: the token that does not fit.
    """

    def __init__(self, text: str, read: Sequence[Token], rest: Sequence[Token]) -> None:
        self.read = list(read)
        self._text = text
        self._rest = rest
        self._at = 0
        self._stack = stack_after(self.read)

    @property
    def wrong(self) -> Token:
        """The token that does not fit."""
        return self._rest[self._at]

    def go_on(self) -> bool:
        """Read up to the next token that does not fit; False if there is none that is known."""
        if self.wrong.type == ERROR and self._text[self.wrong.start] in "\"'`":
            return False  # what follows is the rest of a string
        if self._begins_line(self.wrong):
            return False  # it is the next pattern
        for fitting, left_out, replaces in _AS_SURE_AS:
            for meant, used in self._guesses(left_out, replaces):
                stack = stack_after(meant) if meant is not self.read else [*self._stack]
                following = self._rest[self._at + used : self._at + used + fitting]
                if following and all(take(stack, token.type) for token in following):
                    return self._read_from(meant, used)
        return False

    def _read_from(self, meant: list[Token], used: int) -> bool:
        """Take the tokens that fit after those that are meant."""
        self.read, self._stack = list(meant), stack_after(meant)
        self._at += used
        while self._at < len(self._rest):
            token, stack = self.wrong, [*self._stack]
            if self._begins_line(token) and not open_brackets(self.read):
                self.read, stack = [], stack_after([])
            if not take(stack, token.type):
                return True
            self.read.append(token)
            self._stack = stack
            self._at += 1
        return False

    def _begins_line(self, token: Token) -> bool:
        """Whether a token opens a pattern at the beginning of a line."""
        begins_line = token.start == 0 or self._text[token.start - 1] == "\n"
        return begins_line and self._text.startswith(_OPENERS, token.start)

    def _guesses(self, left_out: int, replaces: bool) -> Iterator[tuple[list[Token], int]]:
        """The tokens so far as they may be meant, and how many of the following are part of them.

        A comma may be one too many, a mark missing or another one, or tokens too many.
        """
        wrong = self.wrong
        if replaces and self._text[wrong.start : wrong.start + 1].isalnum():
            return  # a word is no slip for a mark
        if wrong.type in _CLOSERS and self.read and self.read[-1].type == "COMMA":
            yield self.read[:-1], 0
        for name in _MARKS if wrong.type != END else _CLOSERS:
            if take([*self._stack], name):
                meant = [*self.read, Token(wrong.start, wrong.start, name)]
                if not replaces:
                    yield meant, 0
                if wrong.type != END:
                    yield meant, 1
        for count in range(1, left_out + 1):
            if self._at + count < len(self._rest):
                yield self.read, count


_WINDOW = 400  # tokens around an error that are looked at, so that long texts take no longer
_MOST_GUESSED = 20  # errors in a row that are found by guessing
_LINE_OPENS = re.compile(r"^[(\[@{]", re.MULTILINE)
_VISIBLE = re.compile(r"[^\s]")
_REMAINS = (",", "|", ")", "]", "}")


def syntax_errors(text: str, filename: str | None = None) -> tuple[GramDecodeError, ...]:
    """Every syntax error that can be told apart from its neighbours, in the order of the text.

    The first is the one that `gram.loads` raises; there is none when the text is gram.

    Args:
        text: gram notation, or what should be.
        filename: the name that the errors cite.

    >>> [error.lineno for error in syntax_errors("(a\\n(b)\\n(c {k = 1})\\n(d)")]
    [2, 3]
    """
    expect(text, str, "text", by="syntax_errors")
    expect(filename, (str, type(None)), "filename", by="syntax_errors")
    source = Source(text, filename)
    errors: list[GramDecodeError] = []
    unclosed = 0  # brackets of broken patterns whose ends may still come
    start: int | None = 0
    while start is not None and (error := _error_from(source, start)):
        read = _tokens_read(text, start, error.pos)
        opened = len(open_brackets(read))
        if unclosed and not opened and text.startswith(_REMAINS, error.pos):
            unclosed -= text[error.pos] in ")]}"
        else:
            behind, read = _errors_behind(source, error, read)
            errors += [error, *behind]
            unclosed += len(open_brackets(read))
        start = _next_pattern(text, start, read[-1].end if read else start)
    return tuple(errors)


def _errors_behind(
    source: Source, error: GramDecodeError, read: list[Token]
) -> tuple[list[GramDecodeError], list[Token]]:
    """The errors behind one, as far as it can be guessed what was meant at each of them.

    Returns the tokens up to the last of them, too, as they may have been meant.
    """
    errors: list[GramDecodeError] = []
    rest = list(islice(tokens(source.text, error.pos), _WINDOW))
    if not error.expected or not rest or rest[0].start != error.pos:
        return errors, read  # it is no token that does not fit
    reader = Reader(source.text, read, rest)
    while len(errors) < _MOST_GUESSED and len(reader.read) < _WINDOW and reader.go_on():
        errors.append(syntax_error(source, reader.wrong, read=reader.read))
    return errors, reader.read


def _error_from(source: Source, start: int) -> GramDecodeError | None:
    """The first error at or after ``start``."""
    try:
        parse_trees(source, start)
    except GramDecodeError as error:
        return error
    return None


def _tokens_read(text: str, start: int, pos: int) -> list[Token]:
    """The tokens from ``start`` before an error at ``pos``, which may be inside a string."""
    return list(
        takewhile(lambda token: token.start < pos and token.type != ERROR, tokens(text, start))
    )


def _next_pattern(text: str, start: int, at: int) -> int | None:
    """Where the next line begins that opens a pattern: after ``start``, looked for from ``at``."""
    for token in _whole_tokens(text, at):
        starts_line = token.start > start and text[token.start - 1] == "\n"
        if starts_line and text.startswith(_OPENERS, token.start):
            return token.start
    return None


def _whole_tokens(text: str, at: int) -> Iterator[Token]:
    """The tokens from ``at`` on, the rest of a line left out where a string is not closed.

    They end at a fence that is not closed: what follows may be its text.
    """
    while at < len(text):
        for token in tokens(text, at):
            if token.type != ERROR:
                yield token
            elif text.startswith("```", token.start):
                return
            elif text[token.start] in "\"'`":
                at = _line_end(text, token.start)
                break
        else:
            return


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def readable(text: str) -> str:
    """A text with blanks where it cannot be read, so that it is gram; places stay the same.

    A top-level pattern with an error is left out whole, up to the next bracket that begins a line.
    So whoever looks at a text that is being written sees what is above and below the error.

    >>> readable("(a)\\n[b {k: }\\n(c)")
    '(a)\\n        \\n(c)'
    """
    expect(text, str, "text", by="readable")
    source = Source(text)
    if _error_from(source, 0) is None:
        return text
    bounds = [*(found.start() for found in _LINE_OPENS.finditer(text)), len(text)]
    pieces, at = [_VISIBLE.sub(" ", text[: bounds[0]])], 0
    while at + 1 < len(bounds):
        whole = _whole_pattern(source, bounds[at : at + _WINDOW])
        piece = text[bounds[at] : bounds[at + (whole or 1)]]
        pieces.append(piece if whole else _VISIBLE.sub(" ", piece))
        at += whole or 1
    return "".join(pieces)


def _whole_pattern(source: Source, bounds: list[int]) -> int:
    """How many pieces of a text make a pattern, from the first on; 0 when they make none."""
    text, depth = source.text, 0
    for count, (start, end) in enumerate(pairwise(bounds), 1):
        marks = [text[each.start] for each in tokens(text, start, end) if each.start < end]
        depth += sum(mark in "([{" for mark in marks) - sum(mark in ")]}" for mark in marks)
        if depth == 0 and _can_be_read(source, bounds[0], end):
            return count
        if depth <= 0 and text[bounds[0]] != "@":
            break
    return 0


def _can_be_read(source: Source, start: int, end: int) -> bool:
    with suppress(GramDecodeError):
        parse_trees(source, start, end)
        return True
    return False
