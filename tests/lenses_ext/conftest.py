"""The files of projects, for tests of what is read of several files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

Written: TypeAlias = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Writes the files of a project, or ``.gram`` files by name; the first is given back."""

    def write(files: Mapping[str, str | bytes] = {}, /, **named: str) -> Path:
        (tmp_path / "gram.toml").touch()
        files = {**files, **{f"{name}.gram": text for name, text in named.items()}}
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / next(iter(files))

    return write
