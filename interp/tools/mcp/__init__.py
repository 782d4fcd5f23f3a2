"""MCP servers as tool libraries: where they are, the connection to one, its tools and results."""

from .library import McpLibrary as McpLibrary, McpTool as McpTool, mcp_library as mcp_library
from .progress import McpProgress as McpProgress
from .server import (
    McpServer as McpServer,
    read_servers as read_servers,
    servers_named as servers_named,
)
