"""Approval policies: rules, as data, that say which tools a run may call.

>>> policy = ApprovalPolicy([
...     ApprovalRule("allow", "read*"),
...     ApprovalRule("allow", "send", {"to": "*@example.com"}),
...     ApprovalRule("deny", "delete*"),
... ], otherwise="ask")
>>> policy.decide("send", {"to": "eve@elsewhere.com"})
'ask'

``100``, ``100.0`` and ``1e2`` are one number, objects have no order, ``é`` is one text in both of
its Unicode forms, and a text is what its schema reads it as: one that may be a number is a number,
and dates, moments, UUIDs and the like are what pydantic reads, as it does for functions of tools.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from functools import cache, partial
from ipaddress import IPv4Address, IPv6Address
from operator import itemgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args
from unicodedata import normalize
from uuid import UUID

from attrs import field, frozen
from pyrsistent import PMap, pmap

from gram import Pattern, Subject
from gram.errors import expect, expect_all
from lenses_ext.schemas import resolve_ref

from ..errors import ValidationError
from ..json_text import Json, json_or_text

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Decision: TypeAlias = Literal["allow", "ask", "deny"]

POLICY: Final = "ApprovalPolicy"
"""The label of a policy in gram; its rules have the labels below."""

_LABELS: Final[Mapping[str, Decision]] = {"Allow": "allow", "Ask": "ask", "Deny": "deny"}


def _known(_: object, attribute: Any, value: object) -> None:
    if value not in get_args(Decision):
        raise ValidationError(
            f'{attribute.name} of a policy is "allow", "ask" or "deny", found {value!r}'
        )


def _glob(_: object, attribute: Any, value: object) -> None:
    if not isinstance(value, str):
        raise ValidationError(f"{attribute.name} of a rule is a glob (a str), found {value!r}")


def _texts(given: Mapping[str, str]) -> PMap[str, str]:
    if not isinstance(given, Mapping):
        raise ValidationError(f"arguments of a rule are globs by name, found {given!r}")
    texts = pmap(given)
    for name, glob in texts.items():
        if not isinstance(name, str) or not isinstance(glob, str):
            raise ValidationError(f"a rule has a glob for each argument, found {name!r}: {glob!r}")
    return texts


@frozen
class ApprovalRule:
    """One rule of a policy.

    Attributes:
        decision: what happens to the calls it fits: ``allow``, ``ask`` or ``deny``.
        tool: a glob for the tool's name, ``*`` for any; ``agent/tool`` for the calls of one agent
            or workflow: names have no ``/``.
        arguments: globs for arguments by name, all of which have to fit. Values are compared, not
            how they are written: ``100`` fits 100.0 and 1e2. A glob sees a text as it is, a number
            without exponent, and what has parts as compact JSON. An argument that is not there
            fits no glob.

    Raises:
        ValidationError: a part is not what it should be.
    """

    decision: Decision = field(validator=_known)
    tool: str = field(default="*", validator=_glob)
    arguments: PMap[str, str] = field(factory=pmap, converter=_texts)

    def fits(self, tool: str, args: Mapping[str, Json], by: str = "", schema: Json = None) -> bool:
        """Whether the rule applies to a call, see `ApprovalPolicy.decide`."""
        agent, name = self.tool.split("/", 1) if "/" in self.tool else ("*", self.tool)
        if not fnmatchcase(tool, name) or not fnmatchcase(by, agent):
            return False
        types = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
        return all(
            name in args and fits_glob(glob, args[name], types.get(name), schema)
            for name, glob in self.arguments.items()
        )


def _rules(rules: Iterable[ApprovalRule]) -> tuple[ApprovalRule, ...]:
    return expect_all(rules, ApprovalRule, "rules", by="ApprovalPolicy")


@frozen
class ApprovalPolicy:
    """What to do with each tool call: the first rule that fits decides.

    Attributes:
        rules: in the order in which they are looked at.
        otherwise: what happens to calls that no rule fits.

    Raises:
        ArgumentError: the rules are not `ApprovalRule` objects.
        ValidationError: what happens otherwise is not a decision.
    """

    rules: tuple[ApprovalRule, ...] = field(default=(), converter=_rules)
    otherwise: Decision = field(default="allow", validator=_known)

    def decide(
        self, tool: str, args: Mapping[str, Json], by: str = "", schema: Json = None
    ) -> Decision:
        """What happens to a call.

        Args:
            tool: the name of the tool.
            args: its arguments.
            by: the name of the agent or workflow that calls it.
            schema: the JSON Schema of its parameters. Where it takes texts as numbers, moments
                or UUIDs, texts are compared as these.
        """
        for rule in self.rules:
            if rule.fits(tool, args, by, schema):
                return rule.decision
        return self.otherwise

    def to_pattern(self) -> Pattern:
        """The policy as gram writes it; see `from_pattern`."""
        rules = []
        for rule in self.rules:
            properties: dict[str, Any] = {"tool": rule.tool}
            if rule.arguments:
                properties["arguments"] = rule.arguments
            rules.append(Pattern(Subject("", {rule.decision.capitalize()}, properties)))
        return Pattern(Subject("", {POLICY}, {"otherwise": self.otherwise}), rules)

    @classmethod
    def from_pattern(cls, pattern: Pattern) -> ApprovalPolicy:
        """The policy that a pattern writes.

        Raises:
            ValidationError: the pattern is not a policy.

        >>> from gram import loads_one
        >>> text = '[:ApprovalPolicy {otherwise: "ask"} | (:Deny {arguments: {path: "/etc/*"}})]'
        >>> ApprovalPolicy.from_pattern(loads_one(text)).decide("read", {"path": "/etc/passwd"})
        'deny'
        """
        expect(pattern, Pattern, "pattern", by="ApprovalPolicy.from_pattern")
        if pattern.value.labels != {POLICY}:
            raise ValidationError(f"not an approval policy: its label is not {POLICY}")
        given = _properties(pattern, {"otherwise"})
        return cls([_rule(each) for each in pattern.elements], **given)


allow_all = ApprovalPolicy()
"""Every tool call may run."""
ask_all = ApprovalPolicy(otherwise="ask")
"""Every tool call is asked about."""
deny_all = ApprovalPolicy(otherwise="deny")
"""No tool call may run."""


def _rule(pattern: Pattern) -> ApprovalRule:
    labels = sorted(pattern.value.labels)
    if len(labels) != 1 or labels[0] not in _LABELS or pattern.elements:
        raise ValidationError(f"a rule of a policy is (:Allow), (:Ask) or (:Deny), found {labels}")
    given = _properties(pattern, {"tool", "arguments"})
    return ApprovalRule(_LABELS[labels[0]], **given)


def _properties(pattern: Pattern, known: set[str]) -> dict[str, Any]:
    given = dict(pattern.value.properties)
    if unknown := sorted(set(given) - known):
        found = f"unknown in an approval policy: {', '.join(unknown)}"
        raise ValidationError(f"{found}; known: {', '.join(sorted(known))}")
    return given


# --- how arguments are compared

_MOST_DIGITS: Final = 5000  # JSON has fewer; "1e999999999" as a whole would fill the memory


def fits_glob(glob: str, value: Json, schema: Json = None, root: Json = None) -> bool:
    """Whether an argument fits the glob of a rule, or is the value that the rule has as text.

    Args:
        glob: a glob for the argument's text, or its value.
        value: the argument.
        schema: the schema of the argument; without one, a text is nothing but a text.
        root: the schema in which references are resolved.

    >>> fits_glob("100", 1e2), fits_glob("1*", 100.0), fits_glob('{"a": 1}', {"a": 1.0})
    (True, True, True)
    >>> fits_glob("100", "100.0"), fits_glob("100", "100.0", {"type": ["string", "number"]})
    (False, True)
    """
    read = as_read(value, schema, root)
    texts = {_text(read, is_sorted=True), _text(read, is_sorted=False)}
    if isinstance(value, str):
        texts.add(_in_one_form(value))
    if any(fnmatchcase(each, _in_one_form(glob)) for each in texts):
        return True
    wanted = glob if isinstance(value, str) else json_or_text(glob)
    return _text(as_read(wanted, schema, root), is_sorted=True) in texts


def as_read(value: Json, schema: Json = None, root: Json = None) -> Json:
    """A value as its schema reads it, with all numbers as Decimals."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        number = _number(repr(value))
        return value if number is None else number
    schemas = tuple(_alternatives(schema, root, set()))
    if isinstance(value, list):
        return [as_read(each, _item(schemas, i), root) for i, each in enumerate(value)]
    if isinstance(value, dict):
        return {key: as_read(each, _member(schemas, key), root) for key, each in value.items()}
    for each in schemas:
        types = each.get("type")
        takes_numbers = {"integer", "number"} & {*(types if isinstance(types, list) else [types])}
        if takes_numbers and (number := _number(value)) is not None:
            return number
    for each in schemas:
        if each.get("format") in _FORMATS:
            with suppress(ValueError, OverflowError):
                return _of_format(value, each["format"])
    return value


