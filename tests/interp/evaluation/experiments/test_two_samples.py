import pytest
from hypothesis import given, strategies as st
from scipy import stats

from interp.evaluation.experiments import detectable, fisher, newcombe, power_of_fisher

RATES = st.floats(0, 1)


@given(st.integers(1, 25), RATES)
def test_equal_rates_are_told_apart_in_at_most_one_of_twenty(runs: int, rate: float) -> None:
    assert power_of_fisher(runs, rate, rate) <= 0.05 + 1e-9


@given(st.integers(1, 8), st.data())
def test_the_power_is_that_of_the_test(runs: int, data: st.DataObject) -> None:
    one, two = data.draw(RATES), data.draw(RATES)
    chance = sum(
        stats.binom.pmf(a, runs, one) * stats.binom.pmf(b, runs, two)
        for a in range(runs + 1)
        for b in range(runs + 1)
        if fisher(a, runs, b, runs) <= 0.05
    )
    assert power_of_fisher(runs, one, two) == pytest.approx(chance, abs=1e-9)


def test_newcombe_gives_the_intervals_of_its_paper() -> None:
    # Newcombe (1998), table II, method 10: 56/70 and 48/80, then 9/10 and 3/10.
    for (one, of_one, two, of_two), wanted in {
        (48, 80, 56, 70): (0.0524, 0.3339),
        (3, 10, 9, 10): (0.1705, 0.8090),
        (0, 10, 10, 10): (0.6075, 1.0),
    }.items():
        found = newcombe(one, of_one, two, of_two)
        assert (found.low, found.high) == pytest.approx(wanted, abs=5e-5)


def test_what_can_be_found_grows_with_the_runs() -> None:
    assert detectable(3) is None
    found = [detectable(runs) or 2 for runs in (4, 10, 20, 50)]
    assert found == sorted(found, reverse=True)
    assert found[2] == pytest.approx(0.5, abs=0.06)
