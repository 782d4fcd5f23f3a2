"""Programs: what stands in a document by reference."""

from __future__ import annotations

import time

from gram import loads, loads_one
from lenses_ext import resolve_references, type_signature_to_json_schema, validate_program
from lenses_ext.shared_shapes import shared_shapes, with_shared_shapes


def test_agents_that_hold_each_other_twice_are_refused_quickly() -> None:
    pairs = (
        f'[{side}{i}:Agent {{instruction: "x", model: "A/b"}} | a{i + 1}, b{i + 1}]'
        for i in range(25)
        for side in "ab"
    )
    patterns = loads("\n".join(pairs) + "\n(a25:Agent) (b25:Agent)")
    begun = time.monotonic()

    _, faults = resolve_references(patterns[0], patterns)
    codes = {fault.code for fault in validate_program(patterns)}

    assert [fault.code for fault in faults] == ["too-many-agents"]
    assert "too-many-agents" in codes
    assert time.monotonic() - begun < 60


def test_a_shared_type_may_be_another_name_of_one() -> None:
    patterns = loads(
        '[t:Tool {description: "d"} | (u::Alias)==>(::String)]\n'
        "[Alias:User]\n[User:Object | (name::String)]\n(bob:User)"
    )
    whole = loads_one("[t:Tool | (u::User)==>(::String), [User:Object | (name::String)]]")

    assert validate_program(patterns) == ()
    assert type_signature_to_json_schema(
        with_shared_shapes(patterns[0], shared_shapes(patterns))
    ) == type_signature_to_json_schema(whole)
