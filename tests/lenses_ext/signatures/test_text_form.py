"""The text form has a grammar made of gram's tokens, and says what a path says."""

import pytest
from hypothesis import strategies as st

from gram.grammar import compile_grammar, digest, load_grammar, table_of
from lenses_ext import parse_type_signature, result_schema, type_signature_to_json_schema
from lenses_ext.signatures.text_form import _GRAMMAR, _Builder, is_text_form
from tests.by_day import given_few
from tests.gram.reading.test_grammar import conflicts_of
from tests.gram.strategies import names

DEFINITION = _GRAMMAR.read_text(encoding="utf-8")


def test_the_table_is_what_the_grammar_says_without_conflicts_and_each_rule_has_a_method(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert digest(DEFINITION) in table_of(_GRAMMAR).read_text(encoding="utf-8"), (
        f"text_form.lark was edited: run python -m gram.grammar {_GRAMMAR}"
    )
    assert compile_grammar(DEFINITION) == load_grammar(_GRAMMAR)
    assert conflicts_of(DEFINITION, caplog) == []
    rules = {rule.builder for rule in compile_grammar(DEFINITION).rules if rule.builder}
    assert rules <= {name for name in dir(_Builder) if not name.startswith("_")}


def quoted(name: str) -> str:
    """A name as both forms write it."""
    for old, new in (("\\", "\\\\"), ("`", "\\`"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        name = name.replace(old, new)
    return f"`{name}`"


types = st.sampled_from([
    ("Text", "Text", ""), ("Maybe Int", "Int", "optional: true"), ("(Number)", "Number", ""),
    ("[Bool]", "Array", 'elementType: "Bool"'),
    ("Maybe [Text]", "Array", 'elementType: "Text", optional: true'),
    ("[Maybe Text]", "Array", 'items: json`{"anyOf": [{"type": "string"}, {"type": "null"}]}`'),
])  # fmt: skip


@given_few(st.lists(st.tuples(names().filter(str.isprintable), types), max_size=4))
def test_a_text_form_says_what_the_path_says(
    members: list[tuple[str, tuple[str, str, str]]],
) -> None:
    members = list(dict(members).items())
    text = ", // a comment\n".join(f"{quoted(name)}: {type}" for name, (type, _, _) in members)
    path = "==>".join(
        f"({quoted(name)}::{label} {{{record}}})" for name, (_, label, record) in members
    )

    form, path = f"({text}) --> IO [Text]", f"{path or '()'}==>(::Array {{elementType: Text}})"

    assert is_text_form(form)
    assert not is_text_form(path)
    if all(name for name, _ in members):  # a path says an empty name with paramName
        assert type_signature_to_json_schema(form) == type_signature_to_json_schema(path)
        assert result_schema(form) == result_schema(path)


@pytest.mark.parametrize(
    "name", ["my-param", "`two words`", '"double"', "IO", "Maybe", "7", "true"]
)
def test_names_are_those_of_gram(name: str) -> None:
    (parameter,) = parse_type_signature(f"({name}: Text) --> IO Text").parameters
    assert parameter.name == name.strip('`"')
