"""Chat Completions, in its current form and in its older one."""

from .chat_completions import ChatCompletions, request_body

__all__ = ["ChatCompletions", "request_body"]
