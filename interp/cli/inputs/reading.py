"""Reads the inputs of commands: gram files, standard input, and tools of every kind."""

from __future__ import annotations

import errno
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from glob import escape
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click

from gram import Document, Pattern
from gram.documents import decode
from gram.json import Json
from gram.words import counted
from lenses_ext import (
    result_schema,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    view,
)

from ...errors import ConfigurationError, ToolBindingError, ValidationError
from ...machine import ApprovalPolicy, ApprovalRule
from ...models import Filling
from ...programs import tools_to_bind
from ...tools import Tool, ToolLibrary, import_file, split_name
from ...tools.mcp import McpLibrary, mcp_library
from ...tools.openapi import openapi_library
from ..terminal.output import note, tell
from .program_files import STDIN

if TYPE_CHECKING:
    from lenses_ext import Project

    from ...evaluation.cases import Check
    from ...history.records import RecordedRun


def read_text(name: str, stdin_filename: str | None = None) -> tuple[str, str]:
    """Read the text of a file, and its name for messages; ``-`` is standard input.

    Args:
        name: the name of the file.
        stdin_filename: what to call standard input in messages.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not UTF-8.
    """
    if name == STDIN:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "standard input is closed")
        name = stdin_filename or "<stdin>"
        return decode(sys.stdin.buffer.read(), name), name
    return decode(Path(name).read_bytes(), name), name


def read_document(name: str) -> Document:
    """Read the document in a file; ``-`` is standard input.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
    """
    from lenses_ext import parse_program

    return parse_program(*read_text(name))


def read_program(name: str, *, alone: bool = False) -> Project:
    """Read the program in a file with what it imports; ``-`` is standard input, by itself.

    Args:
        name: the name of the file.
        alone: take the file by itself, too.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
    """
    from lenses_ext import Project, load_project

    document = read_document(name)
    if alone or name == STDIN:
        return Project.of(document)
    return load_project(name, {Path(name): document})


def read_word(word: str) -> str:
    """The text that an argument stands for: ``@FILE`` and ``-`` are read, one line break less.

    A text that begins with ``@`` itself is written with two of them.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not UTF-8.

    >>> read_word("@@alice, hello"), read_word("plain")
    ('@alice, hello', 'plain')
    """
    if word == STDIN or (word.startswith("@") and not word.startswith("@@")):
        name = word.removeprefix("@")
        try:
            text, _ = read_text(name)
        except FileNotFoundError as failure:
            reason = f"{failure.strerror}; to begin a text with @, write @@"
            raise FileNotFoundError(failure.errno, reason, name) from None
        return text.removesuffix("\n").removesuffix("\r")
    return word[1:] if word.startswith("@@") else word


def read_word_beside(word: str, files: Iterable[str]) -> str:
    """Read a word with `read_word`; standard input is read once only.

    Raises:
        click.UsageError: standard input is a program already.
    """
    if word == STDIN and STDIN in files:
        raise click.UsageError("standard input cannot be both the program and the value")
    return read_word(word)


def read_tool_specs(
    name: str, agent: str | None = None, *, to_bind: bool = False
) -> tuple[Pattern, ...]:
    """The specifications of the tools in a program, a Python file or a JSON list of tools.

    What a JSON list says and a specification has no place for is told as a note. With ``to_bind``
    the tools of agents inside a program are among them, see `the_tools`.

    Raises:
        OSError: the file cannot be read.
        GramError: the file is not what its name says, or a tool in it is not valid.
    """
    if name.endswith(".py") or split_name(name)[1]:
        from ... import tool_spec_from_function  # imported late, as all here: others need none

        library = read_libraries([name])
        return tuple(tool_spec_from_function(library[tool]) for tool in library)
    if not name.endswith(".json"):
        from ...programs import the_tools

        return tuple(the_tools(read_program(name), agent, to_bind=to_bind))
    from ...json_text import read_json
    from ...machine import tools_from_json

    text, shown = read_text(name)
    try:
        data = read_json(text)
    except ValueError as error:
        raise ValidationError(f"{shown}: not JSON: {error}") from None
    try:
        return tools_from_json(data, tell=lambda said: note(f"{shown}: {said}"))
    except ValidationError as error:
        raise ValidationError(f"{shown}: {error}") from None


