"""Keys are shown, logged and saved nowhere."""

from __future__ import annotations

import gc
import json
import logging
import os
from base64 import b64encode
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote as percent, quote_plus

import pytest
from hypothesis import given, strategies as st

from gram import Pattern
from interp import ConfigurationError, connect_model, hello_world_tool_library, run
from interp.models.providers import OFFLINE
from interp.redaction import REDACTED, RedactedStream, hide, redact, redact_error
from tests.gram import strategies as strategies
from tests.interp.model_server import Answer, ModelServer, tool_calls

KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=255), min_size=8, max_size=30).filter(
    lambda key: key == key.strip() and key not in REDACTED and REDACTED not in key
)


@given(KEYS, strategies.texts(), strategies.texts())
def test_a_known_key_is_redacted_in_any_text(key: str, before: str, after: str) -> None:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SOME_API_KEY", key)
        shown = redact(before + key + after)
        logged = redact(json.dumps({"said": before + key + after}))

    assert key not in shown.replace(REDACTED, "")
    assert key not in json.dumps(logged.replace(REDACTED, ""))
    assert REDACTED in shown


@pytest.mark.parametrize(
    "text", ["A bearer instrument", "ssh://git@host/x", "Authorization: mandatory", "http://a:b@c"]
)
def test_only_exact_keys_are_replaced_in_answers(text: str) -> None:
    assert redact(text) == text


@given(st.text(min_size=8, max_size=20).filter(lambda key: key == key.strip()), strategies.texts())
def test_a_key_is_redacted_in_the_repr_of_a_text(key: str, around: str) -> None:
    kept = hide(key)
    for form in (repr, ascii):
        for text in (around + key, key + around, f"'{key}", f'"{key}', f"'\"{key}"):
            for shown in (form(text), json.dumps(form(text))):
                assert form(key)[1:-1] not in redact(shown)
                assert REDACTED in redact(shown)
    assert repr(kept) == "Hidden(1 value)"


@given(KEYS, strategies.texts())
def test_a_key_is_redacted_in_an_address(key: str, around: str) -> None:
    kept = hide(key)
    for spelled in (percent(key), percent(key, safe=""), quote_plus(key)):
        assert redact(f"{around}?k={spelled}&v=1") == redact(f"{around}?k={key}&v=1")
    assert kept


@given(strategies.texts())
def test_a_text_without_a_key_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abcdefgh12", "Authorization: Bearer [redacted]"),
        ('{"authorization": "Basic YWxhZGRpbjo="}', '{"authorization": "Basic [redacted]"}'),
        ("sent bearer sk-123456789.", "sent bearer [redacted]"),
        ("see http://me:pa55@host/v1", "see http://[redacted]@host/v1"),
        ("a bearer of news", "a bearer of news"),
        ("http://host/a@b", "http://host/a@b"),
        ("ssh://git@host/x", "ssh://git@host/x"),
    ],
)
def test_whatever_looks_like_a_credential_is_redacted_in_errors(text: str, shown: str) -> None:
    assert redact_error(text) == shown


@given(KEYS, strategies.texts(), st.data())
def test_no_part_of_a_key_is_left_in_errors(key: str, around: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(key) - 8))
    end = data.draw(st.integers(start + 8, len(key)))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SOME_API_KEY", key)
        shown = redact_error(around + key[start:end] + around)

    left = shown.replace(REDACTED, "\n")
    assert not [at for at in range(len(key) - 7) if key[at : at + 8] in left]


@pytest.mark.parametrize(
    "echoed",
    [
        "sk-pr***********************ab9Z",
        "sk-p...ab9Z",
        "sk-pr…ab9Z",
        "'sk-pr",
        '{"key": "sk-pro',
        "key=b9Zw",
        "SK-PROJ-7HFKZ",
        "•••••b9Zw",
        "sk-proj-7h********",
    ],
)
def test_what_is_left_of_a_key_that_was_cut_or_masked_is_hidden(
    monkeypatch: pytest.MonkeyPatch, echoed: str
) -> None:
    key = "sk-proj-7hfkzQm2XvTab9Zw"
    monkeypatch.setenv("SOME_API_KEY", key)
    shown = redact_error(f"Incorrect key: {echoed.replace('ab9Z', 'b9Zw')}").lower()

    found = shown.replace(REDACTED, "\n")
    assert not [at for at in range(len(key) - 3) if key[at : at + 4].lower() in found]


@given(st.binary(max_size=4), KEYS)
def test_an_encoded_key_is_hidden_in_errors(before: bytes, key: str) -> None:
    kept = hide(key)
    given = before + key.encode()
    encoded, hexadecimal = b64encode(given).decode(), given.hex()

    shown = redact_error(f"{encoded} {hexadecimal}")

    assert key.encode().hex() not in shown
    assert len(shown) < len(f"{encoded} {hexadecimal}")
    assert encoded not in shown
    assert kept


