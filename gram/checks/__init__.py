"""What can be wrong in a text: faults, the checks that find them, and their fixes."""

from .identities import members
from .reading import Finding, Reading, Scope, Scopes, one_scope
from .table import CHECKS, Check, syntax_fault
