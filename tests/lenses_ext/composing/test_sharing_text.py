"""Sharing, inlining and adding tools in a text: comments stay with their tool."""

from gram import loads_one
from lenses_ext import add_tool, each_agent, inline_tool, over, parse_program, share_tool

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
    assert shared.replace(inline_tool(shared.patterns, "u")).text == SPELLED_OUT


def test_an_inlined_tool_takes_its_comments_to_the_first_agent() -> None:
    document = parse_program(SHARED)

    inlined = document.replace(inline_tool(document.patterns, "u"))

    assert inlined.text == SPELLED_OUT.replace(
        '[u:Tool { // in the second\n    description: "d"}',
        '// in the second\n  [u:Tool {description: "d"}',
    )


def test_a_new_tool_takes_no_comment_of_one_that_is_like_it() -> None:
    text = """\
[a:Agent {instruction: "x", model: "A/b"} |
  // about t
  [t:Tool {description: "d"} | // its type
    (x::Text // the x
    )==>(::String)] // t
]"""
    tool = loads_one('[n:Tool {description: "d"} | (x::Text)==>(::String)]')

    added = over(each_agent, lambda agent: add_tool(agent, tool), parse_program(text))

    assert added.text == text.replace(
        " // t\n]", ', // t\n  [n:Tool {description: "d"} | (x::Text)==>(::String)]\n]'
    )
