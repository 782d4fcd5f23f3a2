"""What can be wrong in a text: the checks that find faults, and their fixes."""

from .identities import members
from .reading import Reading
from .table import CHECKS, Check, syntax_fault
