"""Programs exchanged with others: Open Agent Spec, both ways, and what has no counterpart."""

from .agent_spec import Exchanged, Loss, from_agent_spec, to_agent_spec
from .properties import NoCounterpartError

__all__ = ["Exchanged", "Loss", "NoCounterpartError", "from_agent_spec", "to_agent_spec"]
