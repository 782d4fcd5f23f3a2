"""Sharing and adding tools in a text: comments stay with their tool."""

from gram import loads_one
from lenses_ext import agent_tool_specs, each_agent, over, parse_program, share_tool

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


def test_a_new_tool_takes_no_comment_of_one_that_is_like_it() -> None:
    text = """\
[a:Agent {instruction: "x", model: "A/b"} |
  // about t
  [t:Tool {description: "d"} | // its type
    (x::Text // the x
    )==>(::String)] // t
]"""
    tool = loads_one('[n:Tool {description: "d"} | (x::Text)==>(::String)]')

    document = parse_program(text)

    added = over(each_agent & agent_tool_specs, lambda tools: (*tools, tool), document)

    assert added.text == text.replace(
        " // t\n]", ', // t\n  [n:Tool {description: "d"} | (x::Text)==>(::String)]\n]'
    )
