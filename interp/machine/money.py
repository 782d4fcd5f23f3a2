"""Money, as runs count and show it: exact decimals, in US dollars."""

from __future__ import annotations

from decimal import Decimal


def dollars(amount: object) -> Decimal:
    """An amount as an exact decimal, so that sums do not depend on their order.

    >>> dollars(0.1) + dollars("0.2")
    Decimal('0.3')
    """
    return amount if isinstance(amount, Decimal) else Decimal(str(amount))


def shown_price(price: Decimal) -> str:
    """A price in dollars, in cents or, when it is small, with two digits that count.

    >>> shown_price(Decimal("1.2345")), shown_price(Decimal("0.000080123")), shown_price(Decimal(0))
    ('1.23', '0.00008', '0.00')
    >>> shown_price(Decimal("0.6"))
    '0.60'
    """
    if not price or price >= Decimal("0.1"):
        return f"{price:.2f}"
    return f"{price.quantize(Decimal(10) ** (price.adjusted() - 1)):f}".rstrip("0")
