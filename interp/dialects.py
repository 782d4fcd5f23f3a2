"""The two dialects of the Chat Completions protocol: the current one and the older."""

from typing import Literal, TypeAlias

Dialect: TypeAlias = Literal["tools", "functions"]
