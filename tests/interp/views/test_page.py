"""The frame of pages: self-contained, safe, and readable in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from gram.display import element
from interp.views import Interval, facts, interval_plot, page, table
from tests.interp.views.browser import PHONE, WIDE, Browser, a_browser, needs_a_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with a_browser() as found:
        yield found


def report() -> str:
    rows = [["A", 0.5], ["B with a long name", 0.75]]
    plot = interval_plot([Interval("A", 0.5, 0.4, 0.6), Interval("B", 0.75, 0.6, 0.9)], mark=0.5)
    body = facts({"cases": 40}), table(["arm", "rate"], rows, caption="Rates")
    return page("Two <arms>", *body, element("figure", plot))


@needs_a_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["desktop", "phone"])
def test_a_page_loads_nothing_and_fits(
    browser: Browser, tmp_path: Path, size: tuple[int, int], dark: bool
) -> None:
    file = tmp_path / "page.html"
    file.write_text(report(), "utf-8")
    browser.open(file, size, dark=dark)

    assert browser.asked[-1] == file.as_uri()
    assert all(each.startswith("file:") for each in browser.asked)
    assert browser.complaints == []
    assert browser.run("document.querySelector('h1').textContent") == "Two <arms>"
    assert browser.run("document.documentElement.scrollWidth") <= size[0]
    ground = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) < 200) == dark


@needs_a_browser
def test_a_script_or_a_picture_that_got_in_would_do_nothing(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    hostile = "<script>document.title = 'taken'</script><img src='http://127.0.0.1:9/x'></main>"
    file.write_text(page("kept").replace("</main>", hostile), "utf-8")
    browser.open(file)

    assert browser.run("document.title") == "kept"
    assert all("content security policy" in each.lower() for each in browser.complaints)
    assert len(browser.complaints) >= 2
    browser.complaints.clear()


numbers = st.floats(-1e12, 1e12)


@given(st.lists(st.tuples(st.text(), numbers, numbers, numbers)), numbers | st.none())
def test_any_intervals_can_be_plotted(
    rows: list[tuple[str, float, float, float]], mark: float | None
) -> None:
    plot = interval_plot([Interval(*row) for row in rows], mark=mark)

    assert plot.count("<circle") == len(rows)
    assert "nan" not in plot.split("<title>")[0]


@pytest.mark.parametrize("low", [0.0, 1e-305, 1e12])
@pytest.mark.parametrize("width", [0.0, 5e-324, 1.9e-105, 1e-4])
def test_intervals_that_are_next_to_nothing_can_be_plotted(low: float, width: float) -> None:
    assert "<circle" in interval_plot([Interval("a", low, low, low + width)])
