"""Documents edited through lenses: what an optic changes in the trees, the text follows.

The optic looks into the patterns of a document, as `each_agent` does. Edits compose: each result
is a document again, whose text is made from the text that was read, whatever came between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gram import Document, Pattern

from .optics import Lens, Traversal, over, put

A = TypeVar("A")


def edit(
    document: Document,
    optic: Lens[tuple[Pattern, ...], A] | Traversal[tuple[Pattern, ...], A],
    value: A,
) -> Document:
    """The document with the part, or every part, that an optic looks at set to a value.

    Its ``changes`` say where the text differs from the one that was read.

    Raises:
        FocusError: a part is missing or ill-typed, or the value cannot stand there.

    >>> from lenses_ext import Model, agent_model, each_agent, parse
    >>> text = '[a:Agent {model: "A/b", instruction: "x"}] // kept'
    >>> edit(parse(text), each_agent & agent_model, Model("C", "d")).text
    '[a:Agent {model: "C/d", instruction: "x"}] // kept'
    """
    patterns: tuple[Pattern, ...] = put(optic, value, document.patterns)
    return document.replace(patterns)


def edit_with(
    document: Document,
    optic: Lens[tuple[Pattern, ...], A] | Traversal[tuple[Pattern, ...], A],
    function: Callable[[A], Any],
) -> Document:
    """The document with a function applied to every part that an optic looks at.

    Raises:
        FocusError: a part is missing or ill-typed, or what the function gives cannot stand there.
    """
    patterns: tuple[Pattern, ...] = over(optic, function, document.patterns)
    return document.replace(patterns)
