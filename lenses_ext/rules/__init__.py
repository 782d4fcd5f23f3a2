"""What can be wrong in a program: tables of rules, types along arrows, validation."""

from .flow_checks import PROGRAM_CHECKS as PROGRAM_CHECKS
from .validation import program_checks as program_checks
from .words import WORDS as WORDS
