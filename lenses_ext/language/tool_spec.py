"""The lenses onto a tool specification: its name, what it is for, its type signature and schema.

`tool_spec_type_signature` takes a signature in any form that is read, and shows it in one: the text
of the tool's elements. So put-get holds of the texts that it shows, but for records written with
``fields``, which are put as shapes. A signature that is not valid is neither shown nor replaced. A
type that the signature does not define may be defined elsewhere: it is a name. A schema needs the
definition, so `tool_spec_schema` refuses such a signature.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import attrs

from gram import GramDecodeError, Pattern, Symbol, is_edge, write_value
from gram.errors import expect
from gram.trees import WALK

from .. import optics, signatures
from ..errors import MissingPartError, PartError, type_in_words
from ..labels import TOOL, TOOLS, is_tool
from ..optics import view
from ..signatures import names_of, signature_of
from ..weak_cache import memo


def _get_nodes(tool: Pattern) -> tuple[Pattern, ...]:
    nodes = tuple(hop.elements[0] for hop in _hops(signature_of(tool.elements)))
    return () if nodes == (Pattern(),) else nodes  # the empty node of ()==>(::String)


tool_parameters: optics.Getter[Pattern, tuple[Pattern, ...]] = optics.computed(
    "tool_parameters", _get_nodes
)
"""The nodes of a tool's signature that are its parameters, in order."""


def parameter_names(tool: Pattern) -> tuple[str, ...]:
    """The names of a tool's parameters that are nodes of its signature, in order."""
    return tuple(dict.fromkeys(name for name in names_of(_get_nodes(tool)) if name))


def parameter(name: str) -> optics.Lens[Pattern, Pattern]:
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

    return optics.lens_of(f"parameter({name!r})", get, set_, "elements")


def rename_parameter(tool: Pattern, name: str, new: str) -> Pattern:
    """A tool with another name for one of its parameters.

    Raises:
        PartError: it has no such parameter, or one of the new name.
    """
    index = _index_in(tool, name)
    if new in parameter_names(tool):
        raise PartError(f'there is a parameter "{new}" already')
    node = _get_nodes(tool)[index]
    is_said = "paramName" in node.value.properties
    lens: Any = optics.any_property("paramName") if is_said else optics.identity("rename_parameter")
    return _with_parameter(tool, index, optics.put(lens, new, node))


def _index_in(tool: Pattern, name: str) -> int:
    names = names_of(_get_nodes(tool))
    if name in names:
        return names.index(name)
    known = ", ".join(parameter_names(tool)) or "none"
    raise MissingPartError(f'no parameter "{name}" (there are: {known})')


def _with_parameter(tool: Pattern, index: int, new: Pattern) -> Pattern:
    """A tool with another node where an edge begins, which is where the one before ends."""
    chain = signature_of(tool.elements)
    assert chain is not None, "the parameter is a node of it"
    hops = list(_hops(chain))
    hops[index] = attrs.evolve(hops[index], elements=(new, hops[index].elements[1]))
    if index:
        before = hops[index - 1]
        hops[index - 1] = attrs.evolve(before, elements=(before.elements[0], new))
    changed = attrs.evolve(chain, elements=hops) if WALK in chain.value.labels else hops[0]
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


def _get_signature(tool: Pattern) -> str:
    optics.expect_definition(tool)
    if not is_tool(tool):
        raise PartError(f"expected the label {' or '.join(sorted(TOOLS))}")
    _read(tool)  # what is not a signature cannot be set, so it is not shown
    return signatures.signature_text(tool)


def _set_signature(tool: Pattern, signature: str) -> Pattern:
    if optics.text(signature) == signatures.signature_text(tool):
        return tool  # in the very form it has, which `signature_elements` might make plainer
    new = signatures.signature_elements(signature, open=True)
    return attrs.evolve(tool, elements=with_signature(tool.elements, new))


_read: Callable[[Pattern], signatures.TypeSignature] = memo(
    lambda tool: signatures.parse_type_signature(tool, open=True)
)


def _get_schema(tool: Pattern) -> dict[str, Any]:
    optics.expect_definition(tool)
    return signatures.type_signature_to_json_schema(tool)


def _one_of(*allowed: str | bool) -> optics.Codec[Any, Any]:
    """The codec of a property that has one of some values."""
    words = " or ".join(map(write_value, allowed))

    def checked(value: Any) -> Any:
        if isinstance(value, str | bool) and value in allowed:
            return value
        hint = "write it in quotes" if isinstance(value, Symbol) else None
        raise PartError(f"expected {words}, found {type_in_words(value)}", hint)

    return optics.Codec(checked, checked)


_YES_OR_NO = _one_of(True, False)
TOOL_SPECS = optics.Vocabulary("tool_spec", TOOLS)