def read_libraries(
    names: Sequence[str],
    servers: Sequence[str] = (),
    documents: Sequence[str] = (),
    *,
    offline: bool = False,
    connect: Connect | None = None,
) -> ToolLibrary:
    """Load the tools of Python files (``FILE.py:name``), of MCP servers and OpenAPI documents.

    Without a name, all tools, lists of tools and ToolLibraries at the top level of the module are
    used, those of other frameworks too. Without a file, a server and a document, they are the
    built-in ones.

    Args:
        names: the Python files.
        servers: the servers, see `connected`.
        documents: the documents.
        offline: servers that have an address are refused.
        connect: connects to servers; by default until the command ends.

    Raises:
        OSError: a file cannot be read.
        ConfigurationError: a file raises an error, or has no tools under the name; or a server
            or a document cannot be used.
        click.UsageError: a server has an address, and ``offline`` is set.
    """
    from ...tools import ToolLibrary, load_tools  # imported late: most commands need no tools

    if not names and not servers and not documents:
        from ... import hello_world_tool_library

        return hello_world_tool_library
    library = ToolLibrary()
    for name in names:
        library = library | load_tools(name)
    if servers:
        library = library + connected(servers, offline=offline, connect=connect)
    if documents:
        for document in documents:
            library = library + operations_of(document)
    return library


def library_for(
    run: RecordedRun, names: Sequence[str], read: Callable[[], ToolLibrary]
) -> ToolLibrary:
    """The tools for a recorded run that goes on: never built-in ones in place of its own.

    Args:
        run: the run.
        names: the files, servers and documents that were named.
        read: reads them; without names, it gives the built-in tools.

    Raises:
        ToolBindingError: the run had a tool of its own, there is a built-in one of the same name,
            and no tools are named.
    """
    library = read()
    if names or not (told := run.why_not_with(library)):
        return library
    hint = "hint: name the tools that it ran with: --tools FILE.py, --mcp or --openapi"
    raise ToolBindingError([run.placed(told), hint])


@contextmanager
def hint_at_tools(
    names: Sequence[str], servers: Sequence[str] = (), program: str | None = None
) -> Iterator[None]:
    """Where tools do not bind inside, the error says which option helps.

    Args:
        names: the files, servers and documents that were named.
        servers: the servers among them.
        program: the file of the program: tools.py beside it is named, and never run by itself.
    """
    try:
        yield
    except ToolBindingError as error:
        if names and not servers:
            if not any("spec " in problem for problem in error.problems):
                raise
            update = f"gram tools {program or 'FILE'} --tools … --update"
            hint = f"hint: {update} shows what the code says now; -i takes it"
            raise ToolBindingError([*error.problems, hint]) from None
        hint = (
            "hint: gram tools FILE --mcp … --update shows what a server says now; -i takes it"
            if servers
            else "hint: these are the built-in tools; "
            f"use --tools {tools_beside(program)} for your own"
        )
        raise ToolBindingError([*error.problems, hint]) from None


def tools_beside(program: str | None) -> str:
    """The file tools.py beside a program, if there is one; else a word for a file."""
    if program in (None, STDIN):
        return "FILE.py"
    beside = Path(program or "").with_name("tools.py")
    return str(beside) if beside.is_file() else "FILE.py"