def _text(value: Json, *, is_sorted: bool) -> str:
    """A value as compact JSON, with numbers written out; a text is itself."""
    return _in_one_form(value if isinstance(value, str) else _json(value, is_sorted))


_in_one_form = partial(normalize, "NFC")  # what Unicode calls canonically equal is equal


def _json(value: Json, is_sorted: bool) -> str:
    if isinstance(value, Decimal):
        return _written_out(value)
    if isinstance(value, list):
        return f"[{','.join(_json(each, is_sorted) for each in value)}]"
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=itemgetter(0)) if is_sorted else value.items()
        return f"{{{','.join(f'{_json(k, True)}:{_json(v, is_sorted)}' for k, v in pairs)}}}"
    return json.dumps(value, ensure_ascii=False)


def _number(text: str) -> Decimal | None:
    """The number that a text writes, or None."""
    with suppress(InvalidOperation):
        number = Decimal(text)
        if number.is_finite() and abs(number.adjusted()) < _MOST_DIGITS:
            return number
    return None


def _written_out(number: Decimal) -> str:
    """A number without an exponent and without needless zeros.

    >>> _written_out(Decimal("1E+2")), _written_out(Decimal("-0.50")), _written_out(Decimal("-0"))
    ('100', '-0.5', '0')
    """
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text if number else "0"


