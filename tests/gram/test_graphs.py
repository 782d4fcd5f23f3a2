"""Trees as graphs, and one definition for each name."""

import sys
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from gram import GramEncodeError, GramError, NoPatternError, Pattern, dumps, graphs, loads, parse
from gram.graphs import Policy, ReconcileError, graph_of, reconcile, to_networkx
from gram.trees import Scope
from gram.trees.operations import walk
from tests.by_day import given_few
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


@given_few(forests())
def test_every_pattern_has_one_shape(trees: tuple[Pattern, ...]) -> None:
    graph = graph_of(trees)
    shown = {
        "relationship": graph.relationships,
        "walk": graph.walks,
        "annotation": graph.annotations,
        "other": graph.others,
    }

    assert all(graphs.shape(each) == kind for kind, some in shown.items() for each in some)
    assert sorted(id(each) for some in shown.values() for each in some) == sorted(
        id(each) for _, each in walk(trees) if each.elements
    )
    assert sum(map(graph.degree, graph.nodes)) == 2 * len(graph.relationships)
    alone = loads("[x | (a)-->(b)] [:Gram.Walk | (a)-->(b)]")
    assert [*map(graphs.shape, alone)] == ["annotation", "walk"]


def test_networkx_has_the_same_nodes_and_edges() -> None:
    networkx = pytest.importorskip("networkx", reason="the graph extra is not installed")
    converted = to_networkx(parse(TEXT))
    assert list(converted.nodes) == ["a", "b", "c", "d"]
    assert list(converted.edges()) == [("a", "b"), ("a", "a"), ("c", "b")]
    assert networkx.has_path(converted, "a", "b")
    assert converted.nodes["a"]["pattern"].value.labels == {"Person"}


def test_a_missing_networkx_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(graphs.MissingExtraError, match=r"\[graph\]") as error:
        to_networkx(parse("(a)"))
    assert isinstance(error.value, GramError)


def test_nodes_of_one_name_in_two_scopes_are_two() -> None:
    document = parse("[x:Team | (a)-->(b)] [y:Team | (a)-->(c)] (a)")

    graph = graph_of(document, scopes=lambda each: "own" if each.value.labels else "around")

    assert names(graph.nodes) == ["a", "b", "a", "c", "a"]
    assert ["".join(names(graph.neighbors(node))) for node in graph.nodes] == [*"baca", ""]
    assert names(graph_of(document).nodes) == ["a", "b", "c"]
    assert set(to_networkx(graph)) == {("x", "a"), ("x", "b"), ("y", "a"), ("y", "c"), "a"}


POLICIES: list[Policy] = ["last-wins", "first-wins", "merge", "strict"]


@pytest.mark.parametrize(
    ("policy", "joined"),
    [
        ("first-wins", "(a:P {j: 0, k: 1})\n[x | a, b, c]\n(a:P {j: 0, k: 1})"),
        ("last-wins", "(a:Q {k: 2})\n[x | a, b, c]\n(a:Q {k: 2})"),
        ("merge", "(a:P:Q {j: 0, k: 2})\n[x | a, b, c]\n(a:P:Q {j: 0, k: 2})"),
    ],
)
def test_a_policy_says_which_definition_counts(policy: Policy, joined: str) -> None:
    trees = loads("(a:P {k: 1, j: 0}) [x:X | a, b, c] (a:Q {k: 2})")
    assert dumps(reconcile(trees, policy)) == joined.replace("[x |", "[x:X |")


def test_elements_come_with_the_definition_and_keep_their_order() -> None:
    trees = loads("[x | a] [y | (x:X)] [x | c, b, a]")
    assert dumps(reconcile(trees, "merge")) == (
        "[x:X | c, b, a]\n[y | [x:X | c, b, a]]\n[x:X | c, b, a]"
    )
    assert dumps(reconcile(trees, "first-wins")) == "[x | a]\n[y | [x | a]]\n[x | a]"


def test_strict_names_both_places() -> None:
    trees = parse("(a:P)\n(b)\n(a:Q)", "x.gram").patterns
    with pytest.raises(ReconcileError) as error:
        reconcile(trees, "strict")
    assert str(error.value) == "`a` is defined at x.gram:1:1 and, differently, at x.gram:3:1"
    trees = loads("(a:P)-[r]->(b) (a)-[r]->(b) (a:P) (a)")
    assert reconcile(trees, "strict") == trees, "repeats and references may be"
    with pytest.raises(GramEncodeError, match="deeper"):
        reconcile(loads("[a | [b | x]] [b | (a:P)]"), "merge")


@given(forests(), st.sampled_from(POLICIES))
def test_what_is_joined_stays_as_it_is(trees: tuple[Pattern, ...], policy: Policy) -> None:
    refused = ReconcileError, GramEncodeError
    with suppress(*refused):
        assert len(reconcile(trees, policy, scopes=lambda _: "own")) == len(trees)
    with suppress(*refused):
        joined = reconcile(trees, policy)
        assert len(joined) == len(trees)
        assert reconcile(joined, policy) == joined
        assert policy != "strict" or joined == trees


def opens_at_teams(pattern: Pattern) -> Scope:
    return "own" if "Team" in pattern.value.labels else "around"


def test_strict_lets_a_name_have_two_definitions_in_two_scopes() -> None:
    trees = loads("[one:Team | (a:P)] [two:Team | (a:Q)]")
    assert reconcile(trees, "strict", scopes=opens_at_teams) == trees
    both = loads("[one:Team | (a:P), (a {k: 1})] [two:Team | (a:Q)]")
    assert dumps(reconcile(both, scopes=opens_at_teams)) == (
        "[one:Team | (a:P {k: 1}), (a:P {k: 1})]\n[two:Team | (a:Q)]"
    )
    with pytest.raises(ReconcileError):
        reconcile(trees, "strict")
