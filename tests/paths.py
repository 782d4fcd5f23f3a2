"""Where the tests find the project's files."""

import os
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
DATA = ROOT / "tests" / "data"

CONFORMANCE = Path(os.environ.get("GRAM_CONFORMANCE") or ROOT / "no conformance data")
"""What other projects wrote, which is not ours to ship; see CONTRIBUTING.md."""
NOT_HERE = "GRAM_CONFORMANCE names no folder with the conformance data"


def tables(name: str) -> dict[str, Any]:
    """The tables of a file of test data."""
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of a file of test data."""
    found: list[dict[str, Any]] = tables(name)["case"]
    return found