def read_checks(names: Sequence[str]) -> dict[str, Check]:
    """Load the checks of Python files, given as ``FILE.py`` or ``FILE.py:name``.

    Without a name, all functions that the file defines are checks, but those whose names begin
    with ``_``.

    Raises:
        OSError: a file cannot be read.
        ConfigurationError: a file raises an error, or has no such function.
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


_FILE = re.compile(r"(.+\.json)(?::(.+))?")


Connect: TypeAlias = Callable[[McpLibrary], ToolLibrary]
"""Connects to servers, and takes care that they are left."""


def connected(
    servers: Sequence[str], *, offline: bool = False, connect: Connect | None = None
) -> ToolLibrary:
    """The tools of servers, given as a command, an address, or ``FILE.json[:NAME]``.

    Args:
        servers: what was given.
        offline: servers that have an address are refused.
        connect: connects; by default until the command ends.

    Raises:
        OSError: a file cannot be read.
        ConfigurationError: a server cannot be used.
        click.UsageError: a server has an address, and ``offline`` is set.
    """
    openings = [_opening(each) for each in servers]
    for server in (server for opening in openings for server in opening.servers):
        if offline and server.url is not None:
            raise click.UsageError(f"--offline uses no network, and {server} has an address")
    library = ToolLibrary()
    for opening in openings:
        library = library + (connect or click.get_current_context().with_resource)(opening)
    return library


def asking_before_servers(library: ToolLibrary) -> ApprovalPolicy:
    """A policy that asks before each call of a tool of a server, and of no other."""
    names = [name for name, tool in library.items() if tool.server is not None]
    return ApprovalPolicy([ApprovalRule("ask", escape(name)) for name in names])


def _opening(given: str) -> McpLibrary:
    try:
        words = shlex.split(given)
    except ValueError:
        words = []
    if len(words) == 1 and (match := _FILE.fullmatch(words[0])) and "://" not in given:
        return mcp_library(Path(match[1]), match[2])
    return mcp_library(given)


_SETTING: Final = re.compile(r"([\w.-]+)=(\S*)\s+(?=\S)")
_MOST_TOLD: Final = 5


@cache
def operations_of(given: str) -> ToolLibrary:
    """The operations of a document, given as ``[NAME=VALUE…] FILE|URL``.

    ``server=URL`` is where calls go, ``hosts=A,B`` where they may go, ``operations=A,B`` which
    become tools; any other NAME is a security scheme, whose key is in the variable VALUE.

    Raises:
        OSError: the file cannot be read.
        ConfigurationError: the document cannot be used, or not so.
    """
    settings: dict[str, Any] = {}
    keys: dict[str, str] = {}
    document = given
    while match := _SETTING.match(document):
        name, value = match.groups()
        if name == "server":
            settings[name] = value
        elif name in ("hosts", "operations"):
            settings[name] = [each for each in value.split(",") if each]
        else:
            keys[name] = value
        document = document[match.end() :]
    told: list[str] = []
    library = openapi_library(document, keys=keys, tell=told.append, **settings)
    for each in told[:_MOST_TOLD]:
        note(each)
    if len(told) > _MOST_TOLD:
        more = f"{counted(len(told) - _MOST_TOLD, 'more note')} on operations of {document}"
        note(f"{more}; operations=NAME tells those on one")
    return library


def made_up_tools(program: Pattern, library: ToolLibrary, hint: str) -> ToolLibrary:
    """A tool for each one of a program that a library lacks; it gives a value of its result type.

    Args:
        program: an agent or workflow.
        library: the tools that have Python.
        hint: what to add to the message that names the others.
    """
    specs = {view(tool_spec_name, each): each for each in tools_to_bind(program)}
    names = [name for name in specs if name not in library and not library.why_ambiguous(name)]
    if names:
        verb, they = ("has", "it returns") if len(names) == 1 else ("have", "they return")
        tell(f"{', '.join(names)} {verb} no Python yet: the rehearsal makes up what {they}{hint}")
    return ToolLibrary({name: _made_up(specs[name]) for name in names})


def _made_up(spec: Pattern) -> Tool:
    name, result = view(tool_spec_name, spec), result_schema(spec)

    def invoke(_: dict[str, Json]) -> Json:
        said = f"(rehearsal) what {name} returns"
        return said if result is None else Filling(result, [said]).value()

    parameters, words = view(tool_spec_schema, spec), view(tool_spec_description, spec)
    return Tool(name, words, parameters, invoke, result_schema=result)
