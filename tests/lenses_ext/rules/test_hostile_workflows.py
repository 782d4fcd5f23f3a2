"""Any arrangement of elements and arrows is judged, read and written without failing."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import HealthCheck, given, note, settings, strategies as st

from gram import GramError, check, only_errors, parse
from lenses_ext import agent_diagnostics, find_places, validate_program, workflow_of, write_program
from lenses_ext.names import program_scopes, resolve
from lenses_ext.rules import LINT_CHECKS
from tests.by_day import FEWER

ENDS = [
    "()", "(a)", "(b)", "(c::a)", "(::a)", "(w)", "(t)", "(x {k: 1})", "(a:Agent)", "(d)",
    "(::String)", "(a:b:c)",
]  # fmt: skip
ARROWS = [
    "-->", "<--", "--", "<-->", '-[:WHEN {is: "x"}]->', '-[:WHEN {is: {k: "x"}}]->', "-[:WHEN]->",
    "-[:OTHERWISE]->", "-[:EACH]->", "-[:EACH {at_once: 2}]->", "-[:HANDOFF]->", '-[{as: "z"}]->',
    "-[:FOO]->", "-[r:WHEN {is: 3kg}]->", "-[{as: 1}]->", "-[:WHEN {is: [1, 2]}]->",
]  # fmt: skip
ELEMENTS = [
    "a", "b", "t", "w", "v", "zz", "(n:Note)", "[:Answer:Object | (k::Text)]",
    "(x::Text)==>(::Int)", "(x::P)==>(::Q)", '[P:Object | (k::Text {enum: ["x"]})]',
    "(::Parameters {additionalProperties: false})", "[b:Agent | a]", "[:Definitions | (d:Agent)]",
    '[l:Loop {max: 2, until: "x"} | a, b, (a)-->(b)]', "[:Gram.Walk | [a | b], c]", "[:Gram.Walk]",
]  # fmt: skip
HEADS = [
    "w:Workflow", "v:Loop {max: 3, until: {a: {k: 1}}}", "a:Agent", "l:Loop {max: -1, until: 3}",
    "w:Workflow:Agent", ":Workflow", "u:Loop {until: {q: 1}}",
]  # fmt: skip
REST = """
[t:Tool {description: "d", reads: "private", returns: "untrusted", sends: true} |
  (x::P)==>(y::Int)==>(::Array)]
[P:Object | (k::Text)]
(b:Agent {instruction: "Call `tt`, {name}", model: "p/m", settings: {toolChoice: "q", topP: 1}})"""


@st.composite
def paths(draw: st.DrawFn) -> str:
    """A path of one to three arrows."""
    text = draw(st.sampled_from(ENDS))
    for _ in range(draw(st.integers(1, 3))):
        text += draw(st.sampled_from(ARROWS)) + draw(st.sampled_from(ENDS))
    return text


def programs() -> st.SearchStrategy[str]:
    """Programs of agents and workflows that hold anything."""
    elements = st.lists(st.sampled_from(ELEMENTS) | paths(), max_size=5)
    one = st.builds(
        lambda head, some: f"[{head}{' | ' if some else ''}{', '.join(some)}]",
        st.sampled_from(HEADS),
        elements,
    )
    return st.lists(one, min_size=1, max_size=4).map(lambda some: "\n".join(some) + REST)


@given(programs())
@settings(FEWER, suppress_health_check=list(HealthCheck))
def test_any_program_is_judged_read_and_written(text: str) -> None:
    note(text)
    document = parse(text)

    assert [each.with_hint() for each in validate_program(document) if each.span is None] == []
    doubts = check(document, checks=LINT_CHECKS, scopes=program_scopes)
    assert [each.with_hint() for each in doubts if each.span is None] == []
    for pattern in document.patterns:
        assert set(workflow_of(pattern).order) == set(workflow_of(pattern).nodes)
    for name in ("w", "v", "a", "l", None):
        try:
            whole = resolve(document, name)
            refused = only_errors(agent_diagnostics(document, name))
        except GramError:
            continue  # refused, with our error
        assert refused or resolve(whole) is whole
        assert refused or only_errors(validate_program(whole)) == ()
    assert parse(write_program(document.patterns)).patterns == document.patterns


@given(st.sampled_from(["w.nodes", "w.arrows", "a.signature", "w.schema", "v.until"]), programs())
@settings(FEWER, suppress_health_check=list(HealthCheck))
def test_paths_lead_somewhere_or_are_refused(path: str, text: str) -> None:
    patterns = parse(text).patterns
    with suppress(GramError):  # refused, with our error
        for place in find_places(patterns, path):
            assert place.path
            place.get(patterns)
