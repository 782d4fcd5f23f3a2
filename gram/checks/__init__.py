"""What can be wrong in a text: the checks that find faults, and their fixes."""

from .rules import Occurrence as Occurrence, Reading as Reading, members
from .table import CHECKS as CHECKS, Check, syntax_fault as syntax_fault
