"""The gram notation: immutable trees, reading and writing them, places in the text.

``loads``/``dumps`` go between text and trees, ``parse`` keeps the places, ``to_json``/``from_json``
speak the canonical JSON. This package knows nothing of agents.

``__init__.pyi`` tells where each name lives; it is loaded when it is first asked for.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
