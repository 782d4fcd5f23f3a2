"""The checks of the notation: `table` has one row for each rule and runs them."""

from .fixes import apply_fixes
from .table import CHECKS, Check, check, syntax_fault

__all__ = ["CHECKS", "Check", "apply_fixes", "check", "syntax_fault"]
