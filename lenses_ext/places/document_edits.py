"""Documents edited through lenses: what an optic changes in the trees, the text follows.

The optic looks into the patterns of a document, as `each_agent` does. Edits compose: each result
is a document again, and its text is made from the text that was read first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from gram import Document, Pattern, expect

from ..optics import Settable, over, put

A = TypeVar("A")
B = TypeVar("B")
Patterns: TypeAlias = tuple[Pattern, ...]


def edit(document: Document, optic: Settable[Patterns, Any, B], value: B) -> Document:
    """The document with the part, or every part, that an optic looks at set to a value.

    Its ``changes`` say where the text differs from the one that was read.

    Raises:
        FocusError: a part is missing or of the wrong type, or cannot have the value.

    >>> from lenses_ext import agent_model, each_agent, parse
    >>> text = '[a:Agent {model: "A/b", instruction: "x"}] // kept'
    >>> edit(parse(text), each_agent & agent_model, "C/d").text
    '[a:Agent {model: "C/d", instruction: "x"}] // kept'
    """
    expect(document, Document, "document", by="edit")
    patterns: Patterns = put(optic, value, document.patterns)
    return document.replace(patterns)


def edit_with(
    document: Document, optic: Settable[Patterns, A, B], function: Callable[[A], B]
) -> Document:
    """The document with a function applied to every part that an optic looks at.

    Raises:
        FocusError: a part is missing or of the wrong type, or cannot have what the function gives.
    """
    expect(document, Document, "document", by="edit_with")
    patterns: Patterns = over(optic, function, document.patterns)
    return document.replace(patterns)
