"""``grammar.lark`` compiled: the lexer's regular expression and the LALR(1) table.

The file is the only definition of the syntax. lark turns it into terminals and a parse table;
`gram.lexer` and `gram.parser` drive them. Importing lark and building the table costs more
than reading most programs, so the result is kept in ``grammar_table.json``, which is written by

    python -m gram.grammar

and holds the digest of the file it was made from. A table whose digest is not the file's own is
left aside and the grammar is compiled anew, so an edit of ``grammar.lark`` counts at once.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

GRAMMAR = Path(__file__).with_name("grammar.lark")
TABLE = Path(__file__).with_name("grammar_table.json")


class Rule(NamedTuple):
    """A production: the symbol it makes, the name of its builder, how many parts it takes.

    The parts of a production without a builder belong to the production around it.
    """

    symbol: str
    builder: str
    size: int


class Grammar(NamedTuple):
    """All that the lexer and the parser need to know of the syntax.

    Attributes:
        terminals: name to regular expression, in the order in which they are tried.
        ignored: the terminals that stand between tokens (blanks, comments).
        literals: the text of each terminal that has only one.
        rules: the productions.
        states: per state, symbol to action: ``n >= 0`` go to state n, ``n < 0`` reduce rule ``~n``.
        start, end: the states a document begins and ends in.
        first: for each nonterminal, the terminals it can begin with.
    """

    terminals: dict[str, str]
    ignored: Sequence[str]
    literals: dict[str, str]
    rules: Sequence[Rule]
    states: Sequence[dict[str, int]]
    start: int
    end: int
    first: dict[str, Sequence[str]]


@cache
def grammar() -> Grammar:
    """The grammar of this package, from its table when that is up to date."""
    definition = GRAMMAR.read_text(encoding="utf-8")
    kept = json.loads(TABLE.read_text(encoding="utf-8"))
    if kept.pop("digest") == digest(definition):
        return Grammar(**{**kept, "rules": [Rule(*rule) for rule in kept["rules"]]})
    return compile_grammar(definition)


def digest(definition: str) -> str:
    """What tells one grammar text from another (no secret: a checksum is enough, and quick)."""
    return f"{zlib.crc32(definition.encode()):08x}"


def compile_grammar(definition: str) -> Grammar:
    """Build terminals and table from a grammar text, with lark."""
    import lark
    from lark.grammar import NonTerminal
    from lark.parsers.lalr_analysis import LALR_Analyzer, Reduce

    compiled = lark.Lark(definition, parser="lalr", lexer="basic", keep_all_tokens=True)
    analysis: Any = LALR_Analyzer(compiled.parser.parser_conf)
    analysis.compute_lalr()
    table = analysis.parse_table
    rules = {rule: number for number, rule in enumerate(compiled.rules)}
    numbers = _numbered(table.states, table.start_states["start"])

    def action(kind: Any, target: Any) -> int:
        return ~rules[target] if kind is Reduce else numbers[target]

    terminals = sorted(
        compiled.terminals,
        key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
    )
    return Grammar(
        terminals={t.name: t.pattern.to_regexp() for t in terminals},
        ignored=sorted(map(str, compiled.ignore_tokens)),
        literals={t.name: t.pattern.value for t in terminals if t.pattern.type == "str"},
        rules=[Rule(str(rule.origin.name), _builder(rule), len(rule.expansion)) for rule in rules],
        states=[
            {str(symbol): action(*do) for symbol, do in sorted(table.states[state].items())}
            for state in numbers
        ],
        start=numbers[table.start_states["start"]],
        end=numbers[table.end_states["start"]],
        first={
            str(symbol.name): sorted(str(terminal.name) for terminal in firsts)
            for symbol, firsts in sorted(analysis.FIRST.items(), key=lambda item: str(item[0].name))
            if isinstance(symbol, NonTerminal)
        },
    )


def _numbered(states: dict[Any, dict[str, tuple[Any, Any]]], start: Any) -> dict[Any, int]:
    """The states that matter, numbered as a walk from the start over sorted symbols meets them.

    lark numbers them as its sets happen to be ordered, which changes between processes.
    """
    numbers = {start: 0}
    pending = [start]
    for state in pending:
        for _, (_, target) in sorted(states[state].items(), key=lambda entry: str(entry[0])):
            if target in states and target not in numbers:
                numbers[target] = len(numbers)
                pending.append(target)
    return numbers


def _builder(rule: Any) -> str:
    if rule.alias:
        return str(rule.alias)
    name = str(rule.origin.name)
    return "" if rule.options.expand1 or name.startswith("_") else name


def render(compiled: Grammar, source_digest: str) -> str:
    """The text of ``grammar_table.json``: one line for each attribute of the grammar."""
    kept = {"digest": source_digest, **compiled._asdict()}
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in kept.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    text = GRAMMAR.read_text(encoding="utf-8")
    TABLE.write_text(render(compile_grammar(text), digest(text)), encoding="utf-8")
