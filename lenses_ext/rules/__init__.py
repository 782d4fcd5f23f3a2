"""What can be wrong in a program: tables of rules, types along arrows, validation."""

from .table import PROGRAM_CHECKS as PROGRAM_CHECKS, WORDS as WORDS
