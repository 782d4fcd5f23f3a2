"""Reading and editing documents of one megabyte: reading beside a C parser, an edit beside reading.

Run it with ``python -m benchmarks.notation``.
"""

from __future__ import annotations

import tree_sitter
import tree_sitter_gram

from benchmarks.compare import compare
from gram import dumps, loads, parse
from lenses_ext import agent_instruction, put

AGENT = """\
[agent{n}:Agent {{
  description: "A friendly agent that greets people", // number {n}
  instruction: "Have friendly conversations. When the user greets you, call `sayHello`.",
  model: "OpenAI/gpt-5.6-luna"
}} |
  [sayHello:ToolSpecification {{description: "Returns a friendly greeting message"}} |
    (personName::Text {{default: "world"}})==>(::String)]
]
"""


EDGE = "(n{n}:Person {{age: {age}}})-[:KNOWS]->(n{next})\n"


def main() -> None:
    """Compare reading with a C parser, and an edit with reading."""
    agents = "".join(AGENT.format(n=n) for n in range(2_600))
    graph = "".join(EDGE.format(n=n, age=n % 90, next=n + 1) for n in range(22_000))
    for name, text in (("agents", agents), ("a graph", graph)):
        compare_reading(name, text)
    compare_editing(agents)


def compare_reading(name: str, text: str) -> None:
    """Compare reading trees, and trees with their constructs, with the C parser alone."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_gram.language()))
    print(f"{len(text) / 1e6:.2f} MB of {name}")
    compare(
        f"reading {name}",
        {
            "loads: trees with places": lambda: loads(text),
            "parse, and the constructs": lambda: parse(text).items,
            "tree-sitter-gram, no trees built": lambda: parser.parse(text.encode()),
        },
    )


def compare_editing(text: str) -> None:
    """Compare an edit of one property with reading and writing the whole text."""
    document = parse(text)
    changed = list(document.patterns)
    changed[1_300] = put(agent_instruction, "Wave.", changed[1_300])
    compare(
        "one property of one agent",
        {
            "replace, and the new text": lambda: document.replace(changed).text,
            "writing it all canonically": lambda: dumps(changed),
            "reading it again": lambda: parse(text),
        },
    )


if __name__ == "__main__":
    main()
