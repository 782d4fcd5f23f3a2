"""Where the tests find the project's files."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
DATA = ROOT / "tests" / "data"
CORPUS = DATA / "conformance" / "corpus.jsonl"
