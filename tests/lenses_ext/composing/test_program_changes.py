"""What changed between two programs, in words, and what it means for whom."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from gram import loads
from lenses_ext import create_tool_specification, parse_program, tool_spec_schema, view
from lenses_ext.composing import ProgramChange, changes, level_of
from lenses_ext.schemas import differences
from lenses_ext.signatures import result_schema
from lenses_ext.strategies import programs
from tests.by_day import given_few
from tests.gram.strategies import TreeEditor, gram_texts, tree_editors
from tests.gram.texts import ACCEPTED
from tests.lenses_ext.strategies import signature_texts
from tests.paths import cases


def marked(change: ProgramChange) -> str:
    """A change with what it means before it: its level, ``f`` for functions, ``b``, ``d``."""
    said = change.said
    flags = {"f": said.unbinds, "b": said.behaves, "d": said.is_detail}
    return f"{said.level}{''.join(each for each, is_set in flags.items() if is_set)} {change}"


def told(old: str, new: str) -> list[str]:
    """The changes between two texts."""
    return [marked(each) for each in changes(parse_program(old), parse_program(new))]


@pytest.mark.parametrize("case", cases("changes.toml"))
def test_changes_are_told_in_the_words_of_the_language(case: dict[str, Any]) -> None:
    assert told(case["old"], case["new"]) == case["told"]
    assert told(case["new"], case["new"]) == []


SEARCH = '[search:Tool {description: "Searches."} | (q::Text)==>(::String)]'


def test_a_signature_whose_types_are_elsewhere_is_told_as_text_and_may_break_callers() -> None:
    old, new = (SEARCH.replace("String", name) for name in ("Hit", "Place"))
    assert told(old, new) == [
        'majorf tool `search`: signature "(q::Text)==>(::Hit)" → "(q::Text)==>(::Place)" '
        "(one of them has no meaning by itself, so it may break callers)"
    ]


def test_long_texts_are_cut_to_what_differs() -> None:
    words = " ".join(f"word{n}" for n in range(99))
    old, new = (SEARCH.replace("Searches.", each) for each in (words, words[:-3]))
    (said,) = told(old, new)
    assert said.endswith('"… word95 word96 word97 word98" → "… word95 word96 word97 wor"')


def test_the_level_of_a_program_is_the_greatest_and_order_has_none() -> None:
    programs = [
        parse_program(text) for text in ("(a) (b)", "(b) (a)", "(a) (b) (t:Tool)", "(a) (b)")
    ]

    assert level_of(changes(programs[0], programs[0])) is None
    assert level_of(changes(programs[0], programs[1])) is None
    assert level_of(changes(programs[0], programs[2])) == "minor"
    assert level_of(changes(programs[2], programs[3])) == "major"
    assert len(changes((), programs[2])) == 3


REAL = st.sampled_from(sorted(ACCEPTED)).map(lambda name: loads(ACCEPTED[name]))


@given(programs() | gram_texts().map(loads) | REAL, tree_editors())
def test_no_change_of_a_tree_is_silent(old: tuple[object, ...], editor: TreeEditor) -> None:
    new = editor.edit(editor.edit(old))  # type: ignore[arg-type]  # patterns
    assert bool(changes(old, new)) == (old != new)  # type: ignore[arg-type]  # patterns


def test_a_notebook_shows_changes_as_a_table_and_never_takes_them_as_html() -> None:
    old, new = ('[a:Agent {instruction: "x"}]', '[a:Agent {instruction: "<b>y</b>"}]')
    form = changes(parse_program(old), parse_program(new))._repr_mimebundle_()
    none = changes(parse_program(old), parse_program(old))._repr_mimebundle_()
    assert form["text/plain"].startswith("patch agent `a`: ")
    assert "&lt;b&gt;" in form["text/html"]
    assert none["text/plain"] == "nothing has changed"


@given_few(signature_texts(), signature_texts())
def test_what_breaks_a_caller_or_a_function_is_never_told_as_compatible(old: str, new: str) -> None:
    one, other = (create_tool_specification("t", "D.", each) for each in (old, new))
    schemas = view(tool_spec_schema, one), view(tool_spec_schema, other)
    results = result_schema(one), result_schema(other)

    found = changes(one, other)

    breaks = differences(*schemas, match="types") or differences(
        *results, match="types", result=True
    )
    unbinds = differences(*schemas[::-1]) or differences(*results[::-1], result=True)
    assert level_of(found) == "major" or not breaks
    assert any(each.said.unbinds for each in found) or not unbinds
