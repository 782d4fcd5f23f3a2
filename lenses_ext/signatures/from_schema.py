"""Signatures from JSON Schema, without loss: other keywords are kept as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from gram import Diagnostic
from gram.errors import expect
from gram.words import dotted

from .. import schemas
from ..schemas import Keywords, NotJson, Schema, SchemaPath, dump_json, subschemas
from . import values
from .faults import SignatureError
from .parsing import SignatureLike, parse_type_signature, remote_reference
from .values import COMBINATORS, JSON_TYPES, Parameter, Shape, Type, TypeSignature, basic
from .writer import reference_to, write_type_signature

_MAX_LEVELS = 40
"""How deep members nest in each other; deeper schemas pass through whole."""

_JUST_ANY = frozenset({values.ANY})
_REFERENCES = {"$ref", "$dynamicRef", "$recursiveRef"}


def json_schema_to_type_signature(
    schema: Mapping[str, Any],
    *,
    return_schema: Mapping[str, Any] | bool | None = None,
    like: SignatureLike | None = None,
) -> str:
    """The text of the signature that a JSON Schema says, without loss.

    ``type_signature_to_json_schema`` gives the schema back: equal but for the order of keys and
    of ``required``, and an empty ``required``.

    Args:
        schema: the schema of an object, one property a parameter; it is not changed.
        return_schema: the schema of the result, or None when anything may come.
        like: the signature before it: where that writes ``Text`` for ``String``, so does this.

    Raises:
        SignatureError: it is not the schema of an object, or refers to something outside itself.

    >>> json_schema_to_type_signature({"type": "object", "properties": {"n": {"type": "integer"}}})
    '(n::Integer {optional: true})==>(::Any)'
    """
    kinds = (Mapping, bool, type(None))
    expect(return_schema, kinds, "return_schema", by="json_schema_to_type_signature")
    faults = _not_an_object(schema) or _errors(schema)
    if return_schema is not None:
        faults += _errors(return_schema)
    if faults:
        raise SignatureError(faults)
    signature = _SchemaReader(dict(schema)).signature()
    if return_schema is not None:
        root = return_schema if isinstance(return_schema, bool) else dict(return_schema)
        returned = _SchemaReader(root, is_result=True).type(root)
        signature = evolve(signature, returns=Parameter(None, returned))
    if like is not None:
        signature = _spelled_as(parse_type_signature(like), signature)
    return write_type_signature(signature)


def _spelled_as(old: TypeSignature, new: TypeSignature) -> TypeSignature:
    """A signature with the aliases of basic types that another has in the same places."""
    local = {shape.name: shape.type for shape in old.shapes}

    def member(olds: tuple[Parameter, ...], at: int, new: Parameter) -> Parameter:
        named = [each for each in olds if each.name == new.name is not None]
        found = named or ([] if new.name is not None else olds[at : at + 1])
        return evolve(new, type=type_(found[0].type, new.type)) if found else new

    def type_(old: Type, new: Type) -> Type:
        for label in old.labels & local.keys() - new.labels:
            old = local[label]
        written = (*old.labels, *old.of, *filter(None, [old.element_type]))
        alias = {basic(label): label for label in written if label in values.ALIASES}
        return evolve(
            new,
            labels=frozenset(alias.get(each, each) for each in new.labels),
            of=tuple(alias.get(each, each) for each in new.of),
            element_type=alias.get(new.element_type, new.element_type),
            members=members(old.members, new.members),
        )

    def members(olds: tuple[Parameter, ...], news: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
        return tuple(member(olds, at, each) for at, each in enumerate(news))

    shapes = [
        evolve(each, type=type_(local.get(each.name, each.type), each.type)) for each in new.shapes
    ]
    return evolve(
        new,
        parameters=members(old.parameters, new.parameters),
        returns=member((old.returns,), 0, new.returns),
        shapes=tuple(shapes),
    )


def _not_an_object(schema: object) -> list[Diagnostic]:
    if not isinstance(schema, Mapping):
        message = f"the parameters of a tool are an object schema, got {_shown(schema)}"
        return [Diagnostic("not-an-object", "error", message)]
    types = schema.get("type", "object")
    if types != "object" and not (isinstance(types, list) and "object" in types):
        message = f"the parameters of a tool are an object, but the schema has type {_shown(types)}"
        return [Diagnostic("not-an-object", "error", message)]
    return []


def _errors(schema: object) -> list[Diagnostic]:
    """Why a schema cannot be part of a signature."""
    try:
        schemas.check_json(schema)
        dump_json(schema)
    except NotJson as error:
        return [Diagnostic("not-json", "error", f"the schema is not JSON: {error}")]
    found = []
    for breach in schemas.breaches([schema]):
        path, names, above = breach.path, _names_in(breach.path), _names_in(breach.path[:-1])
        owner = f'"{path[names[-1]]}"' if names else "the parameters"
        keyword = dotted(path[above[-1] + 1 :] if above else path)
        message = f'"{keyword}" of {owner} {breach.reason}'
        found.append(Diagnostic("not-a-schema", "error", message, path))
    for path, reference in schemas.remote_references(schema):
        message = remote_reference(str(path[-1]), reference)
        found.append(Diagnostic("remote-reference", "error", message, path))
    return found


def _names_in(path: SchemaPath) -> list[int]:
    """The steps of a path that are names of properties and types."""
    return [at for at in range(1, len(path)) if path[at - 1] in ("properties", "$defs")]


def _shown(value: object) -> str:
    try:
        return dump_json(value, compact=True)
    except (NotJson, TypeError):
        return repr(value)


class _SchemaReader:
    """Reads the schemas of one root.

    Beside parameters, what a result refers to would be something else. So its definitions pass
    through with it, and its defaults are judged without them, those with references not at all.

    Attributes:
        misfits: the identities of the schemas whose default does not fit them.
    """

    def __init__(self, root: Schema, *, is_result: bool = False) -> None:
        self.root: dict[str, Any] = root if isinstance(root, dict) else {}
        outer = {} if is_result else self.root
        named = ((k, v) for k, v in outer.get("$defs", {}).items() if k and "\0" not in k)
        self.definitions = {name: schema for name, schema in named if name not in values.RESERVED}
        self.name_of = {reference_to(name): name for name in self.definitions}
        having = [each for _, each in subschemas(self.root) if "default" in each]
        reasons = schemas.default_misfits(lambda: outer, having)
        self.misfits = {id(it) for it, reason in zip(having, reasons, strict=True) if reason}
        for each in having if is_result else ():  # they refer to definitions of their own
            if any(it.keys() & _REFERENCES for _, it in subschemas(each)):
                self.misfits.add(id(each))

    def signature(self) -> TypeSignature:
        """The root as a signature."""
        rest = dict(self.root)
        if rest.get("type") == "object":
            del rest["type"]
        else:
            rest.setdefault("type", None)  # which leaves it out
        properties = rest.pop("properties", None)
        parameters = self.fields(properties or {}, rest, 0)
        if properties is None:
            rest["properties"] = None
        if self.definitions:
            unnamed = {k: v for k, v in rest.pop("$defs").items() if k not in self.definitions}
            if unnamed:
                rest["$defs"] = unnamed
        named = self.definitions.items()
        shapes = [Shape(name, self.type(schema, 1), named=True) for name, schema in named]
        root = self.with_keywords(Type(frozenset({values.PARAMETERS})), rest, self.root)
        return TypeSignature(parameters, values.UNCONSTRAINED, tuple(shapes), root)

    def type(self, schema: Schema, level: int = 0, *, optional: bool = False) -> Type:
        """A schema as a type; what its labels and members do not say is left in its keywords."""
        if isinstance(schema, bool):
            return Type(_JUST_ANY, constant=schema)
        rest = dict(schema)
        labels = self._labels(rest)
        if level < _MAX_LEVELS:
            type = Type(labels, *self._inside(labels, rest, level + 1))
        else:
            type = Type(_JUST_ANY if labels <= COMBINATORS.keys() else labels)
        return self.with_keywords(type, rest, schema, optional=optional)

    def _labels(self, rest: dict[str, Any]) -> frozenset[str]:
        """The labels of a schema; the keyword that they replace is taken out of ``rest``."""
        types = rest.get("type")
        if isinstance(types, str):
            del rest["type"]
            return frozenset({values.LABELS[types]})
        if isinstance(types, list):
            if len(types) > 1 and types == [json for json in JSON_TYPES.values() if json in types]:
                del rest["type"]
                return frozenset(values.LABELS[json] for json in types)
            return _JUST_ANY
        combinators = [label for label, keyword in COMBINATORS.items() if keyword in rest]
        if len(combinators) == 1:
            return frozenset(combinators)
        if (name := self.name_of.get(rest.get("$ref", ""))) is not None:
            del rest["$ref"]
            return frozenset({name})
        return _JUST_ANY

    def _inside(
        self, labels: frozenset[str], rest: dict[str, Any], level: int
    ) -> tuple[str | None, tuple[str, ...], tuple[Parameter, ...]]:
        """The name of the items, the names of alternatives, and the members; out of ``rest``."""
        if combinators := labels & COMBINATORS.keys():
            alternatives = rest.pop(COMBINATORS[min(combinators)])
            names = [self._name(each) for each in alternatives]
            if all(names):
                return None, tuple(name for name in names if name), ()
            return None, (), tuple(Parameter(None, self.type(each, level)) for each in alternatives)
        members: tuple[Parameter, ...] = ()
        name = None
        if "Array" in labels and isinstance(rest.get("items"), dict):
            name = self._name(items := rest.pop("items"))
            members = () if name else (Parameter(None, self.type(items, level)),)
        if "Object" in labels and rest.get("properties"):
            members += self.fields(rest.pop("properties"), rest, level)
        return name, (), members

    def fields(
        self, properties: dict[str, Schema], rest: dict[str, Any], level: int
    ) -> tuple[Parameter, ...]:
        """Properties as members; ``required`` stays in ``rest`` when it names others."""
        required = set(rest.get("required", ()))
        if (properties and required <= properties.keys()) or not required:
            rest.pop("required", None)
        items = properties.items()
        return tuple(self._field(name, each, name in required, level) for name, each in items)

    def _field(self, name: str, schema: Schema, required: bool, level: int) -> Parameter:
        has_default = isinstance(schema, dict) and "default" in schema
        optional = None if required != has_default else not required
        return Parameter(name, self.type(schema, level, optional=not required), optional)

    def _name(self, schema: Schema) -> str | None:
        """The type name that is equal to a schema, or None."""
        if schema == {} and isinstance(schema, dict):
            return values.ANY
        if not isinstance(schema, dict) or len(schema) != 1:
            return None
        rest = dict(schema)
        labels = self._labels(rest)
        return next(iter(labels)) if not rest and len(labels) == 1 else None

    def with_keywords(
        self, type: Type, rest: dict[str, Any], schema: dict[str, Any], *, optional: bool = False
    ) -> Type:
        """A type with keywords; those that a record would misread are kept apart."""
        apart = {key for key in rest if key in values.RESERVED_KEYS or not key or "\0" in key}
        if id(schema) in self.misfits and not (optional and rest["default"] is None):
            apart.add("default")
        keywords = Keywords.of(rest)
        return evolve(type, keywords=keywords.without(*apart), foreign=keywords.only(*apart))
