"""What a new kind of comment in the grammar costs: nothing. It is read, laid out and edited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import ModuleType

import attrs
import pytest
from hypothesis import HealthCheck, given, settings

import gram.grammar
from gram import Document, Subject, format_text, loads, parse
from gram.grammar import GRAMMAR, table_of
from gram.reading import diagnosis, lexer, parser, scalars
from tests.by_day import FEWER
from tests.gram.strategies import gram_texts

KINDS = {
    "to the end of the line": (r"HASH: /#[^\n]*/", r"#\1"),
    "between marks": (r"STARRED: /\/\*[^*]*+(?:\*++[^*\/][^*]*+)*\*++\//", r"/*\1*/"),
}


def with_another_comment(kind: str, text: str, says: str = r"[^\r\n]*") -> str:
    """A text whose comments are of another kind."""
    return re.sub(f"//({says})", KINDS[kind][1], text)


def forget(*modules: ModuleType) -> None:
    """Drop all that was derived from a grammar."""
    for module in modules:
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


@pytest.fixture(params=KINDS, scope="module")
def kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The package with a grammar that has one kind of comment more."""
    name = KINDS[request.param][0].partition(":")[0]
    edited = tmp_path_factory.mktemp("grammar") / "grammar.lark"
    definition = GRAMMAR.read_text(encoding="utf-8")
    edited.write_text(f"{definition}\n{KINDS[request.param][0]}\n%ignore {name}\n", "utf-8")
    table_of(edited).write_text('{"digest": "of none"}', "utf-8")
    derived = (gram.grammar, lexer, parser, lexer, scalars, diagnosis)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gram.grammar.GRAMMAR", edited)
        forget(*derived)
        yield request.param
    forget(*derived)


NUMBER = r" \d+"
"""What the comments of a generated text say; its strings hold `//` with other words."""


def comments_of(kind: str, text: str) -> list[str]:
    """The numbers of the comments of a text."""
    opener = "#" if kind == "to the end of the line" else r"/\*"
    return sorted(re.findall(opener + NUMBER, text))


@settings(FEWER, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(gram_texts())
def test_an_edit_and_the_layout_keep_it_as_they_keep_the_known_kind(kind: str, text: str) -> None:
    plain, document = parse(text), parse(with_another_comment(kind, text, NUMBER))
    laid_out = format_text(document.text)
    assert loads(laid_out) == plain.patterns
    assert comments_of(kind, laid_out) == comments_of(kind, document.text)
    assert format_text(laid_out) == laid_out
    edited, expected = renamed(document), renamed(plain)
    assert edited.rescued == ()
    assert loads(edited.text) == edited.patterns
    expected_text = with_another_comment(kind, expected.text, NUMBER)
    assert comments_of(kind, edited.text) == comments_of(kind, expected_text)


def renamed(document: Document) -> Document:
    """The document with another name and one more property for each of its patterns."""

    def changed(old: Subject) -> Subject:
        return attrs.evolve(old, identity="new", properties={**old.properties, "new": 1})

    return document.replace(
        attrs.evolve(each, value=changed(each.value)) for each in document.patterns
    )
