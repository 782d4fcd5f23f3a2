"""Tool libraries: which implementation stands behind each name. They are immutable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from attrs import field, frozen
from pyrsistent import PMap, pmap

from gram.near import did_you_mean

from .errors import ToolError
from .tools import Tool


@frozen(repr=False)
class ToolLibrary(Mapping[str, Tool]):
    """Tools by name.

    ``a | b`` has the tools of both, those of ``b`` where both have one.

    >>> def hello(name: str) -> str:
    ...     '''Greets.'''
    ...     return f"Hello, {name}!"
    >>> ToolLibrary.of([hello])
    ToolLibrary(hello)
    """

    tools: PMap[str, Tool] = field(factory=pmap)

    @classmethod
    def of(cls, tools: Iterable[Tool | Callable[..., Any]]) -> ToolLibrary:
        """The library of some tools, plain functions made into tools.

        Raises:
            ToolError: a function cannot be made into a tool, or two have the same name.
        """
        from .functions.function_tools import tool  # with all that reads functions and docstrings

        library = cls()
        for each in tools:
            made = each if isinstance(each, Tool) else tool(each)
            if made.name in library:
                raise ToolError(f'two tools are named "{made.name}"')
            library = register_tool(made.name, made, library)
        return library

    def __getitem__(self, name: str) -> Tool:
        return self.tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.tools))

    def __len__(self) -> int:
        return len(self.tools)

    def __or__(self, other: ToolLibrary) -> ToolLibrary:
        if not isinstance(other, ToolLibrary):
            return NotImplemented
        return ToolLibrary(self.tools.update(other.tools))

    def restrict(self, names: Iterable[str]) -> ToolLibrary:
        """The library with only the tools of these names.

        Raises:
            ToolError: it has none of a name.
        """
        if isinstance(names, str):
            raise ToolError(f'restrict takes names, such as ["{names}"], found one str')
        return ToolLibrary(pmap({name: self._known(name) for name in names}))

    def rename(self, old: str, new: str) -> ToolLibrary:
        """The library with a tool under another name; it must not be taken.

        Raises:
            ToolError: there is no such tool, or there is one of the new name.
        """
        tool = self._known(old)
        if new in self.tools and new != old:
            raise ToolError(f'there is a tool "{new}" already')
        return register_tool(new, tool.renamed(new), ToolLibrary(self.tools.remove(old)))

    def override(self, tools: Iterable[Tool | Callable[..., Any]]) -> ToolLibrary:
        """The library with other implementations of tools it has.

        Unlike ``|`` it adds none, so a misspelled name does not go unnoticed.

        Raises:
            ToolError: a tool is not there to be replaced.
        """
        others = ToolLibrary.of(tools)
        for name in others:
            self._known(name)
        return self | others

    def _known(self, name: str) -> Tool:
        if name not in self.tools:
            hint = did_you_mean(name, self) or f"it has {', '.join(self) or 'no tools'}"
            raise ToolError(f'there is no tool "{name}" in the library; {hint}')
        return self.tools[name]

    def __repr__(self) -> str:
        return f"ToolLibrary({', '.join(self)})"


def register_tool(name: str, tool: Tool, library: ToolLibrary) -> ToolLibrary:
    """A library with one more tool, in the place of one of the same name.

    Raises:
        ToolError: ``name`` is not the tool's own.
    """
    if name != tool.name:
        raise ToolError(f'tool "{tool.name}" cannot be registered as "{name}"')
    return ToolLibrary(library.tools.set(name, tool))


def lookup_tool(name: str, library: ToolLibrary) -> Tool | None:
    """The tool of a name, or None."""
    return library.get(name)


empty_tool_library = ToolLibrary()
