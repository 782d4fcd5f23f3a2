"""Known keys are replaced in texts, however they are spelled; other texts are never changed."""

from __future__ import annotations

import gc
import json
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, strategies as st

from interp import secrets
from interp.secrets import REDACTED, known_keys, without_keys

KEYS = st.text("abcXYZ019-_./+=<>&\"'\\{}:é𝕏", min_size=16, max_size=40).filter(
    lambda key: len(set(key)) > 3
)
TEXTS = st.text("abXY01 -/\"'\\\n{}ué𝕏", max_size=20)


def json_without_keys(text: str) -> str:
    keys = known_keys()
    assert keys
    return keys.without_in_json(text)


@contextmanager
def hidden(*keys: str) -> Iterator[None]:
    kept = secrets.hide(*keys)
    yield
    del kept


@st.composite
def spelled(draw: st.DrawFn, text: str) -> str:
    """A text as the inside of a JSON string, each character spelled in any way."""
    short = {'"': ['\\"'], "\\": ["\\\\"], "/": ["/", "\\/"]}
    written = ""
    for each in text:
        units = each.encode("utf-16-be").hex()
        escape = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
        ways = [*short.get(each, [each]), escape, escape.upper().replace("\\U", "\\u")]
        written += draw(st.sampled_from(ways))
    return written


def strings_in(value: Any) -> Iterator[str]:
    """Every string of a JSON value, names too, and those inside strings that are JSON."""
    match value:
        case str():
            yield value
            try:
                inner = json.loads(value)
            except ValueError:
                return
            yield from strings_in(inner)
        case list():
            for each in value:
                yield from strings_in(each)
        case dict():
            for name, each in value.items():
                yield from strings_in(name)
                yield from strings_in(each)
        case _:
            yield json.dumps(value)


@given(KEYS, TEXTS, TEXTS)
def test_a_known_key_is_replaced_in_any_text(key: str, before: str, after: str) -> None:
    with hidden(key):
        assert key not in without_keys(before + key + after)


@given(st.data(), KEYS, TEXTS, TEXTS)
def test_no_json_hides_a_key(data: st.DataObject, key: str, before: str, after: str) -> None:
    around = (json.dumps(each)[1:-1] for each in (before, after))
    inside = data.draw(spelled(key)).join(around)
    text = data.draw(
        st.sampled_from([f'"{inside}"', f'{{"a": ["{inside}"]}}', f'{{"{inside}": null}}'])
    )
    assert any(key in each for each in strings_in(json.loads(text)))

    with hidden(key):
        clean = json_without_keys(text)
        again = json_without_keys(json.dumps({"text": text}))

    assert not any(key in each for each in strings_in(json.loads(clean)))
    assert not any(key in each for each in strings_in(json.loads(again)))


@given(KEYS, TEXTS)
def test_a_text_without_a_key_stays_as_it_is(key: str, text: str) -> None:
    with hidden(key):
        assert without_keys(text) == text
        written = json.dumps({"a": [text, 1.50, None]}, indent=1)
        assert json_without_keys(written) == written


@given(st.data(), st.lists(KEYS, min_size=1, max_size=3))
def test_pieces_of_a_text_are_shown_as_the_whole(data: st.DataObject, keys: list[str]) -> None:
    keys += [keys[0][:16], keys[0] + "more"]  # keys that begin with each other
    parts = st.one_of(
        TEXTS, st.sampled_from(keys), st.sampled_from(keys).flatmap(spelled), KEYS, st.just("\\")
    )
    parts = parts.flatmap(
        lambda part: st.integers(0, len(part)).map(lambda end: part[end:]) | st.just(part)
    )
    text = "".join(data.draw(st.lists(parts, max_size=6)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))

    with hidden(*keys):
        stream = secrets.StreamWithoutKeys(known_keys())
        ends = [*cuts, len(text)]
        pieces = [text[start:end] for start, end in zip([0, *cuts], ends, strict=True)]
        shown = "".join(map(stream.feed, pieces)) + stream.rest()

        assert shown == without_keys(text)


def test_only_what_may_be_the_beginning_of_a_key_is_held_back() -> None:
    with hidden("sk-1234567890abcdef"):
        stream = secrets.StreamWithoutKeys(known_keys())
        shown = [stream.feed(each) for each in ("task", "s sk-", "12 ", "sk-1234567890abcde", "f!")]
    assert shown == ["ta", "sks ", "sk-12 ", "", f"{REDACTED}!"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"n": 1234567890123456}', '{"n":"[redacted]"}'),
        ('{"n": "1234567890123456"}', '{"n":"[redacted]"}'),
        ('{"n": 1234567890123456', '{"n": [redacted]'),
        ('{"1234567890123456": 1, "[redacted]": 2}', '{"[redacted] 0":1,"[redacted]":2}'),
    ],
)
def test_json_without_keys_is_json_as_far_as_it_was(text: str, shown: str) -> None:
    with hidden("1234567890123456"):
        assert json_without_keys(text) == shown


# --- which texts are keys


def test_long_values_of_variables_named_as_keys_are_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "customer")
    monkeypatch.setenv("OPENAI_API_KEY", "lm-studio")
    monkeypatch.setenv("OTHER_API_KEY", " sk-0123456789abc ")
    monkeypatch.setenv("SOME_TOKEN", "not-named-as-a-key")
    said = "Adds a customer to lm-studio; not-named-as-a-key"
    assert without_keys(said) == said
    assert without_keys("it is sk-0123456789abc.") == f"it is {REDACTED}."


def test_a_hidden_key_is_known_as_long_as_what_hides_it_is_kept() -> None:
    kept = pickle.loads(pickle.dumps(secrets.hide("kept-for-some-time", None, "", "short")))
    assert without_keys("kept-for-some-time, short") == f"{REDACTED}, short"
    assert "kept-for" not in repr(kept)
    del kept
    gc.collect()
    assert without_keys("kept-for-some-time") == "kept-for-some-time"


@pytest.mark.parametrize(
    "text",
    ["a" * 1_000_000, "\\" * 1_000_000, "\\u0073k-1234567890abcde" * 20_000, '\\n\\"' * 200_000],
    ids=["plain", "backslashes", "nearly", "escapes"],
)
def test_a_text_of_millions_of_characters_is_gone_through(text: str) -> None:
    """What took a time as its square would not end here."""
    with hidden("sk-1234567890abcdef"):
        assert json_without_keys(text) == text


# --- addresses


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:pa55@host:80/v1?q=a@b", "http://host:80/v1?q=a@b"),
        ("postgresql://me:p@ss@host/db", "postgresql://host/db"),
        ("postgresql://me:p/ss@host/db", "postgresql://host/db"),
        ("postgresql://me@host/db", "postgresql://host/db"),
        ("http://host:80/@scope/x", "http://host:80/@scope/x"),
        ("http://host/a:b@c", "http://host/a:b@c"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1"),
        ("runs.db", "runs.db"),
        ("me@host:file.gram", "me@host:file.gram"),
    ],
)
def test_addresses_are_without_user_and_password(address: str, shown: str) -> None:
    assert secrets.without_userinfo(address) == shown
