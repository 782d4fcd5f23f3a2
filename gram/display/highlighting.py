"""Gram in colour: for notebooks as HTML, for rich as its text.

A language made of gram says how its patterns are shown, see `gram.showing.present`.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ..documents import Document, format_text
from ..errors import expect
from ..reading import lexer, tokens
from ..showing import PRESENTATIONS, Presentation
from ..trees import Pattern
from ..words import counted
from ..writing import dumps

if TYPE_CHECKING:
    import rich.text

    from ..comparing import Diff

Kind: TypeAlias = Literal["name", "label", "key", "string", "number", "word", "comment", "mark", ""]
"""What a piece of text is; "" is the space between tokens."""

_COLOURS: Final = {
    "label": "#2a8fbd",
    "key": "#8f7fd6",
    "string": "#4c9a52",
    "number": "#c0713a",
    "word": "#c0713a",
    "comment": "#8a8a8a",
    "mark": "#8a8a8a",
}
"""Colours that can be read on a light and on a dark background."""

_STRINGS: Final = {"DOUBLE", "SINGLE", "BACKTICK", "FENCE", "TAGGED_FENCE"}
_NUMBERS: Final = {"INTEGER", "DECIMAL", "HEXADECIMAL", "OCTAL", "MEASUREMENT"}
_WORDS: Final = {"SYMBOL", "TRUE", "FALSE"}
_MOST_CHARACTERS: Final = 20_000


def highlighted(text: str) -> Iterator[tuple[Kind, str]]:
    """Cut a text into pieces, each with its kind; together they are the text.

    >>> [piece for piece in highlighted("(a:B {k: 1})") if piece[0] not in ("", "mark")]
    [('name', 'a'), ('label', 'B'), ('key', 'k'), ('number', '1')]
    """
    expect(text, str, "text", by="highlighted")
    done, last = 0, ""
    around: list[str] = []  # the brackets that are open
    for token in tokens(text):
        if between := text[done : token.start]:
            yield ("comment" if between.strip() else ""), between
        if token.type == lexer.END:
            return
        spelling = text[token.start : token.end]
        yield _kind(token.type, last, around), spelling
        if spelling in "([{":
            around.append(spelling)
        elif spelling in ")]}" and around:
            around.pop()
        done, last = token.end, spelling


def _kind(terminal: str, after: str, around: list[str]) -> Kind:
    """The kind of a token, by the one before it and the brackets around it."""
    if terminal in _NUMBERS:
        return "number"
    if terminal not in _WORDS | _STRINGS:
        return "mark"
    if "{" not in around:
        return "label" if after in (":", "::") else "name"
    if around[-1] == "{" and after in ("{", ","):
        return "key"
    return "string" if terminal in _STRINGS else "word"


def html_of(text: str) -> str:
    """The HTML of a gram text in colour.

    >>> html_of("(a)").count("<span")
    2
    """
    body = "".join(
        f'<span style="color:{colour}">{escape(piece)}</span>'
        if (colour := _COLOURS.get(kind))
        else escape(piece)
        for kind, piece in highlighted(text)
    )
    return f'<pre style="white-space:pre-wrap">{body}</pre>'


def notebook_form(what: Pattern | Document | Diff) -> dict[str, str]:
    """What notebooks show of trees: their text in colour, and a pattern's drawing.

    Raises:
        ArgumentError: the argument is neither a pattern nor a document nor a diff.
    """
    text = _shown(what)
    plain = repr(what) if isinstance(what, Document | Pattern) else text
    form = {"text/plain": plain, "text/html": html_of(text)}
    if isinstance(what, Pattern) and (presentation := _presentation_of(what)):
        form["text/vnd.mermaid"] = diagram = presentation.diagram(what)
        form["text/markdown"] = f"```mermaid\n{diagram}\n```"
        if presentation.picture:
            form["text/html"] += presentation.picture(what)
    return form


def rich_text(what: Pattern | Document | Diff) -> rich.text.Text:
    """What the package ``rich`` prints of trees: their text in colour."""
    from rich.text import Text

    pieces = highlighted(_shown(what))
    return Text.assemble(*((piece, _COLOURS.get(kind, "")) for kind, piece in pieces))


def _presentation_of(pattern: Pattern) -> Presentation | None:
    labels = sorted(pattern.value.labels & set(PRESENTATIONS))
    return PRESENTATIONS[labels[0]] if labels else None


def _shown(what: Pattern | Document | Diff) -> str:
    if isinstance(what, Document):
        text = what.text
    elif isinstance(what, Pattern):
        presentation = _presentation_of(what)
        write = presentation.text if presentation else dumps
        text = format_text(write(what)).rstrip("\n")
    else:
        from ..comparing import to_pattern  # imported late: few programs show a diff

        text = format_text(dumps(to_pattern(what))).rstrip("\n")
    if len(text) <= _MOST_CHARACTERS:
        return text
    more = counted(len(text) - _MOST_CHARACTERS, "more character")
    return f"{text[:_MOST_CHARACTERS]}\n// … {more}"
