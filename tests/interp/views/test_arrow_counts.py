"""How often a run took the arrows of workflows, as drawings show it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from interp import ScriptedModel, load_run, run, timeline
from interp.views import with_counts
from lenses_ext import drawing_of, parse_program

NEWS = """
[news:Workflow | (researcher)-->(refine)]
[refine:Loop {max: 3, until: {critic: "good"}} |
  writer, critic, (writer)-->(critic), (writer)-->()]
[desk:Workflow | triage, billing, support, last,
  (triage)-[:WHEN {is: "billing"}]->(billing)-->(last),
  (triage)-[:OTHERWISE]->(support)-->(last)]
[meet:Workflow | triage, billing, last,
  (triage)-[:WHEN {is: "billing"}]->(billing)-->(last), (triage)-[:OTHERWISE]->(last)]
[triage:Agent {instruction: "What?", model: "A/b"} | [:Answer:String {enum: ["billing", "other"]}]]
(researcher:Agent {instruction: "Research.", model: "A/b"})
(writer:Agent {instruction: "Write.", model: "A/b"})
(critic:Agent {instruction: "Judge.", model: "A/b"})
(billing:Agent {instruction: "Bill.", model: "A/b"})
(support:Agent {instruction: "Help.", model: "A/b"})
(last:Agent {instruction: "End.", model: "A/b"})
"""


def counts(file: Path, agent: str, *replies: str) -> dict[Any, int | None]:
    """The counts of the arrows of a workflow that was run, by the names of their ends."""
    document = parse_program(NEWS)
    run(document, "x", agent=agent, model=ScriptedModel(replies), record=file)
    drawing = with_counts(drawing_of(document, agent), timeline(load_run(file), has_prices=False))
    names = {node.key: node.name or node.kind for node in drawing.nodes}
    return {
        (names[edge.source], names[edge.target]): edge.count
        for edge in drawing.edges
        if edge.kind in ("flow", "again")
    }


def test_rounds_of_a_loop_are_counted(tmp_path: Path) -> None:
    found = counts(tmp_path / "run.gram", "news", "facts", "draft", "bad", "better", "good")

    assert found == {
        ("input", "researcher"): 1,
        ("researcher", "input"): 1,
        ("input", "writer"): 2,
        ("writer", "critic"): 2,
        ("writer", "result"): 1,
        ("critic", "input"): 1,
        ("result", "result"): 1,
    }


def test_arms_of_a_choice_that_are_not_taken_have_none(tmp_path: Path) -> None:
    found = counts(tmp_path / "run.gram", "desk", '"billing"', "paid", "bye")

    assert found["triage", "billing"] == found["billing", "last"] == found["last", "result"] == 1
    assert found["triage", "support"] == found["support", "last"] == 0


def test_what_cannot_be_told_of_a_choice_is_not_counted(tmp_path: Path) -> None:
    found = counts(tmp_path / "run.gram", "meet", '"billing"', "paid", "bye")

    assert found["triage", "last"] is None
    assert found["triage", "billing"] == found["billing", "last"] == 1
