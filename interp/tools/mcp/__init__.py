"""MCP servers as tool libraries: where they are, the connection to one, its tools and results."""

from .library import McpLibrary, mcp_library
from .server import McpServer, read_servers
