"""Extras: the command that installs one is right for how the package was installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gram.extras import install

CLONE = {"dir_info": {"editable": True}, "url": "file:///some%20where"}
GIT = {"vcs_info": {"vcs": "git"}, "url": "https://a.example/b.git"}


@pytest.mark.parametrize(
    ("direct_url", "command"),
    [
        (CLONE, "pip install -e '/some where[prices]'"),
        ({"dir_info": {}, "url": "file:///x"}, "pip install '/x[prices]'"),
        (GIT, "pip install 'gram-agents[prices] @ git+https://a.example/b.git'"),
        ({"url": "file:///g.whl"}, "pip install 'gram-agents[prices] @ file:///g.whl'"),
        (None, "pip install 'gram-agents[prices]'"),
    ],
)
def test_what_installs_an_extra_is_right_for_how_the_package_was_installed(
    direct_url: object, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gram_agents-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: gram-agents\nVersion: 1.0\n")
    if direct_url is not None:
        (folder / "direct_url.json").write_text(json.dumps(direct_url))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert install("prices") == command
