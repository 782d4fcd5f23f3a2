"""Extras: the command that installs one is right for how the package was installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gram.extras import install

CLONE = json.dumps({"dir_info": {"editable": True}, "url": "file:///some%20where"})


@pytest.mark.parametrize(
    ("direct_url", "command"),
    [
        (CLONE, "pip install -e '/some where[prices]'"),
        (json.dumps({"dir_info": {}, "url": "file:///x"}), "pip install 'gram-agents[prices]'"),
        (None, "pip install 'gram-agents[prices]'"),
    ],
)
def test_a_clone_and_an_index_have_commands_of_their_own(
    direct_url: str | None, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gram_agents-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: gram-agents\nVersion: 1.0\n")
    if direct_url is not None:
        (folder / "direct_url.json").write_text(direct_url)
    monkeypatch.syspath_prepend(str(tmp_path))

    assert install("prices") == command
