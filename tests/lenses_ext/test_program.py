"""Programs: agents that hold each other by reference."""

from __future__ import annotations

import time

from gram import loads
from lenses_ext import resolve_references, validate_program


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
