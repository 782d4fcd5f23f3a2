"""Writes conversations and responses as gram, and reads them back."""

from .conversation_files import Session, load_context, save_context, session

__all__ = ["Session", "load_context", "save_context", "session"]
