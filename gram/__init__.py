"""The gram notation: immutable trees, reading and writing them, places in the text.

- Text and trees: ``loads``, ``loads_one``, ``load_file``, ``dumps``, ``dump_file``,
  ``format_text``; the trees are `Pattern`, `Subject` and the values; ``to_json``, ``from_json``
  and ``json_schema`` are the canonical JSON; ``read_in_pieces`` reads a long text without keeping
  its trees.
- Trees: ``walk``, ``walk_up``, ``pattern_at``, ``replace_at``, ``origin``, and the module
  ``operations`` with map, fold, filter and more; ``graph_of``, ``reconcile``, ``to_networkx``.
- Documents: ``parse`` and ``parse_file`` give a `Document`, which keeps the place of every part
  and whose ``replace`` changes no more of the text than it must.
- Checks: ``check``, ``apply_fixes``, ``syntax_errors``; a `Check` is a rule, and finds
  a `Diagnostic` in a `Reading`.
- Errors: `GramError` is the root of all.
- For a language that is made of gram: the rooms below, such as `gram.reading` (constructs and
  tokens), `gram.writing` (spelling), `gram.checks` and `gram.documents` (the saving of files).

This package knows nothing of agents.

``__init__.pyi`` lists where each name is defined; a name is loaded when it is first used.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from .fronts import front
from .showing import WAYS

__getattr__, __dir__, __all__ = front(__name__, __file__)


def _when_called(room: str, name: str) -> Callable[[Any], Any]:
    """A function of a room, which is loaded when it is first called."""
    return lambda what: getattr(import_module(room, __name__), name)(what)


WAYS.update(
    subject=_when_called(".writing", "abridged_subject"),
    pattern=_when_called(".writing", "abridged"),
    notebook=_when_called(".display", "notebook_form"),
    rich=_when_called(".display", "rich_text"),
)
