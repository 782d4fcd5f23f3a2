"""Patterns seen as a graph."""

import sys

import pytest
from hypothesis import given

from gram import GramError, NoPatternError, Pattern, parse
from gram.graphs import MissingExtraError, graph_of, shape, to_networkx
from gram.trees.operations import walk
from tests.gram.strategies import forests

TEXT = """{kind: "rule"}
(a:Person {age: 30})-[r:KNOWS]->(b)<-[:KNOWS]-(c)
(a)-[:LIKES]->(a)
@note("an island") (d)
[team | a, b, c]
"""


def names(patterns: tuple[Pattern, ...]) -> list[str]:
    return [pattern.value.identity for pattern in patterns]


def test_a_document_falls_into_nodes_relationships_walks_annotations_and_others() -> None:
    graph = graph_of(parse(TEXT))

    assert names(graph.nodes) == ["a", "b", "c", "d"]
    assert graph.node("a").value.properties == {"age": 30}
    assert len(graph.relationships) == 3
    assert len(graph.walks) == len(graph.annotations) == len(graph.others) == 1
    assert names(graph.others) == ["team"]


def test_relationships_lead_from_node_to_node() -> None:
    graph = graph_of(parse(TEXT))
    a, b, d = map(graph.node, "abd")

    assert names(graph.neighbors(b)) == ["a", "c"]
    assert names(graph.neighbors(a)) == ["a", "b"]
    assert (graph.degree(a), graph.degree(b), graph.degree(d)) == (3, 2, 0)
    assert names(graph.incident(b)) == ["r", ""]
    assert names(graph.relationships[1].elements) == ["c", "b"]
    with pytest.raises(NoPatternError):
        graph.node("x")
    assert len(graph_of(parse("() () (a) (a)")).nodes) == 3, "anonymous nodes are each their own"
    assert len(graph_of(parse("(a)-->()-->(b)")).nodes) == 3, "but one in a walk"


@given(forests())
def test_every_pattern_has_one_shape(trees: tuple[Pattern, ...]) -> None:
    graph = graph_of(trees)
    shown = {
        "relationship": graph.relationships,
        "walk": graph.walks,
        "annotation": graph.annotations,
        "other": graph.others,
    }

    assert all(shape(each) == kind for kind, some in shown.items() for each in some)
    assert sorted(id(each) for some in shown.values() for each in some) == sorted(
        id(each) for _, each in walk(trees) if each.elements
    )
    assert sum(map(graph.degree, graph.nodes)) == 2 * len(graph.relationships)


def test_networkx_has_the_same_nodes_and_edges() -> None:
    networkx = pytest.importorskip("networkx", reason="the graph extra is not installed")
    converted = to_networkx(parse(TEXT))

    assert list(converted.nodes) == ["a", "b", "c", "d"]
    assert list(converted.edges()) == [("a", "b"), ("a", "a"), ("c", "b")]
    assert networkx.has_path(converted, "a", "b")
    assert converted.nodes["a"]["pattern"].value.labels == {"Person"}


def test_a_missing_networkx_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)

    with pytest.raises(MissingExtraError, match=r"\[graph\]") as error:
        to_networkx(parse("(a)"))
    assert isinstance(error.value, GramError)


def test_nodes_of_one_name_in_two_scopes_are_two() -> None:
    document = parse("[x:Team | (a)-->(b)] [y:Team | (a)-->(c)] (a)")

    graph = graph_of(document, scopes=lambda each: "own" if each.value.labels else "around")

    assert names(graph.nodes) == ["a", "b", "a", "c", "a"]
    assert [names(graph.neighbors(node)) for node in graph.nodes] == [
        ["b"],
        ["a"],
        ["c"],
        ["a"],
        [],
    ]
    assert names(graph_of(document).nodes) == ["a", "b", "c"]
    assert set(to_networkx(graph)) == {("x", "a"), ("x", "b"), ("y", "a"), ("y", "c"), "a"}
