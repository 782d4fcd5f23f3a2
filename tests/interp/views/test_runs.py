"""Pages: self-contained, safe and readable in a browser; that of a run has everything in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, example, given, settings, strategies as st

from gram.display import element
from interp import ApprovalNeeded, File, ScriptedModel, ToolLibrary, ask_all, load_run, run, tool
from interp.history import RecordedRun
from interp.views import Interval, facts, interval_plot, page, run_page, table
from lenses_ext import parse_program
from tests.by_day import FEWER, given_few
from tests.gram.display.test_markup import HOSTILE, Reader
from tests.interp.model_server import tool_calls
from tests.interp.views.browser import PHONE, WIDE, Browser, a_browser, needs_a_browser

PROGRAM = """
[librarian:Agent {instruction: "Find books.", model: "OpenAI/gpt-5"} |
  [search:Tool {description: "Search"} | (query::Text)==>(::Any)],
  [pay:Tool {description: "Pay"} | (amount::Integer)==>(::Any)]]
"""


def recorded(
    file: Path, said: str, result: Any, argument: str = "sea", answer: str = "Found.", **more: Any
) -> RecordedRun:
    """A run that calls a tool that answers, one that fails and one that is not there."""
    file.unlink(missing_ok=True)

    @tool
    def search(query: str) -> Any:
        """Search"""
        return result

    @tool
    def pay(amount: int) -> Any:
        """Pay"""
        raise ValueError(argument)

    calls = [("1", "search", {"query": argument}), ("2", "pay", {"amount": 4}), ("3", said, {})]
    model = ScriptedModel([tool_calls(*calls, content=said), answer])
    how = {"model": model, "match": "name", "record": file, "at_once": 1, **more}
    run(parse_program(PROGRAM), said, ToolLibrary.of([search, pay]), **how)
    return load_run(file)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with a_browser() as found:
        yield found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.gram"


def test_a_page_has_what_was_asked_called_and_answered(file: Path) -> None:
    text = Reader(run_page(recorded(file, "find a book", {"title": "Deep Sea"}))).text
    for told in (
        "find a book", "Found.", "OpenAI/gpt-5", "librarian", 'search(query: "sea")',
        "Deep Sea", "refused", "failed", "ValueError", "Find books.",
    ):  # fmt: skip
        assert told in text


def test_a_page_shows_pictures_and_loads_none(file: Path) -> None:
    agent = parse_program('[seer:Agent {instruction: "Look.", model: "OpenAI/gpt-5"}]')
    picture = File(b"GIF89a", '<b>"x.gif')
    given = ["What is this?", picture, File("https://me:pw@example.com/b.png"), File(b"%PDF-", "c")]
    run(agent, given, model=ScriptedModel(["A chart."]), record=file)

    page = run_page(load_run(file))

    assert page.count("<img ") == 1
    assert '<img src="data:image/gif;base64,R0lGODlh"' in page
    assert "<b>" not in page
    text = Reader(page).text
    assert "https://example.com/b.png (image/png)" in text
    assert "c (application/pdf, 5 bytes)" in text
    assert "pw@" not in Reader(page.partition("The program")[0]).text


hostile = st.text(min_size=1, max_size=40) | st.sampled_from(HOSTILE)


@settings(FEWER, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hostile.filter(str.strip), hostile, hostile)  # a message of blanks alone begins no run
def test_no_text_changes_the_structure(file: Path, said: str, result: str, answer: str) -> None:
    page, plain = (
        Reader(run_page(recorded(file, *texts)))
        for texts in ((said, result, said, answer), ("x", "x", "x", "x"))
    )
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert [set(each) for _, each in page.tags] == [set(each) for _, each in plain.tags]


def test_long_results_are_cut_and_it_is_said(file: Path) -> None:
    page = run_page(recorded(file, "x", "y" * 1_000_000))
    assert "more characters" in page
    assert len(page) < 700_000


def test_a_run_that_waits_says_for_what(file: Path) -> None:
    with pytest.raises(ApprovalNeeded):
        recorded(file, "pay", None, policy=ask_all)
    text = Reader(run_page(load_run(file))).text
    assert "waits for approval" in text
    assert "pay(amount: 4)" in text


# --- in a browser


@pytest.fixture
def show(browser: Browser, file: Path, tmp_path: Path) -> Callable[..., RecordedRun]:
    """Opens the page of a run."""

    def opened(size: tuple[int, int] = WIDE, *, dark: bool = False, times: int = 1) -> RecordedRun:
        kept = recorded(file, "find </main> a book", {"title": "Deep <i>Sea</i>" + " long" * 500})
        page = tmp_path / "page.html"
        page.write_text(run_page(evolve(kept, entries=kept.entries * times)), "utf-8")
        browser.open(page, size, dark=dark)
        return kept

    return opened


SEEN = "[...document.querySelectorAll('.timeline > .entry')].filter((e) => !e.hidden).length"

# The first letters of a word are searched too, and find more.
SEARCHED = """new Promise((done) => {
  const told = document.querySelector('.search output');
  const look = () => told.textContent === '%s' ? done() : setTimeout(look, 20);
  look();
})"""


@needs_a_browser
def test_a_page_is_searched_and_opened_with_the_keyboard(
    browser: Browser, show: Callable[..., RecordedRun]
) -> None:
    show()
    before = browser.run(SEEN)
    browser.press("/")
    for key in "ValueError":
        browser.press(key)
    browser.run(SEARCHED % "1 of 5")

    assert (before, browser.run(SEEN)) == (5, 1)

    browser.press("Escape")
    assert browser.run(SEEN) == 5

    for _ in range(3):  # past the two buttons to the first entry
        browser.press("Tab")
    browser.press("Enter")
    assert browser.run("document.querySelector('.timeline details').open")


@needs_a_browser
def test_without_a_script_everything_still_opens(
    browser: Browser, show: Callable[..., RecordedRun], tmp_path: Path
) -> None:
    show()
    page = tmp_path / "page.html"
    text = page.read_text("utf-8")
    page.write_text(f"{text[: text.index('<script>')]}</body></html>", "utf-8")
    browser.open(page)

    assert browser.run("document.querySelector('.search').hidden")
    browser.run("document.querySelector('.timeline summary').click()")
    assert browser.run("document.querySelector('.timeline details').open")


@needs_a_browser
def test_a_page_of_thousands_of_entries_opens_and_is_searched(
    browser: Browser, show: Callable[..., RecordedRun], tmp_path: Path
) -> None:
    show(PHONE, times=400)

    assert browser.run(SEEN) == 2000
    assert (tmp_path / "page.html").stat().st_size < 8_000_000
    browser.run(
        "document.querySelector('input').value = 'ValueError';"
        "document.querySelector('input').dispatchEvent(new Event('input'))"
    )
    browser.run(SEARCHED % "400 of 2000")
    assert browser.run(SEEN) == 400


def report() -> str:
    rows = [["A", 0.5], ["B with a long name", 0.75]]
    plot = interval_plot([Interval("A", 0.5, 0.4, 0.6), Interval("B", 0.75, 0.6, 0.9)], mark=0.5)
    body = facts({"cases": 40}), table(["arm", "rate"], rows, caption="Rates")
    return page("Two <arms>", *body, element("figure", plot))


@needs_a_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["desktop", "phone"])
def test_pages_load_nothing_fit_and_complain_of_nothing(
    browser: Browser,
    show: Callable[..., RecordedRun],
    tmp_path: Path,
    size: tuple[int, int],
    dark: bool,
) -> None:
    show()
    browser.asked, browser.complaints = [], []  # those of other tests
    file = tmp_path / "report.html"
    file.write_text(report(), "utf-8")
    for each in (tmp_path / "page.html", file):
        browser.open(each, size, dark=dark)
        browser.run("document.querySelectorAll('details').forEach((each) => each.open = true)")
        assert browser.run("document.documentElement.scrollWidth") <= size[0]
        assert browser.run("document.querySelectorAll('i, b').length") == 0

    assert browser.asked[-1] == file.as_uri()
    assert all(each.startswith("file:") for each in browser.asked)
    assert browser.complaints == []
    assert browser.run("document.querySelector('h1').textContent") == "Two <arms>"
    ground = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) < 200) == dark


@needs_a_browser
def test_a_script_or_a_picture_that_got_in_does_nothing(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    hostile = "<script>document.title = 'taken'</script><img src='http://127.0.0.1:9/x'></main>"
    file.write_text(page("kept").replace("</main>", hostile), "utf-8")
    browser.open(file)

    assert browser.run("document.title") == "kept"
    assert all("content security policy" in each.lower() for each in browser.complaints)
    assert len(browser.complaints) >= 2
    browser.complaints.clear()


numbers = st.floats(-1e12, 1e12)


@example([("a", 0.0, 0.0, 5e-324)], None)  # next to nothing
@example([("a", 1e-305, 1e-305, 1e-305)], None)
@example([("a", 1e12, 1e12, 1e12 + 1e-4)], None)
@given_few(st.lists(st.tuples(st.text(), numbers, numbers, numbers)), numbers | st.none())
def test_any_intervals_can_be_plotted(
    rows: list[tuple[str, float, float, float]], mark: float | None
) -> None:
    plot = interval_plot([Interval(*row) for row in rows], mark=mark)
    assert plot.count("<circle") == len(rows)
    assert "nan" not in plot.split("<title>")[0]
