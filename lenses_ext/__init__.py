"""The agent language as typed views over gram patterns: lenses, signatures, validation.

``view``, ``put`` and ``over`` read and edit an agent through the lenses below; nothing here runs
one. Importing this loads no schema validator and no network library.

``__init__.pyi`` tells where each name lives; it is loaded when it is first asked for.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
