"""How much a run may do."""

from __future__ import annotations

from attrs import field, frozen, validators


@frozen
class Limits:
    """The limits of one run. Reaching one raises LimitError, which keeps the state.

    Attributes:
        iterations: rounds of tool calls; one more reply that calls tools is over the limit.
        tool_calls: calls of tools in all.
    """

    iterations: int = field(default=10, validator=validators.ge(0))
    tool_calls: int = field(default=100, validator=validators.ge(0))
