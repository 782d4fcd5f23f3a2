"""The values of a type signature: parameters, types and shapes, as they were written.

A signature says what JSON Schema says, in other words: a `Type` keeps its labels (``Text`` stays
``Text``) and hands the JSON Schema keywords it was given through unread.
"""

from __future__ import annotations

from typing import Any

from attrs import field, frozen

from gram import GramError

from ..schemas import Keywords, thaw_json
from .vocabulary import ANY, PARAMETERS

NO_KEYWORDS = Keywords()


@frozen
class Type:
    """What a value may be.

    Attributes:
        labels: basic types (several form a union), one of ``Any``, ``AnyOf``, ``OneOf`` and
            ``AllOf``, or the name of a shape.
        element_type: the type of an array's items, when a name says it.
        of: the alternatives of ``AnyOf``, ``OneOf`` and ``AllOf``, when names say them.
        members: an object's fields (named) or, without names, an array's items or the
            alternatives.
        keywords: JSON Schema keywords, laid over what the labels say.
        foreign: JSON merged last and not checked, under keys that mean something else here.
        constant: the whole schema when it is ``true`` or ``false``, else None.
    """

    labels: frozenset[str]
    element_type: str | None = None
    of: tuple[str, ...] = ()
    members: tuple[Parameter, ...] = ()
    keywords: Keywords = NO_KEYWORDS
    foreign: Keywords = NO_KEYWORDS
    constant: bool | None = None

    def overlay(self) -> dict[str, Any]:
        """What is laid over the schema of its labels and members, a fresh copy."""
        return {**self.keywords.to_json(), **self.foreign.to_json()}


@frozen
class Parameter:
    """A place for a value: a parameter, a field, an item, an alternative, the result.

    Attributes:
        name: its name, or None where it has none.
        type: what the value may be.
        optional: whether it may be left out; None leaves that to its default.
    """

    name: str | None
    type: Type
    optional: bool | None = None

    @property
    def has_default(self) -> bool:
        """Whether a default is written on it."""
        return "default" in self.type.keywords or "default" in self.type.foreign

    @property
    def default(self) -> Any:
        """The value used when it is left out; None when there is no default."""
        return thaw_json(self.type.foreign.get("default", self.type.keywords.get("default")))

    @property
    def description(self) -> str | None:
        """The description written on it, or None."""
        text = self.type.keywords.get("description")
        return text if isinstance(text, str) else None


@frozen
class Shape:
    """A type with a name.

    Attributes:
        name: under which labels refer to it.
        type: what it is.
        named: whether it stays a type of its own (``$defs``) or is expanded where it is used.
    """

    name: str
    type: Type
    named: bool = False


@frozen
class TypeSignature:
    """What a tool takes and gives.

    Attributes:
        parameters: in order.
        returns: the result.
        shapes: the types it refers to.
        root: holds the keywords of the whole parameter object.
    """

    parameters: tuple[Parameter, ...]
    returns: Parameter
    shapes: tuple[Shape, ...] = ()
    root: Type = field(default=Type(frozenset({PARAMETERS})))

    def __repr__(self) -> str:
        from .. import write_type_signature  # through the front: what writes needs the values

        try:
            return f"<TypeSignature {write_type_signature(self)}>"
        except GramError:
            return "<TypeSignature that cannot be written>"


UNCONSTRAINED = Parameter(None, Type(frozenset({ANY})))
"""A result of any type."""
