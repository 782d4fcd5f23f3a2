"""How agents are written: in a tool ``==>``, ``::`` and shapes in ``[…]``; plain gram elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import gram
from gram import Document, Pattern, Spelling

from ..labels import is_agent, is_answer, is_tool
from .parts import is_chain, signature_of

_PLAIN = Spelling()
_INSIDE = Spelling("::", "=")
_CHAIN = Spelling("::", "=", path=True)
_SHAPE = Spelling("::", "=", path=False, bracketed=True)
_BRACKET = Spelling("::", "=", path=False)


def agent_style(within: tuple[Pattern, ...]) -> Spelling:
    """The spelling of a pattern of a program: a style for `gram.dumps` and `gram.parse`.

    Args:
        within: its ancestors, outermost first, itself last.
    """
    *ancestors, pattern = within
    tools = [index for index, ancestor in enumerate(ancestors) if is_tool(ancestor)]
    if not tools:
        return _style_of_answer(within)
    if tools[-1] < len(ancestors) - 1:
        return _part_of_signature(ancestors[tools[-1] + 1 :])
    if is_chain(pattern):
        return _CHAIN
    if not pattern.elements and signature_of(ancestors[-1].elements) is pattern:
        return _INSIDE
    return _SHAPE


def _style_of_answer(within: tuple[Pattern, ...]) -> Spelling:
    """An agent's answer is written as the types beside a signature are."""
    for agent, element in pairwise(within):
        if is_agent(agent) and is_answer(element):
            return _SHAPE if element is within[-1] else _BRACKET
    return _PLAIN


def _part_of_signature(ancestors: list[Pattern]) -> Spelling:
    """Deeper inside a tool: the hops of a path, or the members of a shape."""
    return _CHAIN if is_chain(ancestors[0]) else _BRACKET


def dumps(pattern: Pattern | Iterable[Pattern]) -> str:
    """The canonical text of a program, its signatures in their own style.

    >>> dumps(gram.loads_one('[t:Tool | (a:Text)-->(:String)]'))
    '[t:Tool | (a::Text)==>(::String)]'
    """
    return gram.dumps(pattern, style=agent_style)


def parse(text: str, filename: str | None = None) -> Document:
    """The document of a program: what is written into it is written in the program's style.

    Raises:
        GramDecodeError: the text is not gram.
    """
    return gram.parse(text, filename, style=agent_style)
