"""What the specification expects of `lenses_ext` in `interp`, which all rules are loaded for.

Building an agent needs none of them, so it is not with the others in `interp.building`.
"""

from lenses_ext import validate_agent_pattern

__all__ = ["validate_agent_pattern"]
