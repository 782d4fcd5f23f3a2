"""The lossless edit: rewrites a text for changed trees and keeps all other bytes."""

from .replacement import Change, Replacement, replace

__all__ = ["Change", "Replacement", "replace"]
