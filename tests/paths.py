"""Where the tests find the project's files."""

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def without_rights(path: Path, file: int, folder: int) -> Iterator[None]:
    """As somebody who may do with a file and its folder what their modes say: root may all."""
    path.chmod(file)
    path.parent.chmod(folder)
    if is_root := os.geteuid() == 0:
        os.seteuid(65534)  # nobody
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        path.parent.chmod(0o755)
