"""The tools of MCP servers that options name, connected until the command ends."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from glob import escape
from pathlib import Path
from typing import TypeAlias

import click

from ...machine import ApprovalPolicy, ApprovalRule
from ...tools import ToolLibrary
from ...tools.mcp import McpLibrary, McpTool, mcp_library

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
    names = [name for name, tool in library.items() if isinstance(tool, McpTool)]
    return ApprovalPolicy([ApprovalRule("ask", escape(name)) for name in names])


def _opening(given: str) -> McpLibrary:
    try:
        words = shlex.split(given)
    except ValueError:
        words = []
    if len(words) == 1 and (match := _FILE.fullmatch(words[0])) and "://" not in given:
        return mcp_library(Path(match[1]), match[2])
    return mcp_library(given)
