"""The tools and checks that a command is given: in Python files, of servers, of documents."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

import click

from gram import Pattern
from gram.json import Json
from gram.words import counted
from lenses_ext import result_schema, tool_spec_description, tool_spec_name, tool_spec_schema, view

from ...errors import ConfigurationError, ToolBindingError, ValidationError
from ...json_text import read_json
from ...machine import tools_from_json
from ...models import Filling
from ...programs import the_tools, tools_to_bind
from ...tools import (
    ONE_OF_A_NAME,
    Tool,
    ToolLibrary,
    clash_of,
    empty_tool_library,
    import_file,
    load_tools,
    specs_by_name,
    split_name,
)
from ...tools.mcp import McpLibrary, mcp_library
from ...tools.openapi import openapi_library
from ..process import interruptible
from ..terminal.console import forbid, note, tell
from .declaring import Options, option
from .files import STDIN, read_program, read_text
from .project import tools_of_project

if TYPE_CHECKING:
    from ...evaluation.cases import Check
    from ...history.records import RecordedRun

_SERVERS: Final = re.compile(r"(.+\.json)(?::(.+))?")
_MOST_TOLD: Final = 5
_SETTING: Final = re.compile(r"([\w.-]+)=(\S*)\s+(?=\S)")


stand_ins_option: Any = option(
    "Tools to run in the place of recorded ones; none that is marked once is run.", "FILE.py[:NAME]"
)
"""Tools that are run instead of recorded ones. A project file does not give any."""


class ServerOptions(Options):
    """The options that name tools of servers and documents."""

    mcp: tuple[str, ...] = option(
        "An MCP server with tools: its command, its address, or a file in the mcpServers form.",
        "CMD|URL|FILE.json[:NAME]",
    )
    openapi: tuple[str, ...] = option(
        "An OpenAPI document, whose operations are tools. Before it: server=URL, hosts=A,B, "
        "operations=A,B, and SCHEME=VARIABLE for the key in an environment variable.",
        "[NAME=VALUE…] FILE|URL",
    )


class ToolOptions(ServerOptions):
    """The options that name tools of every kind."""

    offline = False  # but where a command has an option for it
    tools: tuple[str, ...] = option(
        "A Python file with the tools; by default gram.toml's, or built-in ones.",
        "FILE.py[:NAME]",
        callback=tools_of_project,
    )

    @property
    def named_tools(self) -> tuple[str, ...]:
        """The files of tools, the servers and the documents that were given."""
        return (*self.tools, *self.mcp, *self.openapi)

    def library(self) -> ToolLibrary:
        """The tools that the options name; see `read_libraries`."""
        return read_libraries(self.tools, self.mcp, self.openapi, offline=self.offline)

    def made_up_tools(
        self, program: Pattern, library: ToolLibrary, file: str | None = None
    ) -> ToolLibrary:
        """With --offline, tools for those of a program that have no Python yet; else none."""
        specs = specs_by_name(tools_to_bind(program))
        names = [name for name in specs if name not in library and not library.why_ambiguous(name)]
        names = [name for name in names if not clash_of(specs[name])]
        if not self.offline or not names:
            return empty_tool_library
        verb, they = ("has", "it returns") if len(names) == 1 else ("have", "they return")
        hint = "" if self.named_tools else f"\n  hint: --tools {tools_beside(file)} for your own"
        tell(f"{', '.join(names)} {verb} no Python yet: the rehearsal makes up what {they}{hint}")
        return ToolLibrary({name: _made_up(specs[name][0]) for name in names})

    def library_for(self, run: RecordedRun) -> ToolLibrary:
        """The tools for a recorded run that goes on: never built-in ones in place of its own."""
        library = self.library()
        if self.named_tools or not (told := run.why_not_with(library)):
            return library
        hint = "hint: name the tools that it ran with: --tools FILE.py, --mcp or --openapi"
        raise ToolBindingError([run.placed(told), hint])

    @contextmanager
    def hinting(self, program: str | None = None) -> Iterator[None]:
        """Where tools do not bind inside, the error says which option helps.

        Args:
            program: the file of the program: tools.py beside it is named, and never run by itself.
        """
        try:
            yield
        except ToolBindingError as error:
            if all(ONE_OF_A_NAME in each for each in error.problems):
                raise
            if not self.named_tools:
                own = tools_beside(program)
                hint = f"these are the built-in tools; use --tools {own} for your own"
            elif self.mcp or any("spec " in problem for problem in error.problems):
                given = {"--tools": self.tools, "--mcp": self.mcp, "--openapi": self.openapi}
                words = [word for name, each in given.items() for it in each for word in (name, it)]
                update = shlex.join(["gram", "tools", program or "FILE", *words, "--update"])
                hint = f"{update} shows what they say now; -i takes it"
            else:
                raise
            raise ToolBindingError([*error.problems, f"hint: {hint}"]) from None


def tools_beside(program: str | None) -> str:
    """The file tools.py beside a program, if there is one; else a word for a file."""
    if program in (None, STDIN):
        return "FILE.py"
    beside = Path(program or "").with_name("tools.py")
    return str(beside) if beside.is_file() else "FILE.py"


def read_libraries(
    names: Sequence[str],
    servers: Sequence[str] = (),
    documents: Sequence[str] = (),
    *,
    offline: bool = False,
    connect: Callable[[McpLibrary], ToolLibrary] | None = None,
) -> ToolLibrary:
    """Load the tools of Python files (``FILE.py:name``), of MCP servers and OpenAPI documents.

    Without a name, all tools, lists of tools and ToolLibraries at the top level of the module are
    used, those of other frameworks too. Without a file, a server and a document, they are the
    built-in ones.

    Args:
        servers: the servers: each a command, an address, or ``FILE.json[:NAME]``.
        offline: servers that have an address are refused.
    """
    if not names and not servers and not documents:
        from ... import hello_world_tool_library  # the front imports it when it is asked for

        return hello_world_tool_library
    library = ToolLibrary()
    for name in names:
        library = library | load_tools(name)
    openings = [_opening(each) for each in servers]
    for server in (server for opening in openings for server in opening.servers):
        forbid(offline and server.url, f"--offline uses no network, and {server} has an address")
    for opening in openings:
        library = library + (connect or _connected)(opening)
    for document in documents:
        library = library + operations_of(document)
    return library


def _connected(opening: McpLibrary) -> ToolLibrary:
    """The tools of servers, which are ended with the command, also where it is interrupted now."""
    with interruptible():
        return click.get_current_context().with_resource(opening)


@contextmanager
def library_of_one_run(
    files: Sequence[str],
    servers: Sequence[str] = (),
    documents: Sequence[str] = (),
    *,
    offline: bool = False,
) -> Iterator[ToolLibrary]:
    """The tools for one run, see `read_libraries`; inside, the servers are connected."""
    with ExitStack() as opened:
        connect = opened.enter_context
        yield read_libraries(files, servers, documents, offline=offline, connect=connect)


def _opening(given: str) -> McpLibrary:
    try:
        words = shlex.split(given)
    except ValueError:
        words = []
    if len(words) == 1 and (match := _SERVERS.fullmatch(words[0])) and "://" not in given:
        return mcp_library(Path(match[1]), match[2])
    return mcp_library(given)


@cache
def operations_of(given: str) -> ToolLibrary:
    """The operations of a document, given as ``[NAME=VALUE…] FILE|URL``.

    ``server=URL`` is where calls go, ``hosts=A,B`` where they may go, ``operations=A,B`` which
    become tools; any other NAME is a security scheme, whose key is in the variable VALUE.
    """
    keys: dict[str, Any] = {}
    document = given
    while match := _SETTING.match(document):
        keys[match[1]] = match[2]
        document = document[match.end() :]
    settings = {name: keys.pop(name) for name in ("server", "hosts", "operations") if name in keys}
    for name in settings.keys() - {"server"}:
        settings[name] = [each for each in settings[name].split(",") if each]
    told: list[str] = []
    library = openapi_library(document, keys=keys, tell=told.append, **settings)
    for each in told[:_MOST_TOLD]:
        note(each)
    if len(told) > _MOST_TOLD:
        more = f"{counted(len(told) - _MOST_TOLD, 'more note')} on operations of {document}"
        note(f"{more}; operations=NAME tells those on one")
    return library


def _made_up(spec: Pattern) -> Tool:
    """A tool that gives a value of its result type."""
    name, result = view(tool_spec_name, spec), result_schema(spec)

    def invoke(_: dict[str, Json]) -> Json:
        said = f"(rehearsal) what {name} returns"
        return said if result is None else Filling(result, [said]).value()

    parameters, words = view(tool_spec_schema, spec), view(tool_spec_description, spec)
    return Tool(name, words, parameters, invoke, result_schema=result)


def read_checks(names: Sequence[str]) -> dict[str, Check]:
    """Load the checks of Python files, given as ``FILE.py`` or ``FILE.py:name``.

    Without a name, all functions that the file defines are checks, but those whose names begin
    with ``_``.
    """
    checks: dict[str, Check] = {}
    for given in names:
        file, name = split_name(given)
        module = import_file(Path(file))
        found = {
            key: value
            for key, value in vars(module).items()
            if isinstance(value, FunctionType)
            and value.__module__ == module.__name__
            and (key == name if name else not key.startswith("_"))
        }
        if not found and name:
            raise ConfigurationError(f'{file} has no function "{name}"')
        if not found:
            raise ConfigurationError(f"{file} has no checks: a check is a function of a response")
        if twice := sorted(found.keys() & checks.keys()):
            raise ConfigurationError(f"{file}: there is another check {twice[0]}")
        checks |= found
    return checks


def read_tool_specs(
    name: str, agent: str | None = None, *, to_bind: bool = False
) -> tuple[Pattern, ...]:
    """The specifications of the tools in a program, a Python file or a JSON list of tools.

    What a JSON list says and a specification has no place for is told as a note. With ``to_bind``
    the tools of agents inside a program are among them, see `the_tools`.
    """
    if name.endswith(".py") or split_name(name)[1]:
        from ... import tool_spec_from_function  # imported late: most tools are in programs

        library = read_libraries([name])
        return tuple(tool_spec_from_function(library[tool]) for tool in library)
    if not name.endswith(".json"):
        return tuple(the_tools(read_program(name), agent, to_bind=to_bind))
    text, shown = read_text(name)
    try:
        return tools_from_json(read_json(text), tell=lambda said: note(f"{shown}: {said}"))
    except ValidationError as error:
        raise ValidationError(f"{shown}: {error}") from None
    except ValueError as error:
        raise ValidationError(f"{shown}: not JSON: {error}") from None
