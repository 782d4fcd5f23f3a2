"""Gram for Pygments: this package registers the lexer, so that sites and consoles colour gram."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from pygments.lexer import Lexer
from pygments.token import Comment, Keyword, Name, Number, Punctuation, String, Text

from .highlighting import highlighted

_TOKENS = {
    "name": Name.Function,
    "label": Name.Class,
    "key": Name.Attribute,
    "string": String,
    "number": Number,
    "word": Keyword.Constant,
    "comment": Comment.Single,
    "mark": Punctuation,
    "": Text,
}


class GramLexer(Lexer):  # type: ignore[misc]  # Pygments has no types
    """The lexer of gram.

    >>> list(GramLexer().get_tokens("(a)"))[1]
    (Token.Name.Function, 'a')
    """

    name = "gram"
    aliases: ClassVar = ["gram"]
    filenames: ClassVar = ["*.gram"]
    mimetypes: ClassVar = ["text/x-gram"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """The pieces of a text, each with its place and token."""
        at = 0
        for kind, piece in highlighted(text):
            yield at, _TOKENS[kind], piece
            at += len(piece)
