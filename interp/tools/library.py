"""Tool libraries: immutable mappings from the names of tools to their implementations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NoReturn, TypeAlias, Union

from attrs import evolve, field, frozen
from pyrsistent import PMap, pmap

import lenses_ext
from gram import ArgumentError, Pattern, origin
from gram.documents import resolved
from gram.errors import expect, expect_all
from gram.words import did_you_mean
from lenses_ext import is_tool, view
from lenses_ext.language import tool_spec_of

from ..errors import ConfigurationError, ToolError, said_by
from ..programs import the_agent
from .from_functions.function_tools import tool as tool_of_function
from .from_functions.tools_of_others import framework_of, tool_of_others
from .implementation import Tool, is_from_outside


def split_name(given: str) -> tuple[str, str]:
    """The parts of ``FILE.py:name``; without a name, it is empty.

    >>> split_name("tools.py:greet"), split_name("tools.py")
    (('tools.py', 'greet'), ('tools.py', ''))
    """
    file, colon, name = given.rpartition(":")
    return (file, name) if colon and file.endswith(".py") else (given, "")


def import_file(path: Path) -> ModuleType:
    """Import a file as a module; it can import from its folder, as a script can.

    What is not Python, or fails, is a ConfigurationError; what cannot be read an OSError.
    """
    import importlib.util  # imported late: most commands read no Python

    resolved(path)  # refuses what is no path
    path.open("rb").close()  # an unreadable file is an OSError, as for every other input
    spec = importlib.util.spec_from_file_location(f"_tools_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look up the module
    folder = str(path.parent.resolve())
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:  # user code may raise anything
        if is_from_outside(error):
            raise
        if isinstance(error, ToolError) and str(error).startswith(f"{path}:"):
            raise ConfigurationError(str(error)) from error  # it says its place itself
        at = f"\n  at {path}:{line}" if (line := _line_in(path, error)) else ""
        raise ConfigurationError(f"{path} fails: {said_by(error)}{at}") from error
    finally:
        if folder in sys.path:  # the code may have changed the path itself
            sys.path.remove(folder)
    return module


def _line_in(path: Path, error: BaseException) -> int | None:
    name = str(path.absolute())  # as the import calls it
    if isinstance(error, SyntaxError) and error.filename == name:
        return error.lineno
    import traceback  # imported late: most files run

    frames = traceback.extract_tb(error.__traceback__)
    return next((each.lineno for each in reversed(frames) if each.filename == name), None)


def tool_of_agent(agent: Pattern) -> Tool:
    """An agent or workflow as a tool of a library.

    It takes the place of the specification that it implements, when a run begins.

    Raises:
        ValidationError: it has a fault, or a reference that is not resolved.
        ToolError: it is the specification of a tool.
    """
    if isinstance(agent, Pattern) and is_tool(agent):
        message = f'"{agent.value.identity}" is a specification, which implements nothing'
        raise ToolError(f"{message}; give a function, a Tool or an agent")
    program = the_agent(agent, by="tool_of_agent")
    spec = tool_spec_of(program)
    place = origin(program)
    return Tool(
        view(lenses_ext.tool_spec_name, spec),
        view(lenses_ext.tool_spec_description, spec),
        view(lenses_ext.tool_spec_schema, spec),
        _not_by_itself,
        result_schema=lenses_ext.result_schema(spec),
        place=str(place) if place else None,
        agent=program,
    )


def _not_by_itself(_: dict[str, Any]) -> NoReturn:
    raise ToolError("this tool is an agent: it is run inside the run of a program that names it")


_MOST_SHOWN = 12  # names of tools, in a repr


def _under_their_names(tools: Mapping[str, Tool]) -> PMap[str, Tool]:
    expect(tools, Mapping, "tools (or use ToolLibrary.of)", by="ToolLibrary")
    for name, tool in tools.items():
        expect(name, str, "a name", by="ToolLibrary")
        expect(tool, Tool, f'tools["{name}"]', by="ToolLibrary")
        if name != tool.name:
            raise ToolError(f'tool "{tool.name}" cannot be registered as "{name}"')
    return tools if isinstance(tools, PMap) else pmap(tools)


@frozen(repr=False)
class ToolLibrary(Mapping[str, Tool]):
    """An immutable mapping from names to tools.

    ``a | b`` has the tools of both; if both have a tool of the same name, it is that of ``b``.
    ``a + b`` has them too, but neither wins: a name that both have is an error once a program uses
    it. `ToolLibrary.of` makes a library from tools and functions.

    Args:
        tools: the tools, each under its own name.

    Attributes:
        ambiguous: the tools of each name that several added libraries have; such a name is not
            in the mapping.

    Raises:
        ArgumentError: the argument is not a mapping from names to tools.
        ToolError: a tool is under another name than its own.

    >>> def hello(name: str) -> str:
    ...     '''Greets.'''
    ...     return f"Hello, {name}!"
    >>> ToolLibrary.of(hello)
    ToolLibrary(hello)
    """

    tools: PMap[str, Tool] = field(default=pmap(), converter=_under_their_names)
    ambiguous: PMap[str, tuple[Tool, ...]] = field(default=pmap(), kw_only=True)

    @classmethod
    def of(cls, *tools: ToolSource | Iterable[ToolSource] | Mapping[str, Tool]) -> ToolLibrary:
        """Make a library from tools and functions.

        Args:
            tools: tools, functions, tools of LangChain, LlamaIndex, smolagents and pydantic-ai,
                Python files and modules with tools, iterables of these, and libraries.

        Raises:
            ArgumentError: an argument is something else.
            ToolError: a function cannot be made into a tool, or two tools have the same name.
        """
        return cls(_by_name(tools, "ToolLibrary.of: tools"))

    def __getitem__(self, name: str) -> Tool:
        return self.tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.tools))

    def __len__(self) -> int:
        return len(self.tools)

    def __or__(self, other: ToolLibrary) -> ToolLibrary:
        if not isinstance(other, ToolLibrary):
            return NotImplemented
        ambiguous = _without(self.ambiguous, other.tools).update(other.ambiguous)
        tools = _without(self.tools.update(other.tools), other.ambiguous)
        return ToolLibrary(tools, ambiguous=ambiguous)

    def __add__(self, other: ToolLibrary) -> ToolLibrary:
        if not isinstance(other, ToolLibrary):
            return NotImplemented
        ambiguous = self.ambiguous
        for name in other.tools.keys() | other.ambiguous.keys():
            here, there = self._named(name), other._named(name)
            both = (*here, *(each for each in there if each not in here))
            if len(both) > 1:
                ambiguous = ambiguous.set(name, both)
        tools = _without(self.tools.update(other.tools), ambiguous)
        return ToolLibrary(tools, ambiguous=ambiguous)

    def why_ambiguous(self, name: str) -> str | None:
        """Where the tools of a name are, if several added libraries have one; else None."""
        expect(name, str, "name", by="why_ambiguous")
        if name not in self.ambiguous:
            return None
        places = [each.place or "unknown place" for each in self.ambiguous[name]]
        return (
            f'{len(places)} libraries have a tool "{name}": {" and ".join(places)}; '
            "restrict or rename one, or add them with | to prefer the last"
        )

    def _named(self, name: str) -> tuple[Tool, ...]:
        """All tools of a name: several if it is ambiguous."""
        return self.ambiguous.get(name) or ((self.tools[name],) if name in self.tools else ())

    def restrict(self, names: Iterable[str]) -> ToolLibrary:
        """The library with only the tools of these names.

        Raises:
            ArgumentError: ``names`` is not an iterable of names.
            ToolError: the library has no tool of a name.
        """
        chosen = expect_all(names, str, "names", by="restrict")
        return ToolLibrary({name: self._known(name) for name in chosen})

    def rename(self, old: str, new: str) -> ToolLibrary:
        """The library with a tool under another name, which no other tool may have.

        Raises:
            ToolError: the library does not have the tool, or has another of the new name.
        """
        tool = self._known(old)
        expect(new, str, "a name", by="ToolLibrary")
        if (new in self.tools or new in self.ambiguous) and new != old:
            raise ToolError(f'there is a tool "{new}" already')
        others = evolve(self, tools=self.tools.remove(old))
        return register_tool(new, evolve(tool, name=new), others)

    def override(
        self, *tools: ToolSource | Iterable[ToolSource] | Mapping[str, Tool]
    ) -> ToolLibrary:
        """The library with some of its tools replaced; the arguments are those of `of`.

        Unlike ``|`` it adds no tools, so that a misspelled name is an error.

        Raises:
            ToolError: the library has no tool of a name.
        """
        others = ToolLibrary.of(*tools)
        for name in others:
            if name not in self.ambiguous:
                self._known(name)
        return self | others

    def _known(self, name: str) -> Tool:
        expect(name, str, "a name", by="ToolLibrary")
        if reason := self.why_ambiguous(name):
            raise ToolError(reason)
        if name not in self.tools:
            hint = did_you_mean(name, self) or f"it has {', '.join(self) or 'no tools'}"
            raise ToolError(f'there is no tool "{name}" in the library; {hint}')
        return self.tools[name]

    def __repr__(self) -> str:
        names = [*self]
        more = ["…"] if len(names) > _MOST_SHOWN else []
        return f"ToolLibrary({', '.join([*names[:_MOST_SHOWN], *more])})"


ToolSource: TypeAlias = Union[Tool, Pattern, Callable[..., Any], str, Path, ModuleType]
"""A tool, a function or an agent that one is made of, or a Python file or module with tools."""

LibraryLike: TypeAlias = Union[
    ToolLibrary, ToolSource, Iterable[ToolSource], Mapping[str, Tool], None
]
"""A library; or what one is made of: tools, functions, Python files and modules; or None."""


def load_tools(source: str | Path | ModuleType) -> ToolLibrary:
    """The tools of a Python file or module: those at its top level, and of libraries there.

    Args:
        source: a file, ``FILE.py:name`` for one tool or library in it, or a module.

    Raises:
        OSError: the file cannot be read.
        ConfigurationError: its code fails, or it has no tools.
    """
    expect(source, (str, Path, ModuleType), "source", by="load_tools")
    if isinstance(source, ModuleType):
        return _all_tools(vars(source), source.__name__)
    file, name = split_name(str(source))
    values = vars(import_file(Path(file)))
    if not name:
        return _all_tools(values, file)
    if name not in values:
        found = [key for key, value in values.items() if _has_tools(value)]
        hint = did_you_mean(name, found) or f"it has {', '.join(found) or 'no tools'}"
        raise ConfigurationError(f'{file} has no "{name}"; {hint}')
    try:
        return library_of(values[name], by=str(source))
    except ArgumentError:
        kind = type(values[name]).__name__
        raise ConfigurationError(
            f'"{name}" in {file} is of the type {kind}: a tool, a list of tools or a '
            "ToolLibrary is needed"
        ) from None


def _all_tools(values: Mapping[str, Any], shown: str) -> ToolLibrary:
    """The tools of a module, or else the functions in its lists of nothing but functions."""
    lists = [each for each in values.values() if isinstance(each, list | tuple) and each]
    of_functions = [each for each in lists if all(isinstance(it, FunctionType) for it in each)]
    library = ToolLibrary()
    for value in [*filter(_has_tools, values.values())] or of_functions:
        library = library | library_of(value, by=shown)
    if not library:
        raise ConfigurationError(f"{shown} has no tools: decorate functions with @tool")
    return library


def _has_tools(value: object) -> bool:
    """Whether a value of a module is meant as tools: helpers may be functions, too."""
    if isinstance(value, list | tuple):
        return any(map(_has_tools, value))
    return isinstance(value, Tool | ToolLibrary) or framework_of(value) is not None


def library_of(given: LibraryLike, *, by: str) -> ToolLibrary:
    """The library that a function was called with, which errors name; see `ToolLibrary.of`."""
    if given is None:
        return empty_tool_library
    if isinstance(given, ToolLibrary):
        return given
    return ToolLibrary(_by_name((given,), f"{by}: tools"))


def register_tool(name: str, tool: Tool, library: LibraryLike) -> ToolLibrary:
    """A library with a tool added under its own name; it replaces a tool of the same name.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ToolError: ``name`` is not the tool's own.
    """
    added = ToolLibrary({name: tool})
    return library_of(library, by="register_tool") | added


def lookup_tool(name: str, library: LibraryLike) -> Tool | None:
    """The tool with a name, or None.

    Raises:
        ArgumentError: an argument is of the wrong type.
    """
    return library_of(library, by="lookup_tool").get(name)


def _without(named: PMap[str, Any], names: Iterable[str]) -> PMap[str, Any]:
    for name in named.keys() & {*names}:
        named = named.remove(name)
    return named


def _by_name(given: Iterable[Any], named: str) -> dict[str, Tool]:
    """The tools that were given, by name; functions are made into tools."""
    made: dict[str, Tool] = {}
    for each in _flat(given, named):
        if isinstance(each, Tool):
            found = each
        elif isinstance(each, Pattern):
            found = tool_of_agent(each)
        else:
            found = tool_of_others(each) or tool_of_function(each)
        if found.name in made:
            raise ToolError(f'two tools are named "{found.name}"')
        made[found.name] = found
    return made


def _flat(tools: Iterable[Any], named: str) -> Iterator[Any]:
    """Yield the tools and functions, also those inside iterables and libraries."""
    for each in tools:
        is_one = isinstance(each, Tool | Pattern) or callable(each)
        if is_one or framework_of(each):  # before iterables: LangChain's tools are some
            yield each
        elif isinstance(each, ModuleType | Path) or (
            isinstance(each, str) and split_name(each)[0].endswith(".py")
        ):
            yield from load_tools(each).values()
        elif isinstance(each, Mapping):
            yield from _flat(ToolLibrary(each).values(), named)
        elif isinstance(each, Iterable) and not isinstance(each, str | bytes):
            yield from _flat(each, named)
        else:
            found = type(each).__name__
            raise ArgumentError(
                f"{named} must be tools, functions, modules or Python files, got {found}"
            )


empty_tool_library = ToolLibrary()
"""The library without tools."""
