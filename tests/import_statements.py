"""Where a file imports, for tests of what may and what has to be."""

import ast
from functools import cache
from pathlib import Path


@cache
def import_statements(path: Path) -> list[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The imports anywhere in a file, each with whether only type checkers see it."""
    found: list[tuple[ast.Import | ast.ImportFrom, bool]] = []
    left: list[tuple[ast.AST, bool]] = [(ast.parse(path.read_text("utf-8")), False)]
    while left:
        node, is_for_types = left.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append((node, is_for_types))
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                left += ((each, True) for each in node.body)
                left += ((each, is_for_types) for each in node.orelse)
            case _:
                for part in ("body", "orelse", "finalbody", "handlers", "cases"):
                    left += ((each, is_for_types) for each in getattr(node, part, ()))
    return found
