"""YAML as JSON values, and texts that would do harm."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
import yaml
from hypothesis import given, strategies as st

from interp.json_text import write_json
from lenses_ext.schemas import json_values, read_yaml
from tests.by_day import given_few

texts = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")))
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda below: st.lists(below) | st.dictionaries(texts, below),
    max_leaves=20,
)


@given_few(values)
def test_what_another_writer_writes_is_read_as_it_was(value: object) -> None:
    assert read_yaml(yaml.safe_dump(value, allow_unicode=True)) == value


@given(st.text())
def test_any_text_is_a_value_or_a_value_error(text: str) -> None:
    with suppress(ValueError):
        write_json(read_yaml(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("made: 2020-01-01", {"made": "2020-01-01"}),
        ("ok: yes\nno: off", {"ok": "yes", "no": "off"}),
        ("200: fine", {"200": "fine"}),
        ("n: [0x1f, 0o17, 1_000, 1e3, .5, .inf, 12:30]",
         {"n": [31, 15, "1_000", 1000.0, 0.5, ".inf", "12:30"]}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("!!str 5", "5"),
        ("", None),
    ],
)  # fmt: skip
def test_scalars_are_those_of_json(text: str, value: object) -> None:
    assert read_yaml(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2", "line 4, column 3: the key 'c' is given twice"),
        ("a: [1,\n b: }", "line 2, column 5: did not find"),
        ("a: \x01", "characters are not allowed"),
        ("a: !!python/name:os.system x", "line 1, column 4: could not determine a constructor"),
        ("a: 1\n---\nb: 2", "line 2, column 1: but found another document"),
        ("a: *b", "found undefined alias"),
        ("a: &a [*a]", "nests deeper than 200 levels"),
        ("? [1]\n: 2", "a key has to be a text"),
        ("a: {<<: 1}", "line 1, column 5: YAML 1.2 has no <<"),
        ("[" * 300 + "]" * 300, "nests deeper than 200 levels"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        read_yaml(text)


LAUGHS = [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
LONG = f"a: &a {'x' * 100_000}\nb: [{','.join(['*a'] * 1000)}]"


@pytest.mark.parametrize(
    "bomb", ["\n".join(["a0: &a0 [lol]", *LAUGHS]), LONG, "[" * 10_000, "- " * 10_000]
)
def test_bombs_are_refused_before_they_grow(bomb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_values, "_MOST", 200_000)
    with pytest.raises(ValueError, match=r"aliases repeat|nests deeper|maximum nesting"):
        read_yaml(bomb)
