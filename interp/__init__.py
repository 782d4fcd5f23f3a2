"""Runs agents: the interpreter, its tools and its models.

`load` a program, call `run` with a message and a `ToolLibrary`, and read the response. The machine
is `start` and `step`, which do no I/O. Importing this package loads no network library.

``__init__.pyi`` lists the module of each name; the module is loaded when the name is first used,
so that every command starts fast.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
