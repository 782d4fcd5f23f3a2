"""Gram in colour: pieces, HTML, and what notebooks and rich show of a pattern."""

from __future__ import annotations

import re
from html import unescape

from rich.text import Text

from gram import Pattern, Subject, dumps, graph_of, highlighted, html_of, loads_one, origin, parse
from gram.comparing import diff
from gram.display import notebook_form
from gram.showing import Presentation, present
from tests.by_day import given_few
from tests.gram.strategies import patterns


@given_few(patterns())
def test_the_pieces_are_the_text(tree: Pattern) -> None:
    text = dumps(tree)
    assert "".join(piece for _, piece in highlighted(text)) == text
    assert unescape(re.sub("<[^>]*>", "", html_of(text))) == text


def test_each_piece_has_its_kind() -> None:
    text = "[a::B:`c d` {k: \"v\", 'l': [x, 1.5, true], m: {n: tag`z`}} | e] // why"

    kinds: dict[str, list[str]] = {}
    for kind, piece in highlighted(text):
        kinds.setdefault(kind, []).append(piece.strip())

    assert kinds["name"] == ["a", "e"]
    assert kinds["label"] == ["B", "`c d`"]
    assert kinds["key"] == ["k", "'l'", "m", "n"]
    assert kinds["string"] == ['"v"', "`z`"]
    assert kinds["word"] == ["x", "true", "tag"]
    assert kinds["number"] == ["1.5"]
    assert kinds["comment"] == ["// why"]


def test_a_notebook_shows_trees_diffs_and_documents_and_never_takes_them_as_html() -> None:
    form = loads_one('(a {k: "<script>"})')._repr_mimebundle_()

    assert form["text/plain"] == '<Pattern (a {k: "<script>"})>'
    assert "&lt;script&gt;" in form["text/html"]
    assert "<script>" not in form["text/html"]
    assert set(form) == {"text/plain", "text/html"}
    changed = diff(loads_one("(a {k: 1})"), loads_one('(a {k: "<b>"})'))._repr_mimebundle_()
    assert '(:Changed {at: [0, "properties", "k"], new: "<b>", old: 1})' in changed["text/plain"]
    assert "&lt;b&gt;" in changed["text/html"]
    written = parse("( a )  // why", "a.gram")._repr_mimebundle_()
    assert written["text/plain"] == "<Document 'a.gram', 1 pattern>"
    assert unescape(re.sub("<[^>]*>", "", written["text/html"])) == "( a )  // why"


def test_a_long_text_is_cut_and_says_so() -> None:
    tree = Pattern(Subject("a", properties={"k": "x" * 2_000_000}))
    assert len(notebook_form(tree)["text/html"]) < 1_000_000
    assert "more characters" in notebook_form(tree)["text/html"]


def test_a_language_says_how_its_patterns_are_shown() -> None:
    present("TestOnlyLabel", Presentation(lambda _: "(written)", lambda _: "flowchart LR"))
    form = notebook_form(loads_one("(a:TestOnlyLabel)"))
    assert form["text/vnd.mermaid"] == "flowchart LR"
    assert form["text/markdown"] == "```mermaid\nflowchart LR\n```"
    assert "written" in form["text/html"]


def test_graphs_and_places_have_short_reprs_and_rich_has_colours() -> None:
    tree = parse("(a)-->(b)", "a.gram").patterns[0]
    assert repr(origin(tree)) == "<Origin a.gram:1:1>"
    assert str(loads_one("(a:B)").__rich__()) == "(a:B)"
    assert isinstance(loads_one("(a:B)").__rich__(), Text)
    assert repr(graph_of(tree)) == (
        "<Graph: 2 nodes, 1 relationships, 0 walks, 0 annotations, 0 others>"
    )
