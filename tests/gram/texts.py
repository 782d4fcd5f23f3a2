"""Texts to read: our own in ``tests/data/valid``, and those of the conformance data where it is."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from tests.paths import CONFORMANCE, DATA

Row = dict[str, Any]


def table(name: str) -> dict[str, Any]:
    """The cases in a file of ``tests/data``."""
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


def _rows() -> list[Row]:
    file = CONFORMANCE / "corpus.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]


ROWS = _rows()
"""The rows of the conformance data; none where it is not."""
OURS = {file.name: file.read_bytes().decode() for file in sorted((DATA / "valid").glob("*.gram"))}
ACCEPTED = OURS | {row["id"]: row["source"] for row in ROWS if row["superset_accepts"]}
"""Texts that are gram, by their names."""
