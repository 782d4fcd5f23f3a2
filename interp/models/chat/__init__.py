"""Chat Completions, in its current form and in its older one."""

from .request import ChatCompletions, request_body

__all__ = ["ChatCompletions", "request_body"]
