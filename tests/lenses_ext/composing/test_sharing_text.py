"""Sharing and adding tools in a text: comments stay with their tool."""

from lenses_ext import parse_program, share_tool

SPELLED_OUT = """\
[a:Agent {instruction: "x", model: "A/b"} |
  // above the first
  [u:Tool { // in the first
    description: "d"} | (x::Text)==>(::String)], // after the first
  [v:Tool {description: "e"} | (x::Text)==>(::String)] // v
]
[b:Agent {instruction: "y", model: "A/b"} |
  // above the second
  [u:Tool { // in the second
    description: "d"} | (x::Text)==>(::String)] // after the second
]
"""

SHARED = """\
[a:Agent {instruction: "x", model: "A/b"} |
  u,
  [v:Tool {description: "e"} | (x::Text)==>(::String)] // v
]
[b:Agent {instruction: "y", model: "A/b"} |
  // above the second
  // in the second
  u // after the second
]
// above the first
[u:Tool { // in the first
    description: "d"} | (x::Text)==>(::String)] // after the first
"""


def test_a_shared_tool_takes_its_comments_along_and_each_copy_leaves_its_own() -> None:
    document = parse_program(SPELLED_OUT)

    shared = document.replace(share_tool(document.patterns, "u"))

    assert shared.text == SHARED
    assert shared.replace(document.patterns).text == SPELLED_OUT
