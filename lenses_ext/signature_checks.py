"""Checks of a signature that was read: what only shows when its types are put together."""

from __future__ import annotations

from gram import Fault

from .signature import TypeSignature
from .signature_reader import SignatureReader


def check_signature(signature: TypeSignature, reader: SignatureReader) -> list[Fault]:
    """What is wrong with a signature whose parts are right, each with its place."""
    return []
