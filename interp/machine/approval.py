"""Approval policies: rules, as data, that say which tools a run may call.

>>> policy = ApprovalPolicy([
...     ApprovalRule("allow", "read*"),
...     ApprovalRule("allow", "send", {"to": "*@example.com"}),
...     ApprovalRule("deny", "delete*"),
... ], otherwise="ask")
>>> policy.decide("send", {"to": "eve@elsewhere.com"})
'ask'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, TypeAlias, get_args

from attrs import field, frozen
from pyrsistent import PMap, pmap

from gram import Pattern, Subject
from gram.errors import expect

from ..errors import ValidationError
from ..json_text import Json
from .compared_arguments import fits_glob

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
        agent, slash, name = self.tool.partition("/")
        if not slash:
            agent, name = "*", self.tool
        if not fnmatchcase(tool, name) or not fnmatchcase(by, agent):
            return False
        types = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
        return all(
            name in args and fits_glob(glob, args[name], types.get(name), schema)
            for name, glob in self.arguments.items()
        )


def _rules(rules: Iterable[ApprovalRule]) -> tuple[ApprovalRule, ...]:
    given: tuple[Any, ...] = tuple(rules) if isinstance(rules, Iterable) else (rules,)
    for rule in given:
        if not isinstance(rule, ApprovalRule):
            raise ValidationError(f"the rules of a policy are ApprovalRules, found {rule!r}")
    return given


@frozen
class ApprovalPolicy:
    """What to do with each tool call: the first rule that fits decides.

    Attributes:
        rules: in the order in which they are looked at.
        otherwise: what happens to calls that no rule fits.

    Raises:
        ValidationError: a part is not what it should be.
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
        labels = {decision: label for label, decision in _LABELS.items()}
        rules = []
        for rule in self.rules:
            properties: dict[str, Any] = {"tool": rule.tool}
            if rule.arguments:
                properties["arguments"] = rule.arguments
            rules.append(Pattern(Subject("", {labels[rule.decision]}, properties)))
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
        raise ValidationError(
            f"unknown in an approval policy: {', '.join(unknown)}; "
            f"known: {', '.join(sorted(known))}"
        )
    return given
