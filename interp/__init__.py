"""Runs agents: the interpreter, its tools and its models.

`load` a program, call `run` with a message and a `ToolLibrary`, and read the response. The machine
is `start` and `step` of `interp.machine`, which do no I/O. Importing this package loads no
network library.

``__init__.pyi`` lists the module of each name; the module is loaded when the name is first used,
so that every command starts fast.
"""

from collections.abc import Callable
from importlib import import_module

from gram.fronts import front

from .shown import NOTEBOOK

__getattr__, __dir__, __all__ = front(__name__, __file__)


def _when_shown(name: str, room: str = ".views") -> Callable[[object], dict[str, str]]:
    """A function of a room, which is loaded when it is first called."""
    return lambda shown: getattr(import_module(room, __name__), name)(shown)  # type: ignore[no-any-return]  # a function


NOTEBOOK.update(
    comparison=_when_shown("comparison_form", ".evaluation.experiments.report"),
    conversation=_when_shown("conversation_form"),
    run=_when_shown("run_form"),
)
