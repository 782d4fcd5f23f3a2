"""The tools that a server lists, checked before anything uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ...errors import ConfigurationError
from ...secrets import known_keys
from ...visible_text import visible_text
from .untrusted import said, visible

if TYPE_CHECKING:
    from mcp import Client, types

MOST_TOOLS: Final = 2_000
MOST_PAGES: Final = 500
LONGEST_NAME: Final = 128
LONGEST_DESCRIPTION: Final = 50_000


async def listed_tools(client: Client, server: str) -> dict[str, types.Tool]:
    """All tools of a server, by name.

    Args:
        client: the connection to it.
        server: what messages call it.

    Raises:
        ConfigurationError: it lists a tool twice, tools that are none, or too many.
    """
    from pydantic import ValidationError

    found: dict[str, types.Tool] = {}
    cursors: set[str | None] = set()
    cursor: str | None = None
    while cursor not in cursors:
        cursors.add(cursor)
        try:
            page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        except ValidationError as error:
            raise ConfigurationError(f"{server} {_broken(error)}") from None
        for tool in map(_without_keys, page.tools):
            name = tool.name
            if name in found:
                raise ConfigurationError(f'{server} lists the tool "{visible(name)}" twice')
            _require_sane(tool, server)
            found[name] = tool
        if len(found) > MOST_TOOLS:
            raise ConfigurationError(f"{server} lists more than {MOST_TOOLS} tools")
        if page.next_cursor is None:
            return found
        if len(cursors) > MOST_PAGES:
            raise ConfigurationError(f"{server} lists its tools on more than {MOST_PAGES} pages")
        cursor = page.next_cursor
    raise ConfigurationError(f"{server} lists the same page of tools again and again")


def _without_keys(tool: types.Tool) -> types.Tool:
    """What a server lists comes in, too: programs are written of it, and models are told."""
    keys = known_keys()
    if keys is None:
        return tool
    listed = tool.model_dump_json(by_alias=True, exclude_unset=True)
    clean = keys.without_in_json(listed)
    return tool if clean == listed else type(tool).model_validate_json(clean)


def _require_sane(tool: types.Tool, server: str) -> None:
    name = tool.name
    is_seen = name == name.strip() and name == visible_text(name)
    if not name or len(name) > LONGEST_NAME or not is_seen or "/" in name:
        shown = said(visible_text(name[: 2 * LONGEST_NAME]), LONGEST_NAME)
        raise ConfigurationError(
            f'{server} lists a tool with the name "{shown}": names have 1 to '
            f"{LONGEST_NAME} characters that are visible, and no slash"
        )
    if len(tool.description or "") > LONGEST_DESCRIPTION:
        raise ConfigurationError(
            f'{server}: the description of the tool "{name}" has '
            f"{len(tool.description or '')} characters, over {LONGEST_DESCRIPTION}"
        )


def _broken(error: Any) -> str:
    """What pydantic found wrong in a page of tools: the tool, and the part of it."""
    first = error.errors(include_url=False)[0]
    place = [str(each) for each in first["loc"]]
    if len(place) < 2:
        return f"answers tools/list with what is no list of tools: {said(first['msg'])}"
    found = first.get("input")
    named = found.get("name") if isinstance(found, dict) else None
    which = f'"{said(str(named), LONGEST_NAME)}"' if named else f"number {_number(place)}"
    part = ".".join(place[2:]) or "it"
    return f"lists a broken tool, {which}: {part}: {said(first['msg'])}"


def _number(place: list[str]) -> str:
    return str(int(place[1]) + 1) if place[1].isdigit() else "?"
