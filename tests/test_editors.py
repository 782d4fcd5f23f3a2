"""What editors load is made from the grammar, and what it types is gram."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import import_module
from runpy import run_path

import pytest
from hypothesis import given, strategies as st
from pygments.lexer import Lexer

from gram import parse
from lenses_ext import validate_program
from tests.gram.texts import OURS
from tests.paths import ROOT

EDITORS = ROOT / "editors"
VSCODE = EDITORS / "vscode"
SNIPPETS = json.loads((VSCODE / "snippets" / "gram.json").read_text("utf-8"))


def test_the_textmate_grammar_is_made_from_today_s_grammar() -> None:
    made = run_path(str(EDITORS / "textmate.py"))

    assert made["FILE"].read_text("utf-8") == made["text"](), "run editors/textmate.py"


def test_every_file_that_the_extension_names_is_there() -> None:
    package = json.loads((VSCODE / "package.json").read_text("utf-8"))["contributes"]
    named = [
        *(each["configuration"] for each in package["languages"]),
        *(each["path"] for each in (*package["grammars"], *package["snippets"])),
    ]

    assert [each for each in named if not (VSCODE / each).is_file()] == []


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_types_gram_that_is_valid(name: str) -> None:
    text = "\n".join(SNIPPETS[name]["body"])
    typed = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", re.sub(r"\$\{\d+\|(\w+)[^}]*\}", r"\1", text))
    if typed.startswith("("):  # arrows, which are elements
        parse(f"[around:Workflow | {typed}]")
    else:
        codes = {each.code for each in validate_program(parse(typed))}
        assert codes <= {"undefined-reference"}  # the steps that a workflow names


def lexer() -> Lexer:
    """The lexer that Pygments finds by its entry point."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["gram"].partition(":")
    made: Lexer = getattr(import_module(module), name)()
    return made


@given(st.one_of(st.sampled_from(list(OURS.values())), st.text()))
def test_pygments_shows_every_character_of_a_text(text: str) -> None:
    pieces = list(lexer().get_tokens_unprocessed(text))

    assert "".join(piece for _, _, piece in pieces) == text
    assert [text[at : at + len(piece)] for at, _, piece in pieces] == [each[2] for each in pieces]
