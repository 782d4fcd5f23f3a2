"""What can be wrong in a text: faults, the checks that find them, and their fixes."""

from .faults import Edit, Fault, PartPath, Severity, fault, only_errors
from .fixes import apply_fixes
from .identities import members
from .reading import Finding, Occurrence, Reading, Scope, Scopes, one_scope
from .table import CHECKS, Check, check, syntax_fault

__all__ = [
    "CHECKS",
    "Check",
    "Edit",
    "Fault",
    "Finding",
    "Occurrence",
    "PartPath",
    "Reading",
    "Scope",
    "Scopes",
    "Severity",
    "apply_fixes",
    "check",
    "fault",
    "members",
    "one_scope",
    "only_errors",
    "syntax_fault",
]
