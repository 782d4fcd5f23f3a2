"""Reads on behind a token that does not fit, by guessing what was meant there.

A guess is only used to find the next error: it changes no text. It is one when the parser then
takes what follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .diagnosis import open_brackets, stack_after, take
from .lexer import END, ERROR
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
