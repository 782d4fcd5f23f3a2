"""How agents are written: in signatures ``==>``, ``::`` and shapes in ``[…]``, else plain gram.

The arrows of agents and workflows are plain, ``(a)-->(b)``; another use of a node is
``(again::a)``.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import gram
from gram import Document, Pattern, Spelling

from ..labels import is_agent, is_answer, is_runnable, is_tool
from .parts import is_chain, is_path, is_typed_path, signature_of

_PLAIN = Spelling()
_NODE = Spelling("::")
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
        return _style_outside_tools(within)
    if tools[-1] < len(ancestors) - 1:
        return _part_of_signature(ancestors[tools[-1] + 1 :])
    if is_chain(pattern):
        return _CHAIN
    if not pattern.elements and signature_of(ancestors[-1].elements) is pattern:
        return _INSIDE
    return _SHAPE


def _style_outside_tools(within: tuple[Pattern, ...]) -> Spelling:
    """An agent's answer is written as the types beside a signature are, its signature as a tool's.

    Of the arrows only the nodes are written otherwise than in plain gram.
    """
    for around, element in pairwise(within):
        if not is_runnable(around):
            continue
        if is_agent(around) and is_answer(element):
            return _SHAPE if element is within[-1] else _BRACKET
        if is_typed_path(element):
            return _CHAIN
        if is_path(element) and not within[-1].elements:
            return _NODE
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
