"""What is shown of an experiment: text, JSON, HTML, and in notebooks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from interp import Case, ab, open_store
from interp.evaluation import load_experiment
from interp.evaluation.experiments.report import report
from tests.interp.evaluation.experiments.worlds import arm, cases, failing, half, right
from tests.interp.views.browser import PHONE, a_browser, needs_a_browser


def test_the_report_links_to_a_page_of_each_run_that_differs(tmp_path: Path) -> None:
    found = ab(cases(6), {"half": arm(half), "full": arm(right)}, out=tmp_path / "x", seed=1)

    found.write_html(tmp_path / "my report.html")

    report = (tmp_path / "my report.html").read_text()
    links = [unquote(each) for each in re.findall(r'href="([^"]*)"', report)]
    assert len(links) == len(set(links)) == 6  # three cases, two arms
    pages = [(tmp_path / each).read_text() for each in links]
    assert all(page.startswith("<!doctype html>") for page in pages)
    assert "<title>case 0: half</title>" in pages[0]
    assert "say 0" in pages[0]
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "my report.html",
        "my report.runs",
        "x",
    ]
    assert report.count("<svg") == 2
    assert "http:" not in report.replace("http://www.w3.org/2000/svg", "")


_EACH = "[...document.querySelectorAll('%s')].map(each => each.%s)"


@needs_a_browser
def test_on_a_phone_no_name_is_broken_and_answers_keep_their_lines(tmp_path: Path) -> None:
    arms = {"first": arm(right), "longer": arm(lambda text: f"{text.upper()}\nand more")}
    ab(cases(2), arms, out=tmp_path / "x", seed=1).write_html(tmp_path / "r.html")

    with a_browser() as browser:
        browser.open(tmp_path / "r.html", PHONE)
        browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
        links = browser.run(_EACH % ("td a", "getClientRects().length"))  # one a line
        answers = browser.run(_EACH % ("td .lines", "innerText"))
        width = browser.run("document.documentElement.scrollWidth")

    assert set(links) == {1}
    assert "SAY 0\nand more" in answers
    assert width == PHONE[0]
    assert browser.complaints == []


def test_a_record_that_is_gone_has_no_page_and_the_report_is_whole(tmp_path: Path) -> None:
    found = ab(cases(2), {"half": arm(half), "full": arm(right)}, out=tmp_path / "x", seed=1)
    gone, edited = (each.run.run for group in found.differing() for each in group if each.run)
    with open_store(tmp_path / "x" / "runs.db") as store:
        store.ready().execute("DELETE FROM gram_entries WHERE run = ?", gone)
        store.ready().execute("UPDATE gram_entries SET text = '[' WHERE run = ?", edited)

    found.write_html(tmp_path / "r.html")

    assert "href=" not in (tmp_path / "r.html").read_text()
    assert gone in (tmp_path / "r.html").read_text()
    assert not (tmp_path / "r.runs").exists()


def test_nothing_that_an_arm_says_becomes_markup() -> None:
    hostile = '<script>alert("x")</script>'
    found = ab(
        [Case(name=hostile, input=hostile, expected="y")],
        {hostile: arm(lambda _: hostile), "b": arm(lambda _: "y")},
        seed=1,
    )

    assert hostile not in report(found)
    assert hostile not in found._repr_mimebundle_()["text/html"]


def test_what_a_model_says_brings_no_key_into_files_and_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-0123456789-secret"
    monkeypatch.setenv("SOME_API_KEY", key)
    said = [Case(name="c", input="say it")]

    found = ab(said, {"a": arm(right), "b": arm(lambda _: f"{key}!")}, out=tmp_path / "x", seed=1)

    found.write_html(tmp_path / "report.html")
    written = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert {each.suffix for each in written} >= {".gram", ".html"}
    assert not [each for each in written if key.encode() in each.read_bytes()]
    assert load_experiment(tmp_path / "x").is_complete


def test_json_has_all_figures_and_trials() -> None:
    found = ab(cases(6), {"a": arm(half), "b": arm(failing)}, ["passed", "calls"], seed=1)
    read = json.loads(json.dumps(found.to_json()))
    assert [each["metric"] for each in read["comparisons"]] == ["passed", "calls"]
    assert {"low", "high"} == set(read["comparisons"][0]["interval"])
    assert len(read["trials"]) == 12
    assert sum(each["failure"] is not None for each in read["trials"]) == 6


def test_a_notebook_shows_the_table_and_the_figures_and_what_a_comparison_comes_to() -> None:
    found = ab(cases(2), {"a": arm(right), "b": arm(right)}, seed=1)
    bundle = found._repr_mimebundle_()
    assert bundle["text/plain"] == found.table()
    assert "<table" in bundle["text/html"]
    assert "<html" not in bundle["text/html"]
    shown = found.comparisons[0]._repr_mimebundle_()["text/html"]
    assert "passed: b − a<" in shown
    assert 'aria-label="difference, p, ' in shown  # columns without words are left out
    assert "no difference shown" in shown
