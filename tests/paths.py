"""Where the tests find the project's files."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
DATA = ROOT / "tests" / "data"

CONFORMANCE = Path(os.environ.get("GRAM_CONFORMANCE") or ROOT / "no conformance data")
"""What other projects wrote, which is not ours to ship; see CONTRIBUTING.md."""
NOT_HERE = "GRAM_CONFORMANCE names no folder with the conformance data"
