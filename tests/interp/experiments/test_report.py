"""What is shown of an experiment: text, JSON, HTML, and in notebooks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from interp import Case, ab, load_experiment
from tests.interp.experiments.worlds import arm, cases, failing, half, right


def test_the_page_links_to_the_runs_that_differ(tmp_path: Path) -> None:
    found = ab(cases(6), {"half": arm(half), "full": arm(right)}, out=tmp_path / "x", seed=1)

    page = found.to_html(tmp_path)

    links = re.findall(r'href="([^"]*)"', page)
    assert len(links) == 6  # three cases, two arms
    assert all((tmp_path / each).exists() for each in links)
    assert page.count("<svg") == 2
    assert "http:" not in page.replace("http://www.w3.org/2000/svg", "")


def test_nothing_that_an_arm_says_becomes_markup() -> None:
    hostile = '<script>alert("x")</script>'
    found = ab(
        [Case(name=hostile, input=hostile, has_expected=True, expected="y")],
        {hostile: arm(lambda _: hostile), "b": arm(lambda _: "y")},
        seed=1,
    )

    assert hostile not in found.to_html()
    assert hostile not in found._repr_mimebundle_()["text/html"]


def test_keys_are_in_no_file_and_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-0123456789-secret"
    monkeypatch.setenv("SOME_API_KEY", key)
    said = [Case(name="c", input=f"say {key}", columns={"note": key})]

    found = ab(said, {"a": arm(right), "b": arm(lambda text: text)}, out=tmp_path / "x", seed=1)

    written = "".join(each.read_text() for each in tmp_path.rglob("*.gram"))
    assert key not in written + found.to_html(tmp_path)
    assert load_experiment(tmp_path / "x").is_complete
    again = ab(said, {"a": arm(right), "b": arm(lambda text: text)}, out=tmp_path / "y", seed=1)
    assert again.plan.hash == found.plan.hash


def test_json_has_all_figures_and_trials() -> None:
    found = ab(cases(6), {"a": arm(half), "b": arm(failing)}, ["passed", "calls"], seed=1)

    read = json.loads(json.dumps(found.to_json()))

    assert [each["metric"] for each in read["comparisons"]] == ["passed", "calls"]
    assert {"low", "high"} == set(read["comparisons"][0]["interval"])
    assert len(read["trials"]) == 12
    assert sum(each["failure"] is not None for each in read["trials"]) == 6


def test_a_notebook_shows_the_table_and_the_figures() -> None:
    found = ab(cases(2), {"a": arm(right)}, seed=1)

    bundle = found._repr_mimebundle_()

    assert bundle["text/plain"] == found.table()
    assert "<table" in bundle["text/html"]
    assert "<html" not in bundle["text/html"]
