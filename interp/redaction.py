"""Other names for what is in `interp.secrets`, until nobody uses them."""

from .secrets import Hidden, hide, without_keys as redact_error

__all__ = ["Hidden", "hide", "redact_error"]
