"""The lens onto one parameter of a tool: the node of its signature that names it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import attrs

from gram import Pattern, is_edge
from gram.trees import WALK

from ..errors import MissingPartError, PartError
from ..optics import Getter, Lens, computed, lens_of
from ..signatures import names_of, signature_of


def _get_nodes(tool: Pattern) -> tuple[Pattern, ...]:
    nodes = tuple(hop.elements[0] for hop in _hops(signature_of(tool.elements)))
    return () if nodes == (Pattern(),) else nodes  # the empty node of ()==>(::String)


tool_parameters: Getter[Pattern, tuple[Pattern, ...]] = computed("tool_parameters", _get_nodes)
"""The nodes of a tool's signature that are its parameters, in order."""


def parameter_names(tool: Pattern) -> tuple[str, ...]:
    """The names of a tool's parameters that are nodes of its signature, in order."""
    return tuple(dict.fromkeys(name for name in names_of(_get_nodes(tool)) if name))


def parameter(name: str) -> Lens[Pattern, Pattern]:
    """The lens from a tool onto the node of one of its parameters, the first of the name.

    A node between two arrows is in the tree twice, at the end of one edge and the beginning of the
    next: both are set.
    """

    def get(tool: Pattern) -> Pattern:
        return _get_nodes(tool)[_index_in(tool, name)]

    def set_(tool: Pattern, new: Pattern) -> Pattern:
        index = _index_in(tool, name)
        if not isinstance(new, Pattern) or new.elements:
            raise PartError("a parameter is an atom")
        nodes = _get_nodes(tool)
        found = names_of((*nodes[:index], new, *nodes[index + 1 :]))[index]
        if found != name:
            raise PartError(f'expected a node named "{name}", found "{found}"')
        return _with_parameter(tool, index, new)

    return lens_of(f"parameter({name!r})", get, set_, "elements")


def rename_parameter(tool: Pattern, name: str, new: str) -> Pattern:
    """A tool with another name for one of its parameters.

    Raises:
        PartError: it has no such parameter, or one of the new name.
    """
    index = _index_in(tool, name)
    if new in parameter_names(tool):
        raise PartError(f'there is a parameter "{new}" already')
    node = _get_nodes(tool)[index]
    subject = attrs.evolve(node.value, identity=new)
    if "paramName" in node.value.properties:
        said = node.value.properties.set("paramName", new)
        subject = attrs.evolve(node.value, properties=said)
    return _with_parameter(tool, index, attrs.evolve(node, value=subject))


def _index_in(tool: Pattern, name: str) -> int:
    names = names_of(_get_nodes(tool))
    if name in names:
        return names.index(name)
    known = ", ".join(parameter_names(tool)) or "none"
    raise MissingPartError(f'no parameter "{name}" (there are: {known})')


def _with_parameter(tool: Pattern, index: int, new: Pattern) -> Pattern:
    chain = signature_of(tool.elements)
    assert chain is not None, "the parameter is a node of it"
    changed = _with_node(chain, index, new)
    elements = (changed if each is chain else each for each in tool.elements)
    return attrs.evolve(tool, elements=tuple(elements))


def with_signature(old: Sequence[Pattern], new: Sequence[Pattern]) -> tuple[Pattern, ...]:
    """New elements with a signature, which comes from where the old one came from."""
    before, after = signature_of(old), signature_of(new)
    if before is None or after is None:
        return tuple(new)
    changed = attrs.evolve(after, came_from=before.came_from)
    return tuple(changed if each is after else each for each in new)


def _hops(chain: Pattern | None) -> tuple[Pattern, ...]:
    """The edges of a signature's path; ``()`` where it has none that links up.

    Each edge begins with the node the one before ends with, so the first nodes are all the nodes
    but the last, which is the return type.
    """
    if chain is None:
        return ()
    hops = chain.elements if WALK in chain.value.labels else (chain,)
    if not all(map(is_edge, hops)):
        return ()
    linked = all(a.elements[1] == b.elements[0] for a, b in pairwise(hops))
    return hops if linked else ()


def _with_node(chain: Pattern, index: int, new: Pattern) -> Pattern:
    """A path with another node where one of its edges begins, which is where the last one ends."""
    hops = list(_hops(chain))
    hops[index] = attrs.evolve(hops[index], elements=(new, hops[index].elements[1]))
    if index:
        before = hops[index - 1]
        hops[index - 1] = attrs.evolve(before, elements=(before.elements[0], new))
    return attrs.evolve(chain, elements=hops) if WALK in chain.value.labels else hops[0]
