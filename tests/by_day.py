"""How many examples a property has by day, if each takes long; with `search` it has them all."""

from typing import Final

from hypothesis import settings

_ALL: Final = settings().max_examples

FEWER: Final = settings(max_examples=min(_ALL, 10) if _ALL <= 25 else _ALL)
"""For a property whose examples take long."""
