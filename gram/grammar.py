"""``grammar.lark`` compiled: the lexer's regular expression and the LALR(1) table.

The file is the only definition of the syntax. lark turns it into terminals and a parse table;
`gram.reading.lexer` and `gram.reading.parser` drive them. Importing lark and building the table
costs more than reading most programs, so the result is kept in ``grammar_table.json``, written by

    python -m gram.grammar [OTHER.lark]

The table holds the digest of the file it was made from. When the digest differs from that of the
file, the table is ignored and the grammar is compiled again, so an edit counts at once. Another
grammar over the same tokens (see `gram.reading.parser.parse_tokens`) is kept in the same way.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .phrases import Phrases, PhraseWriter

GRAMMAR = Path(__file__).with_name("grammar.lark")
TABLE = GRAMMAR.with_name("grammar_table.json")


class Rule(NamedTuple):
    """A production.

    Attributes:
        symbol: what it makes.
        builder: the name of the method that builds it. The parts of a production without one
            belong to the production around it.
        size: how many parts it takes.
        takes_parts: whether one of them may be the parts of a production without a builder.
    """

    symbol: str
    builder: str
    size: int
    takes_parts: bool


class Grammar(NamedTuple):
    """All that the lexer and the parser need to know of the syntax.

    Attributes:
        terminals: name to regular expression, in the order in which they are tried.
        parts: the same of what terminals consist of.
        ignored: the terminals that may be between tokens (blanks, comments).
        literals: the text of each terminal that has only one.
        rules: the productions.
        states: per state, symbol to action: ``n >= 0`` go to state n, ``n < 0`` reduce rule ``~n``.
        start, end: the states a document begins and ends in.
        first: for each nonterminal, the terminals it can begin with.
        phrases: what reads several tokens at once; None in a grammar without subjects.
    """

    terminals: dict[str, str]
    parts: dict[str, str]
    ignored: Sequence[str]
    literals: dict[str, str]
    rules: Sequence[Rule]
    states: Sequence[dict[str, int]]
    start: int
    end: int
    first: dict[str, Sequence[str]]
    phrases: Phrases | None


@cache
def grammar() -> Grammar:
    """The grammar of gram."""
    return load_grammar(GRAMMAR, TABLE)


@cache
def terminal(name: str) -> re.Pattern[str]:
    """The regular expression of a terminal of gram, or of a part of one."""
    known = {**grammar().terminals, **grammar().parts}
    return re.compile(known[name], re.ASCII)


def load_grammar(definition: Path, table: Path) -> Grammar:
    """The grammar that a file defines, from its table when that is up to date."""
    text = definition.read_text(encoding="utf-8")
    kept = json.loads(table.read_text(encoding="utf-8"))
    if kept.pop("digest") == digest(text):
        kept["rules"] = [Rule(*rule) for rule in kept["rules"]]
        kept["phrases"] = kept["phrases"] and Phrases(*kept["phrases"])
        return Grammar(**kept)
    return compile_grammar(text)


def table_of(definition: Path) -> Path:
    """The file that keeps the table of a grammar: ``x_table.json`` beside ``x.lark``."""
    return definition.with_name(f"{definition.stem}_table.json")


def digest(definition: str) -> str:
    """A checksum of a grammar text, to see whether it has changed."""
    return f"{zlib.crc32(definition.encode()):08x}"


def compile_grammar(definition: str) -> Grammar:
    """Build terminals and table from a grammar text, with lark.

    This is the only function that knows lark, and its inner parts; a test pins what it gives.
    """
    import lark
    from lark.grammar import NonTerminal
    from lark.parsers.lalr_analysis import LALR_Analyzer, Reduce

    class KeepParts:
        """Stops lark from leaving out the terminals that no rule uses."""

        always_accept = tuple(re.findall(r"^([A-Z_]+)(?:\.\d+)?:", definition, re.MULTILINE))

        def process(self, stream: Any) -> Any:
            return stream

    compiled = lark.Lark(
        definition, parser="lalr", lexer="basic", keep_all_tokens=True, postlex=KeepParts()
    )
    analysis: Any = LALR_Analyzer(compiled.parser.parser_conf)
    analysis.compute_lalr()
    table = analysis.parse_table
    rules = {rule: number for number, rule in enumerate(compiled.rules)}
    numbers = _numbered(table.states, table.start_states["start"])

    def action(kind: Any, target: Any) -> int:
        return ~rules[target] if kind is Reduce else numbers[target]

    unbuilt = {rule.origin for rule in rules if not _builder(rule)}
    used = {str(symbol.name) for rule in compiled.rules for symbol in rule.expansion}
    used.update(map(str, compiled.ignore_tokens))
    known = sorted(
        compiled.terminals,
        key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
    )
    terminals = [terminal for terminal in known if terminal.name in used]
    regexps = {t.name: t.pattern.to_regexp() for t in terminals}
    ignored = sorted(map(str, compiled.ignore_tokens))
    parts = [
        (str(rule.origin.name), _builder(rule), tuple(str(part.name) for part in rule.expansion))
        for rule in rules
    ]
    return Grammar(
        terminals=regexps,
        parts={t.name: t.pattern.to_regexp() for t in known if t.name not in used},
        ignored=ignored,
        literals={t.name: t.pattern.value for t in terminals if t.pattern.type == "str"},
        rules=[
            Rule(
                str(rule.origin.name),
                _builder(rule),
                len(rule.expansion),
                any(symbol in unbuilt for symbol in rule.expansion),
            )
            for rule in rules
        ],
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
        phrases=PhraseWriter(parts, regexps, ignored).phrases() if "subject" in used else None,
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
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else GRAMMAR
    text = file.read_text(encoding="utf-8")
    table_of(file).write_text(render(compile_grammar(text), digest(text)), encoding="utf-8")
