"""Whether what one JSON Schema accepts, another accepts too, and every place where it does not.

A tool implements its specification when it takes every call that the specification promises, and
returns nothing that the specification does not declare. What cannot be shown counts as a
difference, so a tool that passes is safe to bind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import combinations
from typing import Any

from attrs import frozen

from gram.trees import exact
from gram.words import dotted

from . import schema_parts
from .canonical_form import Match, canonical
from .checks import value_judge
from .json_values import dump_json
from .schema_parts import SchemaPath, are_disjoint, bare, both, is_covered, kinds_of, may_be

_MOST_PAIRS = 20_000
"""How many pairs of schemas are compared at most: alternatives in alternatives multiply them."""

_NONE = object()
"""A keyword that is not there."""

_Schema = Any  # a canonical schema: a dict or a bool
_Assumed = frozenset[tuple[str, str]]


@frozen
class Difference:
    """A place where an implementation is not what its specification says.

    Attributes:
        path: the path in the schemas, such as ``("properties", "limit", "default")``.
        spec: what the specification has there, as text.
        implementation: what the implementation has there.
        hint: what would mend it, or None.
    """

    path: SchemaPath
    spec: str
    implementation: str
    hint: str | None = None

    def __str__(self) -> str:
        place = dotted(("$", *self.path))
        return f"{place}: spec {self.spec}, implementation {self.implementation}"


def differences(
    spec: Mapping[str, Any] | bool | None,
    implementation: Mapping[str, Any] | bool | None,
    *,
    match: Match = "full",
    result: bool = False,
) -> tuple[Difference, ...]:
    """Every place where an implementation does not keep what its specification promises.

    Parameters: the implementation has to accept every call that is valid for the specification,
    and may accept more. It may have further optional parameters. A default and, under ``full``,
    the texts for readers have to be those of the specification where both state one; a text that
    only the implementation states is a difference. Arguments that the specification does not
    declare are not promised, even if its schema is an open object.

    Results: the implementation has to return only what is valid for the specification, where both
    declare a type. None, ``{}`` and a bare object or array declare nothing about the inside.

    ``unevaluatedProperties`` and ``unevaluatedItems`` depend on what other keywords have looked at.
    They are not followed: schemas with them agree only where they are equal.

    Args:
        spec: the JSON Schema of the specification's parameters, or of its result.
        implementation: the same of the implementation.
        match: how much has to agree; under ``name`` there are no differences.
        result: whether the schemas are those of results.

    Raises:
        NotJson: a schema is not JSON.

    >>> limit = {"type": "integer", "default": 10}
    >>> for each in differences(
    ...     {"properties": {"limit": limit}}, {"properties": {"limit": {**limit, "default": 20}}}
    ... ):
    ...     print(each)
    $.properties.limit.default: spec 10, implementation 20
    """
    if match == "name":
        return ()
    if result and (spec in (None, True, {}) or implementation in (None, True, {})):
        return ()
    given = ({} if each is None else each for each in (spec, implementation))
    plain = (each if isinstance(each, bool) else dict(each) for each in given)
    one, other = (canonical(each, match=match) for each in plain)
    if not result and any("properties" in each for each in (one, other) if each is not False):
        pair = (one, other)
        one, other = ({"type": "object", **it} if isinstance(it, dict) else it for it in pair)
    return _Comparison(one, other, match, result).differences()


class _TooManyError(Exception):
    """Comparing all alternatives with all others would take too long."""


class _Comparison:
    """Compares two canonical schemas: whether each value of ``sub`` is one of ``sup``.

    For parameters, ``sub`` is the specification; for results, it is the implementation.
    """

    def __init__(self, spec: _Schema, implementation: _Schema, match: Match, result: bool) -> None:
        self._sub, self._sup = (implementation, spec) if result else (spec, implementation)
        self._match = match
        self._result = result
        self._pairs = 0
        self._same_names = exact(_definitions(spec)) == exact(_definitions(implementation))

    def differences(self) -> tuple[Difference, ...]:
        try:
            found = tuple(self._compare(self._sub, self._sup, (), frozenset()))
        except (_TooManyError, RecursionError):
            hint = "use fewer types with alternatives inside types with alternatives"
            return (self._difference((), self._sub, self._sup, hint),)
        return tuple(dict.fromkeys(found))

    # --- one pair of schemas

    def _compare(
        self, sub: _Schema, sup: _Schema, path: SchemaPath, assumed: _Assumed
    ) -> Iterator[Difference]:
        self._pairs += 1
        if self._pairs > _MOST_PAIRS:
            raise _TooManyError
        if self._are_equal(sub, sup):
            return
        if isinstance(sub, dict) and isinstance(sup, dict) and not self._result:
            yield from self._annotations(sub, sup, path)
        yield from self._values(bare(sub), bare(sup), path, assumed)

    def _are_equal(self, sub: _Schema, sup: _Schema) -> bool:
        return (self._same_names or not schema_parts.refers(sub)) and exact(sub) == exact(sup)

    def _annotations(
        self, spec: dict[str, Any], implementation: dict[str, Any], path: SchemaPath
    ) -> Iterator[Difference]:
        """Texts for readers, defaults and other keywords that refuse no value."""
        for key in sorted(spec.keys() | implementation.keys()):
            if not schema_parts.is_annotation(key) or key not in implementation:
                continue
            if key not in spec and key not in schema_parts.TEXTS:
                continue
            if key != "default" and self._match == "types":
                continue
            if key not in spec or exact(spec[key]) != exact(implementation[key]):
                hint = f"state the same {key} in both, or leave it out of the implementation"
                yield self._of_key(key, spec, implementation, path, hint)

    def _values(
        self, sub: _Schema, sup: _Schema, path: SchemaPath, assumed: _Assumed
    ) -> Iterator[Difference]:
        """Where a value of ``sub`` may not be one of ``sup``; neither has annotations."""
        if sub is False or sup == {} or (self._result and _says_no_more(sub, sup)):
            return
        if sup is False:
            yield self._difference(path, sub, sup, "let the implementation take it")
            return
        references = sub.get("$ref"), sup.get("$ref")
        if None not in references and len(sub) == len(sup) == 1:
            pair = (str(references[0]), str(references[1]))
            if pair in assumed:
                return
            assumed |= {pair}
        if references != (None, None):
            one, other = self._resolved(sub, self._sub), self._resolved(sup, self._sup)
            if one is None or other is None:
                yield self._difference(path, sub, sup)
            else:
                yield from self._compare(one, other, path, assumed)
            return
        values = _valid_values(sub)
        if values is not None and (accepts := value_judge(sup)) and all(map(accepts, values)):
            return
        for key in ("allOf", *schema_parts.UNIONS):
            if key in sub:
                rest = {name: value for name, value in sub.items() if name != key}
                parts = sub[key]
                together = key == "allOf"
                ones = [reduce(both, parts, rest)] if together else [both(rest, p) for p in parts]
                for one in ones:
                    if one == {} and self._result and not together:  # others may refuse something
                        yield self._of_key(key, sub, sup, path, "declare what it returns")
                    else:
                        yield from self._compare(one, sup, path, assumed)
                return
        if values is not None and ("enum" in sub or "const" in sub):
            if "enum" in sup or "const" in sup:
                hint = "let the implementation take all of these values"
                yield self._of_key("enum" if "enum" in sub else "const", sub, sup, path, hint)
                return
            kinds = {"type": sorted({schema_parts.kind_of(value) for value in values})}
            sub = {key: value for key, value in sub.items() if key not in ("enum", "const")} | kinds
        yield from self._alternatives(sub, sup, path, assumed)
        yield from self._constraints(sub, sup, path, assumed)

    def _resolved(self, schema: dict[str, Any], root: _Schema) -> _Schema | None:
        reference = schema.get("$ref")
        if reference is None:
            return schema
        found = root if reference == "#" else _definitions(root).get(reference)
        if found is None:
            found = schema_parts.resolve_ref(reference, root)
        return schema_parts.with_referred(schema, found) if isinstance(found, dict) else None

    def _alternatives(
        self, sub: dict[str, Any], sup: dict[str, Any], path: SchemaPath, assumed: _Assumed
    ) -> Iterator[Difference]:
        for part in sup.get("allOf", ()):
            yield from self._compare(sub, part, path, assumed)
        for key in schema_parts.UNIONS:
            branches = sup.get(key)
            if branches is None or self._are_equal(sub.get(key), branches):
                continue
            if key == "oneOf":
                branches = [each for each in branches if not are_disjoint(sub, each)]
            if key == "oneOf" and not all(are_disjoint(*two) for two in combinations(branches, 2)):
                yield self._of_key(key, sub, sup, path, "write the same alternatives in both")
                continue
            for kind in sorted(kinds_of(sub)):
                one = {**sub, "type": kind}
                if all(any(self._compare(one, each, path, assumed)) for each in branches):
                    hint = f"no alternative of the implementation takes it: {_shown(one)}"
                    yield self._difference((*path, key), sub, branches, hint)
                    break

    # --- the keywords of one schema

    def _constraints(
        self, sub: dict[str, Any], sup: dict[str, Any], path: SchemaPath, assumed: _Assumed
    ) -> Iterator[Difference]:
        kinds = kinds_of(sub)
        if "type" in sup and not is_covered(kinds, kinds_of(sup)):
            hint = "let the implementation take this type, or write the implementation's"
            if self._result:
                hint = "return this type, or declare what the implementation returns"
            yield self._of_key("type", sub, sup, path, hint)
            return
        if "enum" in sup or "const" in sup:
            key = "enum" if "enum" in sup else "const"
            yield self._of_key(key, sub, sup, path, "list the values in the specification too")
        for key in sorted(sup):
            kind = schema_parts.CONSTRAINS.get(key)
            if (kind == "any" or may_be(kinds, kind)) and not self._implies(sub, sup, key):
                hint = "state it in the specification too, or drop it from the implementation"
                yield self._of_key(key, sub, sup, path, hint)
        if "items" in sup and "array" in kinds and "prefixItems" not in sup:
            if "prefixItems" in sub:
                yield self._of_key("prefixItems", sub, sup, path)
            items = sub.get("items", {})
            yield from self._compare(items, sup["items"], (*path, "items"), assumed)
        if "object" in kinds:
            yield from self._object(sub, sup, path, assumed)

    def _implies(self, sub: dict[str, Any], sup: dict[str, Any], key: str) -> bool:
        """Whether ``sub`` constrains its values at least as ``sup`` does by one keyword."""
        wanted, own = sup[key], sub.get(key)
        if key in schema_parts.BOUNDS:
            return schema_parts.is_within(sub, key, wanted)
        if key == "multipleOf":
            whole = isinstance(own, int) and isinstance(wanted, int) and own % wanted == 0
            return whole or (wanted == 1 and kinds_of(sub) == {"integer"}) or own == wanted
        if key == "uniqueItems" and wanted is False:
            return True
        if key.startswith("unevaluated"):
            return False
        groups = (group for group in schema_parts.GROUPS if key in group)
        group: tuple[str, ...] = next(groups, (key,))
        if key == "prefixItems":
            group = ("prefixItems", "items")
        return key in sub and all(self._are_equal(sub.get(each), sup.get(each)) for each in group)

    def _object(
        self, sub: dict[str, Any], sup: dict[str, Any], path: SchemaPath, assumed: _Assumed
    ) -> Iterator[Difference]:
        promised, taken = sub.get("properties", {}), sup.get("properties", {})
        is_root = not path and not self._result
        for key in sorted(set(sup.get("required", ())) - set(sub.get("required", ()))):
            yield self._requirement(path, key, key in promised)
        others_taken = sup.get("additionalProperties", {})
        takes_any = not taken and others_taken == {}
        is_closed = is_root or (taken and not self._result)
        if "patternProperties" in sup or ("patternProperties" in sub and not takes_any):
            keys = ("properties", "patternProperties", "additionalProperties")
            if not all(self._are_equal(sub.get(key), sup.get(key)) for key in keys):
                yield self._of_key("patternProperties", sub, sup, path)
            return
        for key, schema in promised.items():
            below = (*path, "properties", key)
            if key in taken:
                yield from self._compare(schema, taken[key], below, assumed)
            elif others_taken is False or (others_taken == {} and is_closed):
                hint = f'add "{key}" to the implementation, or drop it from the specification'
                yield self._difference(below, schema, _NONE, hint)
            else:
                yield from self._compare(schema, others_taken, below, assumed)
        others = sub.get("additionalProperties")
        if others is None and not promised and not is_root:
            others = {}  # any object at all
        if others is None or others is False:
            return
        for key in sorted(taken.keys() - promised.keys()):
            yield from self._compare(others, taken[key], (*path, "properties", key), assumed)
        yield from self._compare(others, others_taken, (*path, "additionalProperties"), assumed)

    # --- differences

    def _requirement(self, path: SchemaPath, key: str, declared: bool) -> Difference:
        """What ``sup`` requires, and ``sub`` may leave out or does not know."""
        texts = ("optional" if declared else _shown(_NONE), "required")
        hint = f'give "{key}" a default in the implementation, or '
        hint += "make it required in the specification" if declared else "declare it"
        if self._result:
            texts, hint = texts[::-1], f'always return "{key}", or declare it optional'
        return Difference((*path, "properties", key), *texts, hint)

    def _of_key(
        self, key: str, sub: _Schema, sup: _Schema, path: SchemaPath, hint: str | None = None
    ) -> Difference:
        return self._difference((*path, key), sub.get(key, _NONE), sup.get(key, _NONE), hint)

    def _difference(
        self, path: SchemaPath, sub: object, sup: object, hint: str | None = None
    ) -> Difference:
        spec, implementation = (sup, sub) if self._result else (sub, sup)
        return Difference(path, _shown(spec), _shown(implementation), hint)


def _valid_values(schema: dict[str, Any]) -> list[Any] | None:
    """The values of a schema that lists them, without those that it refuses itself."""
    values = schema_parts.listed(schema)
    accepts = None if values is None else value_judge(schema)
    return values if values is None or accepts is None else list(filter(accepts, values))


def _definitions(schema: _Schema) -> dict[str, Any]:
    found = schema.get("$defs") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def _says_no_more(schema: _Schema, than: _Schema) -> bool:
    """Whether a schema accepts anything, or any object or array where the other wants one."""
    if schema == {}:
        return True
    kind = schema.get("type") if isinstance(schema, dict) and len(schema) == 1 else None
    return kind in ("object", "array") and kind in kinds_of(than)


def _shown(value: object) -> str:
    if value is _NONE:
        return "has none"
    text = dump_json(value, compact=True)
    return text if len(text) <= 80 else f"{text[:80]}…"
