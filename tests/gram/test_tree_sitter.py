"""The C grammar as an oracle: whatever it accepts is read here too.

Where the two differ, by intent or by a fault of tree-sitter-gram 0.3.11, it is listed:

- Read here alone: arrays in arrays and maps, maps in maps and arrays, the empty array, a
  measurement with a fraction. These are the extensions of the notation.
- Read there, refused here: a fence tagged true or false (they are no tags), and by a fault a string
  with a line break just before its closing quote, text after a NUL, and broken strings in which
  `//` is taken for a comment.
- Refused there by a fault: strings in which `//` is taken for a comment.
"""

from __future__ import annotations

import re

import pytest
import tree_sitter
import tree_sitter_gram
from hypothesis import assume, given, strategies as st

from gram import GramDecodeError, check, parse
from gram.reading.diagnosis import first_of
from tests.gram.strategies import gram_texts, spoilt_texts, token_texts
from tests.gram.texts import table

ORACLE = tree_sitter.Parser(tree_sitter.Language(tree_sitter_gram.language()))

FAULTS_OF_THE_ORACLE = {
    "it stops at NUL": r"\0",
    "it accepts a line break just before a closing quote": r"\n[\"'`]",
    "it takes // inside quotes for a comment": r"[\"'`][^\n]*//",
}
NO_TAG = r"```[ \t\r\f\v]*(true|false)[ \t\r\f\v]*\n"


def oracle_accepts(text: str) -> bool:
    return not ORACLE.parse(text.encode()).root_node.has_error


def accepts(text: str) -> bool:
    try:
        parse(text)
    except GramDecodeError:
        return False
    return True


def is_excused(text: str) -> bool:
    """Whether a known fault of the oracle may show in a text, or a fence tagged true or false."""
    return any(re.search(fault, text) for fault in (*FAULTS_OF_THE_ORACLE.values(), NO_TAG))


def uses_an_extension(text: str) -> bool:
    return any(fault.code == "not-portable" for fault in check(parse(text)))


def texts_for_both() -> st.SearchStrategy[str]:
    """Texts that seldom run into the faults of the oracle: no line break just before a quote."""
    written = gram_texts(comments=False) | spoilt_texts(comments=False)
    return written.map(lambda text: re.sub(r"\n(?=[\"'`])", "\n ", text)) | token_texts()


@given(texts_for_both())
def test_what_the_oracle_accepts_is_read_and_what_only_we_read_uses_an_extension(text: str) -> None:
    assume(not is_excused(text))
    if oracle_accepts(text):
        parse(text)
    else:
        assert not accepts(text) or uses_an_extension(text)


TABLES = table("oracle")


@pytest.mark.parametrize("value", TABLES["read_here_alone"])
def test_the_extensions_are_read_here_alone(value: str) -> None:
    text = f"(a {{k: {value}}})"
    assert accepts(text)
    assert uses_an_extension(text)
    assert not oracle_accepts(text)


@pytest.mark.parametrize("value", TABLES["read_there_alone"])
def test_these_are_read_by_the_oracle_alone(value: str) -> None:
    assert oracle_accepts(f"(a {{k: {value}}})")
    assert not accepts(f"(a {{k: {value}}})")


def test_each_kind_of_value_has_a_spelling_to_combine() -> None:
    assert set(first_of("value")) <= TABLES["values"].keys()


@pytest.mark.parametrize("template", TABLES["templates"])
def test_every_pair_of_value_forms_is_read_as_by_the_oracle(template: str) -> None:
    spellings = [spelling for several in TABLES["values"].values() for spelling in several[:2]]
    texts = {template.format(one, other) for one in spellings for other in spellings}
    differ = {
        text
        for text in texts
        if not is_excused(text)
        and accepts(text) != oracle_accepts(text)
        and not (accepts(text) and uses_an_extension(text))
    }
    assert not differ
