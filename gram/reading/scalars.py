"""What a value of one token says: one function for each rule of ``grammar.lark`` that is one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ..errors import GramEncodeError
from ..grammar import grammar
from ..trees import Measurement, Number, Symbol, TaggedString, Value, check_number, check_text
from .literals import fence_parts, unquote


def read_number(spelling: str, base: int = 10) -> Number:
    """An integer or a decimal."""
    try:
        is_decimal = base == 10 and "." in spelling
        return check_number(float(spelling) if is_decimal else int(spelling, base))
    except (ValueError, GramEncodeError):  # ValueError: Python's own limit on digits
        raise GramEncodeError("this number is too large") from None


def read_measurement(spelling: str) -> Measurement:
    """A number with its unit."""
    from string import ascii_letters  # imported late: most programs have no measurement

    digits = spelling.rstrip(ascii_letters)
    return Measurement(read_number(digits), spelling[len(digits) :])


SCALARS: dict[str, Callable[[str], Value]] = {
    "integer": read_number,
    "decimal": read_number,
    "hexadecimal": lambda spelling: read_number(spelling, 16),
    "octal": lambda spelling: read_number(spelling, 8),
    "measurement": read_measurement,
    "boolean": lambda spelling: spelling == "true",
    "symbol_value": Symbol,
    "tagged_fence": lambda spelling: TaggedString(*fence_parts(spelling)),
    "fence": lambda spelling: check_text(fence_parts(spelling)[1]),
    "string": lambda spelling: check_text(unquote(spelling)),
}
"""The name of a rule, and what reads it."""


def scalar_of(terminal: str) -> Callable[[str], Value] | None:
    """What reads a terminal in the place of a value; None when it is no value by itself."""
    return _values().get(terminal)


@cache
def _values() -> dict[str, Callable[[str], Value]]:
    return {
        rule.parts[0]: SCALARS[rule.builder]
        for rule in grammar().rules
        if rule.symbol in ("value", "bound") and len(rule.parts) == 1 and rule.builder in SCALARS
    }


def read_name(spelling: str) -> str:
    """What a bare or quoted name says."""
    return check_text(unquote(spelling)) if spelling[0] in '`"' else spelling
