"""Runs agents: the interpreter, its tools and its models.

``load`` a program, give `run` a message and a `ToolLibrary`, read the response. The machine
itself is `start` and `step`, which do no I/O. Importing this loads no network library.

``__init__.pyi`` tells where each name lives; it is loaded when it is first asked for, so that a
command pays only for what it uses.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
