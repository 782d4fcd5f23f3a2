"""How many examples a property has by day, if each takes long; with `search` it has them all."""

from collections.abc import Callable
from typing import Any, Final

from hypothesis import given, settings, strategies as st

_ALL: Final = settings().max_examples

FEWER: Final = settings(max_examples=10 if _ALL <= 25 else _ALL)


def given_few(*drawn: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Any]:
    """As `given`, with `FEWER` examples."""
    return lambda test: FEWER(given(*drawn)(test))
