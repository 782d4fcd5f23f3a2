"""Reading and editing a document of one megabyte: what an edit costs beside reading it again.

Run it with ``python -m benchmarks.notation``.
"""

from __future__ import annotations

import tree_sitter
import tree_sitter_gram

from benchmarks.compare import compare
from gram import dumps, parse
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


def main() -> None:
    """Compare an edit with reading, and reading with tree-sitter-gram's parser, which is C."""
    text = "".join(AGENT.format(n=n) for n in range(2_600))
    document = parse(text)
    changed = list(document.patterns)
    changed[1_300] = put(agent_instruction, "Wave.", changed[1_300])
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_gram.language()))
    print(f"{len(text) / 1e6:.2f} MB, {len(document.patterns)} agents")
    compare(
        "one property of one agent",
        {
            "replace, and the new text": lambda: document.replace(changed).text,
            "writing it all canonically": lambda: dumps(changed),
            "reading it again": lambda: parse(text),
            "tree-sitter-gram, no trees built": lambda: parser.parse(text.encode()),
        },
    )


if __name__ == "__main__":
    main()
