"""Fixtures of tests that talk to servers."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(params=["aiohttp", "httpx2"])
def each_transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """New connections are made by aiohttp, then as where it is not installed."""
    import openai  # it looks for aiohttp only once

    assert openai.DefaultAioHttpClient is not None
    name: str = request.param
    if name == "aiohttp":
        pytest.importorskip("aiohttp")
    else:
        monkeypatch.setitem(sys.modules, "aiohttp", None)
    return name
