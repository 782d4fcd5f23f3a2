"""Where the tests find the project's files."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
DATA = ROOT / "tests" / "data"
SHARED_CORPUS = ROOT.parent / "shared" / "conformance" / "corpus.jsonl"
