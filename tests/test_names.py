"""Every public name and every command says what it is, each on one page."""

from __future__ import annotations

import runpy

from tests.paths import ROOT


def test_the_page_of_public_names_is_what_the_docstrings_say() -> None:
    written = runpy.run_path(str(ROOT / ".ci" / "names"))["page"]()

    page = (ROOT / "docs" / "reference" / "names.md").read_text(encoding="utf-8")
    assert page == written, "write it anew with .venv/bin/python .ci/names"


def test_the_page_of_commands_is_what_their_help_says() -> None:
    written = runpy.run_path(str(ROOT / ".ci" / "commands"))["page"]()

    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    assert page == written, "write it anew with .venv/bin/python .ci/commands"
