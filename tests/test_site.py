"""The site has a page for what people meet, and its pages lead to each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from interp.models.program_checks import every_row
from tests.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"(?<!`)\[[^\]]+\]\(([^)\s]+)\)")


def without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    targets = [
        each.partition("#")[0] for each in LINK.findall(without_code(page.read_text("utf-8")))
    ]
    inside = [each for each in targets if each and "://" not in each]

    assert [each for each in inside if not (page.parent / each).exists()] == []


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    listed = re.findall(r"([\w/-]+\.md)$", navigation, re.MULTILINE)

    assert sorted(listed) == [page.relative_to(DOCS).as_posix() for page in PAGES]


def test_every_fault_of_programs_has_a_cause_and_a_cure() -> None:
    page = (DOCS / "reference" / "faults.md").read_text("utf-8")
    explained = set(re.findall(r"`([a-z-]+)`", page))

    assert {each.code for each in every_row()} - {"signature"} <= explained
