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
import pickle
import re
import sys
import zlib
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

GRAMMAR = Path(__file__).with_name("grammar.lark")


class Rule(NamedTuple):
    """A production.

    Attributes:
        symbol: what it makes.
        builder: the name of the method that builds it. The parts of a production without one
            belong to the production around it.
        parts: the symbols that it consists of.
    """

    symbol: str
    builder: str
    parts: tuple[str, ...]


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
    """

    terminals: dict[str, str]
    parts: dict[str, str]
    ignored: Sequence[str]
    literals: dict[str, str]
    rules: Sequence[Rule]
    states: Sequence[dict[str, int]]
    start: int
    end: int


@cache
def grammar() -> Grammar:
    """The grammar of gram."""
    return load_grammar(GRAMMAR)


@cache
def terminal(name: str) -> re.Pattern[str]:
    """The regular expression of a terminal of gram, or of a part of one."""
    known = {**grammar().terminals, **grammar().parts}
    return re.compile(known[name], re.ASCII)


def load_grammar(definition: Path) -> Grammar:
    """The grammar that a file defines, from its table when that is up to date."""
    text = definition.read_text(encoding="utf-8")
    kept = json.loads(table_of(definition).read_text(encoding="utf-8"))
    if kept.pop("digest") == digest(text):
        kept["rules"] = [Rule(name, built, tuple(parts)) for name, built, parts in kept["rules"]]
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

    lark makes the table, and `lark.Lark.save` says it. This is the only function that knows what
    is saved; a test compares what is read by the table with what lark itself reads.
    """
    import lark

    kept = _KeepParts(re.findall(r"^([A-Z_]+)(?:\.\d+)?:", definition, re.MULTILINE))
    compiled = lark.Lark(
        definition, parser="lalr", lexer="basic", keep_all_tokens=True, postlex=kept
    )
    file = BytesIO()
    compiled.save(file)
    saved = pickle.loads(file.getvalue())
    table, numbered = saved["data"]["parser"]["parser"], [r["@"] for r in saved["data"]["rules"]]
    names = table["tokens"]
    rules = [_rule(saved["memo"][number]) for number in numbered]
    states = {
        state: {
            names[symbol]: ~numbered.index(target["@"]) if reduces else target
            for symbol, (reduces, target) in actions.items()
        }
        for state, actions in table["states"].items()
    }
    numbers = _numbered(states, table["start_states"]["start"])
    used = {part for rule in rules for part in rule.parts} | set(compiled.ignore_tokens)
    known = sorted(
        compiled.terminals,
        key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
    )
    terminals = [terminal for terminal in known if terminal.name in used]
    return Grammar(
        terminals={t.name: t.pattern.to_regexp() for t in terminals},
        parts={t.name: t.pattern.to_regexp() for t in known if t.name not in used},
        ignored=sorted(compiled.ignore_tokens),
        literals={t.name: t.pattern.value for t in terminals if t.pattern.type == "str"},
        rules=rules,
        states=[
            {
                symbol: numbers[action] if action >= 0 else action
                for symbol, action in sorted(states[state].items())
            }
            for state in numbers
        ],
        start=numbers[table["start_states"]["start"]],
        end=numbers[table["end_states"]["start"]],
    )


class _KeepParts:
    """Stops lark from leaving out the terminals that no rule uses."""

    def __init__(self, names: Sequence[str]) -> None:
        self.always_accept = names

    def process(self, stream: Any) -> Any:
        return stream


def _rule(saved: dict[str, Any]) -> Rule:
    """A production as lark saves it."""
    name = saved["origin"]["name"]
    unbuilt = saved["options"]["expand1"] or name.startswith("_")
    builder = saved["alias"] or ("" if unbuilt else name)
    return Rule(name, builder, tuple(part["name"] for part in saved["expansion"]))


def _numbered(states: dict[int, dict[str, int]], start: int) -> dict[int, int]:
    """The states that can be reached, in the order of a walk from the start over sorted symbols.

    lark numbers them as its sets happen to be ordered, which changes between processes.
    """
    numbers = {start: 0}
    pending = [start]
    for state in pending:
        for _, target in sorted(states[state].items()):
            if target >= 0 and target not in numbers:
                numbers[target] = len(numbers)
                pending.append(target)
    return numbers


def render(compiled: Grammar, source_digest: str) -> str:
    """The text of ``grammar_table.json``: one line for each attribute of the grammar."""
    kept = {"digest": source_digest, **compiled._asdict()}
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in kept.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else GRAMMAR
    text = file.read_text(encoding="utf-8")
    table_of(file).write_text(render(compile_grammar(text), digest(text)), encoding="utf-8")
