"""Phrases: a subject between two marks, such as ``(a:B {k: 1})``, as regular expressions.

Most of a text is phrases, and one match reads a phrase in a fraction of the time that its tokens
take one by one. What is made here is derived from the rules and terminals of the grammar when its
table is made; it is no other definition of the syntax:

- A mark, a subject and a mark are a phrase when a rule consists of these three.
- A token is matched only where the lexer would find this one: what comes before it is excluded.
- A value is matched only where it is one token, because arrays and maps hold values again. A
  subject with another value is no phrase, and is read token by token.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from re import _parser  # lark needs it too, to make the table
from typing import Any, NamedTuple


class Phrases(NamedTuple):
    """What reads phrases.

    Attributes:
        phrase: a phrase; the groups are its first mark, identity, labels, record and last mark.
        label: the next of some labels, or what is left; the group is its name.
        entry: the next entry of a record, or what is left; the groups are its key, and the value
            under the name of its terminal.
        values: the builder of each terminal that is a value.
        rules: for each pair of marks, their names, the rules that consist of them and a subject.
    """

    phrase: str
    label: str
    entry: str
    values: dict[str, str]
    rules: dict[str, Sequence[int]]


_OR_REST = r"|[\s\S]+"
"""What is left after the last match is matched too: nothing is searched for inside a comment."""


class PhraseWriter:
    """Writes the regular expressions.

    Args:
        rules: the symbol, the builder and the parts of each rule.
        terminals: name to regular expression, in the order in which they are tried.
        ignored: the terminals that may be between tokens.
    """

    def __init__(
        self,
        rules: Sequence[tuple[str, str, tuple[str, ...]]],
        terminals: Mapping[str, str],
        ignored: Collection[str],
    ) -> None:
        self.rules = rules
        self.expansions: dict[str, list[tuple[str, ...]]] = {}
        for symbol, _, parts in rules:
            self.expansions.setdefault(symbol, []).append(parts)
        self.terminals = {name: each for name, each in terminals.items() if name not in ignored}
        self.starts = {name: _starts(_parser.parse(each)) for name, each in self.terminals.items()}
        self.between = "(?:" + "|".join(terminals[name] for name in ignored) + ")*+"
        self.expansions["value"] = [(name,) for name in self._tokens_of("value")]

    def phrases(self) -> Phrases:
        """All that reads phrases."""
        rules: dict[tuple[str, str], list[int]] = {}
        for number, (*_, parts) in enumerate(self.rules):
            if len(parts) == 3 and parts[1] == "subject":
                rules.setdefault((parts[0], parts[2]), []).append(number)
        identity, labels, record = max(self.expansions["subject"], key=len)
        ((mark, name),) = self.expansions["label"]
        ((key, colon, value),) = self.expansions["entry"]
        return Phrases(
            phrase=f"({self._one_of({first for first, _ in rules})})"
            f"(?:{self.between}({self._rule(identity)}))?+"
            f"({self.between}{self._rule(labels)})?+"
            f"({self.between}{self._rule(record)})?+"
            f"{self.between}({self._one_of({last for _, last in rules})})",
            label=f"{self.between}{self._rule(mark)}{self.between}({self._rule(name)}){_OR_REST}",
            entry=f"{self.between}{self._one_of(self._before('entry'))}"
            f"{self.between}({self._rule(key)}){self.between}{self._rule(colon)}{self.between}"
            + self._one_of(self._tokens_of(value), "(?P<{}>{})")
            + _OR_REST,
            values={
                parts[0]: builder
                for symbol, builder, parts in self.rules
                if symbol in ("value", "bound") and len(parts) == 1 and parts[0] in self.terminals
            },
            rules={" ".join(marks): rules[marks] for marks in sorted(rules)},
        )

    def _before(self, symbol: str) -> set[str]:
        """The terminals that a symbol may follow in the rules."""
        pairs = (pair for *_, parts in self.rules for pair in pairwise(parts))
        return {first for first, second in pairs if second == symbol} & self.terminals.keys()

    def _rule(self, symbol: str) -> str:
        """What a symbol matches."""
        tokens = self._tokens_of(symbol)
        if tokens and all(len(parts) == 1 for parts in self.expansions.get(symbol, ())):
            return self._one_of(tokens)
        return self._sequence(symbol, self.expansions[symbol])

    def _sequence(self, symbol: str, sequences: Iterable[tuple[str, ...]]) -> str:
        """What one of several sequences matches; the first symbol of each tells which."""
        rests: dict[str, list[tuple[str, ...]]] = {}
        for first, *rest in sequences:
            rests.setdefault(first, []).append(tuple(rest))
        repeats = rests.pop(symbol, None)  # X: Y | X Y
        one = f"(?:{'|'.join(map(self._then, rests, rests.values()))})"
        return f"(?:{one}{self.between})++" if repeats else one

    def _then(self, first: str, rests: Sequence[tuple[str, ...]]) -> str:
        """What a symbol and then one of several sequences match."""
        more = [rest for rest in rests if rest]
        if not more:
            return self._rule(first)
        optional = "" if len(more) == len(rests) else "?+"
        return f"{self._rule(first)}(?:{self.between}{self._sequence('', more)}){optional}"

    def _tokens_of(self, symbol: str) -> list[str]:
        """The terminals that a symbol can be by itself, in the order in which they are tried."""
        found, pending = {symbol}, [symbol]
        for each in pending:
            new = {parts[0] for parts in self.expansions.get(each, ()) if len(parts) == 1} - found
            found |= new
            pending.extend(new)
        return [name for name in self.terminals if name in found]

    def _one_of(self, names: Collection[str], written: str = "{1}") -> str:
        """One of some terminals, where it is the one that the lexer finds."""
        alternatives = []
        others: list[str] = []
        for name, regexp in self.terminals.items():
            if name not in names:
                others.append(name)
                continue
            rivals = [other for other in others if self.starts[other] & self.starts[name]]
            excluded = "|".join(self.terminals[rival] for rival in rivals)
            alternatives.append(
                written.format(name, f"(?!{excluded}){regexp}" if rivals else regexp)
            )
        return f"(?>{'|'.join(alternatives)})"


_ASCII = frozenset(range(128))


def _starts(parsed: Iterable[tuple[Any, Any]]) -> frozenset[int]:
    """The characters that a match can begin with, or more of them; only ASCII is told apart."""
    found: frozenset[int] = frozenset()
    for kind, what in parsed:
        match str(kind), what:
            case (("ASSERT" | "ASSERT_NOT" | "AT"), _):
                continue
            case "LITERAL", char:
                return found | {char}
            case "IN", [*ranges] if all(str(each) in ("LITERAL", "RANGE") for each, _ in ranges):
                bounds = (each if isinstance(each, tuple) else (each, each) for _, each in ranges)
                return found.union(*(range(low, high + 1) for low, high in bounds))
            case "BRANCH", (_, branches):
                return found.union(*map(_starts, branches))
            case "SUBPATTERN", (*_, inner):
                return found | _starts(inner)
            case (("MAX_REPEAT" | "POSSESSIVE_REPEAT"), (least, _, inner)):
                found |= _starts(inner)
                if least:
                    return found
            case _:
                return _ASCII
    return _ASCII
