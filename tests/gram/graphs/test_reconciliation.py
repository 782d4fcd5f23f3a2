"""Joining the occurrences of a name."""

from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from gram import GramEncodeError, GramError, Pattern, dumps, loads, parse
from gram.graphs import Policy, ReconcileError, reconcile
from gram.trees import Scope
from tests.gram.strategies import forests

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
    assert isinstance(error.value, GramError)
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
