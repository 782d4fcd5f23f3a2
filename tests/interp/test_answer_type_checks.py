"""What type checkers find of answers of Python types."""

from __future__ import annotations

from tests.paths import ROOT
from tests.type_checkers import basedpyright_errors, marked, mypy_errors

USES = ROOT / "tests" / "typing" / "answers_misused.py"
REFUSED = marked(USES)


def test_mypy_refuses_every_misuse_and_nothing_else() -> None:
    found = mypy_errors(USES)

    assert sorted(found) == sorted(REFUSED), found
    assert all(message in found[number] for number, message in REFUSED.items()), found


def test_basedpyright_refuses_every_misuse_and_nothing_else() -> None:
    assert sorted(basedpyright_errors(USES)) == sorted(REFUSED)