tool_spec_name = TOOL_SPECS.word(
    "name", optics.identity("tool_spec_name", "A tool's name, its identity.")
)
tool_spec_description = TOOL_SPECS.required(
    "description", optics.TEXT, "What a tool does, for the model"
)
_ONCE = "Whether a call of a tool that has begun is never repeated by itself"
tool_spec_once = TOOL_SPECS.optional("once", _YES_OR_NO, _ONCE)
_READS = "Whether a tool reads private data"
tool_spec_reads = TOOL_SPECS.optional("reads", _one_of("private", "public"), _READS)
_RETURNS = "Whether strangers may have written what a tool returns"
tool_spec_returns = TOOL_SPECS.optional("returns", _one_of("untrusted", "trusted"), _RETURNS)
tool_spec_sends = TOOL_SPECS.optional("sends", _YES_OR_NO, "Whether it can send something outward")
_SIGNATURE = 'The signature of a tool as text, such as "(city::Text)==>(::String)".'
_SCHEMA = "The JSON Schema of a tool's parameters, computed of its signature."
tool_spec_type_signature = optics.lens_of(
    "tool_spec_type_signature", _get_signature, _set_signature, "elements", _SIGNATURE
)
tool_spec_schema = optics.computed("tool_spec_schema", _get_schema, "elements", _SCHEMA)
TOOL_SPECS.word("signature", tool_spec_type_signature)
TOOL_SPECS.word("schema", tool_spec_schema)
as_tool = TOOL_SPECS.prism("as_tool")


def create_tool_specification(
    name: str, description: str, type_signature: str, *, once: bool = False
) -> Pattern:
    """Make the pattern of a tool specification.

    Args:
        name: its identity.
        description: what it does, for the model.
        type_signature: its signature, in any of the forms that are read.
        once: whether a call of it that has begun is never repeated by itself.

    Raises:
        FocusError: the name or the description is empty, or has no notation.
        SignatureError: the signature is not one; all its faults are listed.

    >>> from lenses_ext import write_program
    >>> print(write_program(create_tool_specification("f", "Does it.", "(name: Text) --> IO Text")))
    [f:ToolSpecification {description: "Does it."} | (name::Text)==>(::Text)]
    """
    by = "create_tool_specification"
    expect(description, str, "description", by=by)
    expect(type_signature, str, "type_signature", by=by)
    expect(once, bool, "once", by=by)
    properties = {"description": description, "once": once or None}
    tool = TOOL_SPECS.make(by, name, TOOL, properties)
    return attrs.evolve(tool, elements=signatures.signature_elements(type_signature))


# --- as JSON, for programs that are not gram: what counts there is the signature

_KEYS = ("name", "description", "typeSignature")
_MARKS = {key: lens for key, lens in TOOL_SPECS.properties.items() if key not in TOOL_SPECS.needed}


def tool_spec_to_json(tool: Pattern) -> dict[str, Any]:
    """The JSON of a tool specification: ``name, description, typeSignature, schema``.

    What it says of ``once``, ``reads``, ``returns`` and ``sends`` is beside them.

    Raises:
        FocusError: a part is missing or ill-typed.
    """
    marks = {key: view(lens, tool) for key, lens in _MARKS.items()}
    return {
        "name": view(tool_spec_name, tool),
        "description": view(tool_spec_description, tool),
        "typeSignature": view(tool_spec_type_signature, tool),
        "schema": view(tool_spec_schema, tool),
        **{key: value for key, value in marks.items() if value is not None},
    }


def tool_spec_from_json(data: object) -> Pattern:
    """The tool specification of its JSON; a ``schema`` beside the signature is not needed.

    Raises:
        GramDecodeError: it is not this form.
        FocusError: a part cannot be written.
        SignatureError: the signature is not one.

    >>> tool = tool_spec_from_json(
    ...     {"name": "f", "description": "Does it.", "typeSignature": "(x::Text)==>(::Text)"}
    ... )
    >>> tool_spec_to_json(tool)["schema"]["required"]
    ['x']
    """
    if not isinstance(data, Mapping):
        raise GramDecodeError(f"a tool is an object, found {type(data).__name__}")
    for key in _KEYS:
        if not isinstance(data.get(key), str):
            raise GramDecodeError(f"$.{key}: expected a string, found {data.get(key)!r}")
    tool = create_tool_specification(*(str(data[key]) for key in _KEYS))
    for key in _MARKS.keys() & data.keys():
        tool = optics.put(_MARKS[key], data[key], tool)
    return tool


# --- as it is sent

_NOT_SENT = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64
"""OpenAI takes names of functions that match ``^[a-zA-Z0-9_-]{1,64}$``; others take the same."""


def wire_name(name: str) -> str:
    """The name under which a tool is sent to model APIs, which do not take every name.

    >>> wire_name("math.add")
    'math_add'
    """
    if name.isascii() and name.isidentifier():  # as most names are
        return name[:_LONGEST]
    return _NOT_SENT.sub("_", name)[:_LONGEST]