@pytest.mark.parametrize("text", ["a project", "unknown", "sk- is how keys begin", "no. 12"])
def test_ordinary_words_stay_in_errors(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-project-known-none-12")

    assert redact_error(text) == text


def test_a_short_password_is_hidden_in_errors() -> None:
    kept = hide("pa55", "none")

    assert redact_error('no user with "pa55", none') == f'no user with "{REDACTED}", none'
    assert kept


def test_a_value_that_was_handed_over_is_hidden_as_long_as_it_is_kept() -> None:
    kept = hide("handed over", "short", None)

    assert redact("it was handed over in short") == f"it was {REDACTED} in short"
    assert "handed over" not in repr(kept)
    del kept
    gc.collect()
    assert redact("it was handed over") == "it was handed over"


KEY = 'sk-v"ery+secret'
PARTS = [
    f"{KEY} ",
    f" {json.dumps(KEY)},",
    "sk-v",
    "Authorization : ",
    "bearer ",
    "Basic\n",
    "abcdefgh",
]
PARTS += ["http://", "me:pä", "55@", "host", " ", "\n", "word", "汉", '"', ":", "="]


def streamed(text: str, lengths: list[int], key: str) -> tuple[str, str]:
    """What is shown of a text that comes in pieces, and what `redact` makes of it."""
    rest, shown = text, ""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SOME_API_KEY", key)
        stream = RedactedStream()
        for length in lengths:
            shown += stream.feed(rest[:length])
            rest = rest[length:]
        return shown + stream.feed(rest) + stream.rest(), redact(text)


LENGTHS = st.lists(st.integers(1, 9))


@given(st.lists(st.sampled_from(PARTS)), LENGTHS)
def test_where_a_text_is_cut_does_not_change_what_is_shown(
    parts: list[str], lengths: list[int]
) -> None:
    shown, whole = streamed("".join(parts), lengths, KEY)

    assert shown == whole


@given(KEYS, strategies.texts(), strategies.texts(), LENGTHS)
def test_no_key_is_shown_however_it_is_cut(
    key: str, before: str, after: str, lengths: list[int]
) -> None:
    shown, _ = streamed(before + key + after, lengths, key)

    assert key not in shown.replace(REDACTED, "")


def test_only_what_may_be_the_beginning_of_a_key_is_held_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LONG_API_KEY", "sk-" + "x" * 5_000)
    stream = RedactedStream()

    shown = [stream.feed(word) for word in ["one ", "two ", "ask", "-x", "x ", "s", "o"]]

    assert shown == ["one ", "two ", "a", "", "sk-xx ", "", "so"]
    assert stream.rest() == ""


@given(st.lists(st.text("ab", min_size=8, max_size=12), min_size=1, max_size=3), st.data())
def test_keys_that_overlap_are_streamed_as_they_are_redacted_whole(
    keys: list[str], data: st.DataObject
) -> None:
    parts = data.draw(st.lists(st.sampled_from(keys) | st.text("abc", max_size=5)))
    text = "".join(parts)
    with pytest.MonkeyPatch.context() as environment:
        for number, key in enumerate(keys):
            environment.setenv(f"KEY{number}_API_KEY", key)
        stream = RedactedStream()
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
        pieces = [text[a:b] for a, b in pairwise([0, *cuts, len(text)])]
        shown = "".join(map(stream.feed, pieces)) + stream.rest()

        assert shown == redact(text)


def test_a_key_is_known_by_the_users_row_that_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = tmp_path / "p.toml"
    rows.write_text('[Cloud]\nbase_url = "http://x"\nkey = "CLOUD_PASS"\n')
    monkeypatch.setenv("GRAM_PROVIDERS", str(rows))
    monkeypatch.setenv("CLOUD_PASS", "cloud-secret")
    connect_model(str(OFFLINE))

    assert redact("cloud-secret") == REDACTED


def test_the_error_for_a_broken_providers_file_shows_no_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GRAM_PROVIDERS", str(tmp_path / "nowhere.toml"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-key")

    assert redact("sk-secret-key") == REDACTED


def test_a_short_value_is_not_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    assert redact("there is none") == "there is none"


def test_requests_replies_and_tools_are_logged_without_the_key(
    hello_world: Pattern, model_server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    key = os.environ["OPENAI_API_KEY"]
    call = tool_calls(("c1", "sayHello", {"personName": key}))
    model_server.will_say(call, f"Your key is {key}.")

    with caplog.at_level(logging.DEBUG, "interp"):
        run(hello_world, f"I am {key}", hello_world_tool_library)

    ours = [record for record in caplog.records if record.name.startswith("interp.")]
    said = "\n".join(record.getMessage() for record in ours)
    assert [record.name for record in ours] == [
        "interp.model", "interp.model", "interp.tools", "interp.tools", "interp.model",
        "interp.model",
    ]  # fmt: skip
    assert "I am [redacted]" in said
    assert 'call sayHello {"personName":"[redacted]"}' in said
    assert "Your key is [redacted]." in said
    assert key not in said


def test_nothing_is_formatted_when_nobody_listens_to_the_log(
    hello_world: Pattern, model_server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    model_server.will_say("hello")

    run(hello_world, "hi", hello_world_tool_library)

    assert not [record for record in caplog.records if record.name.startswith("interp")]


def test_a_provider_that_echoes_the_key_is_quoted_without_it(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    key = os.environ["OPENAI_API_KEY"]
    model_server.will_say(Answer({"error": {"message": f"Incorrect API key: {key}"}}, 401))

    with pytest.raises(ConfigurationError) as caught:
        run(hello_world, "hi", hello_world_tool_library)

    assert "Incorrect API key: [redacted]" in str(caught.value)