def _alternatives(schema: Json, root: Json, seen: set[str]) -> Iterator[Mapping[str, Json]]:
    """The schemas that a value may be read by: references and alternatives are followed."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        yield from _alternatives(resolve_ref(reference, root), root, {*seen, reference})
    for keyword in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(keyword, ()):
            yield from _alternatives(each, root, seen)


def _item(schemas: tuple[Mapping[str, Json], ...], index: int) -> Json:
    found = []
    for each in schemas:
        first = each.get("prefixItems", ())
        found.append(first[index] if index < len(first) else each.get("items"))
    return {"anyOf": found}


def _member(schemas: tuple[Mapping[str, Json], ...], key: str) -> Json:
    below = [one.get("properties", {}).get(key, one.get("additionalProperties")) for one in schemas]
    return {"anyOf": below}


_FORMATS: Final[Mapping[str, type]] = {
    "date": date,
    "date-time": datetime,
    "duration": timedelta,
    "ipv4": IPv4Address,
    "ipv6": IPv6Address,
    "path": PurePath,
    "time": time,
    "uuid": UUID,
}
"""The types that pydantic names by these formats."""


def _of_format(text: str, name: str) -> str:
    """A text in the one form that its format has; ValueError or OverflowError where it has none."""
    reader = _reader(name)
    value = reader.validate_python(text)
    if isinstance(value, datetime) and value.tzinfo:
        value = value.astimezone(UTC)
    return str(reader.dump_python(value, mode="json"))


@cache
def _reader(name: str) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter  # imported late: few rules are about such arguments

    return TypeAdapter(_FORMATS[name])
