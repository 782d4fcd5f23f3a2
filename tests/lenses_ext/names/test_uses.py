"""Every name in a program leads to what it means."""

from __future__ import annotations

from hypothesis import given

from gram import Pattern, parse, pattern_at
from gram.reading import spans_in_text
from lenses_ext.names import Program, uses
from lenses_ext.strategies import programs

PROGRAM = """
[desk:Agent | search, (desk)-[:HANDOFF]->(help), (q::User)==>(::String)]
[help:Agent | [search:Tool | (u::User)==>(::String)]]
[flow:Workflow | (desk)-->(again::help)]
[search:Tool | (t::Text)==>(::Array {elementType: User})]
[User:Object | (n::Text)]
"""


def test_references_ends_of_arrows_and_types_mean_their_definitions() -> None:
    document = parse(PROGRAM)
    found = []
    for use in uses(Program(document.patterns)):
        spans = spans_in_text(pattern_at(document.patterns, use.path))
        assert spans
        start = spans.part_or_subject(use.part).start
        if not use.is_definition:
            found.append((document.source.position(start), use.meant.path))

    assert sorted(found) == [
        ((2, 15), (3,)),  # search
        ((2, 24), (0,)),  # desk, at the left of an arrow
        ((2, 43), (1,)),  # help, at the right of it
        ((2, 54), (4,)),  # User, in a signature
        ((3, 34), (4,)),
        ((4, 19), (0,)),
        ((4, 35), (1,)),  # another use of help
        ((5, 51), (4,)),  # User, in a key
    ]


@given(programs())
def test_what_is_used_is_defined_in_the_program(patterns: tuple[Pattern, ...]) -> None:
    for use in uses(Program(patterns)):
        assert pattern_at(patterns, use.meant.path) == use.meant.pattern
