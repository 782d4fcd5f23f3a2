"""HTML and SVG built of elements: every text in them is escaped, so none can become markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias, Union

from ..errors import ArgumentError, visible as visible

_NO_CHARACTERS = "[\ud800-\udfff\ufffe\uffff]"
"""What cannot be encoded, or is not allowed in XML."""

_MARKS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_NAME = re.compile("[a-zA-Z][a-zA-Z0-9:-]*")
_WITHOUT_END = frozenset({"br", "input", "meta"})


class Markup(str):
    """Text that is markup already, so that `element` does not escape it."""

    __slots__ = ()


Content: TypeAlias = Union[str, Iterable["Content"], None]
"""What can be in an element: text, `Markup`, several of these, or nothing."""


def markup_of(*content: Content) -> Markup:
    """Text and elements, one after the other, as markup; text is escaped.

    Raises:
        ArgumentError: there is something else among them.

    >>> markup_of("a < b", [element("br")])
    'a &lt; b<br>'
    """
    return Markup("".join(map(_markup, content)))


def element(name: str, /, *content: Content, **attributes: str | float | None) -> Markup:
    """An element of HTML or SVG.

    Args:
        name: the name of the element.
        content: what is in it; text is escaped.
        attributes: its attributes; those that are None or False are left out, and True has no
            value. An underscore at the end is left out, any other is a hyphen.

    Raises:
        ArgumentError: a name or a part of the content is not one.

    >>> element("p", "a < b", element("br"), class_="x", hidden=True, id=None)
    '<p class="x" hidden>a &lt; b<br></p>'
    """
    start = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if not _NAME.fullmatch(name):
        raise ArgumentError(f"{name!r} is not the name of an element")
    end = "" if name in _WITHOUT_END else f"</{name}>"
    return Markup(f"<{start}>{''.join(map(_markup, content))}{end}")


def _attribute(key: str, value: str | float | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_escaped(str(value))}"'


def _markup(content: Content) -> str:
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return _escaped(content)
    if content is None:
        return ""
    if not isinstance(content, Iterable):
        raise ArgumentError(f"{content!r} is neither text nor markup")
    return "".join(map(_markup, content))


def _escaped(text: str) -> str:
    if not (text.isascii() and text.isprintable()):  # most are, and have nothing else to escape
        text = re.sub(_NO_CHARACTERS, "\ufffd", visible(text))
    return text.translate(_MARKS)
