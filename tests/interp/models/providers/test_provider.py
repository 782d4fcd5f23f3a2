"""What counts as an address, wherever one is written."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from interp.models.providers.provider import is_address


@pytest.mark.parametrize(
    "text", ["http://x", "https://api.openai.com/v1", "HTTP://[::1]:8000/", "http://me:pw@x:1"]
)
def test_addresses_have_a_scheme_and_a_host(text: str) -> None:
    assert is_address(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "//x", "localhost:8000", "ftp://x", "http://", "http://:80", "http://[x",
        "http://x:99999", "http://x:0", "http://x:y", "http://\u2024", "http://ä",
        "http://x/v1\x01", "http://x/a b", "http://x\n", " http://x", "http://x/\x7f", "http://x/\u3000",
    ],
)  # fmt: skip
def test_what_no_request_can_be_sent_to_is_none(text: str) -> None:
    assert not is_address(text)


@given(st.text() | st.text().map("http://{}".format))
def test_any_text_is_one_or_is_none(text: str) -> None:
    assert is_address(text) in (True, False)
