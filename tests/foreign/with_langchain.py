"""LangChain's adapters for MCP, which open a new session for each call; see `driver.py`.

They run in a Python of their own, since they need the official client before its version 2.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import Connection, MultiServerMCPClient
from langchain_mcp_adapters.sessions import StdioConnection, StreamableHttpConnection

import driver


class Session:
    """The tools that the client made of the server's."""

    def __init__(self, tools: list[BaseTool]) -> None:
        self.made = tools

    async def tools(self) -> list[str]:
        return [tool.name for tool in self.made]

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[bool, Any]:
        (named,) = [made for made in self.made if made.name == tool]
        message = await named.ainvoke({"type": "tool_call", "id": "1", "name": tool, "args": arguments})
        return message.status == "error", json.loads(message.content[0]["text"])


def connection(server: driver.Server) -> Connection:
    """Settings of the connection."""
    if server.url is None:
        return StdioConnection(transport="stdio", **server.program)
    factory = server.http_client(httpx.AsyncClient)
    return StreamableHttpConnection(
        transport="streamable_http", url=server.url, headers=server.headers, httpx_client_factory=factory
    )


@asynccontextmanager
async def opened(server: driver.Server) -> AsyncIterator[Session]:
    """Asks for the tools."""
    yield Session(await MultiServerMCPClient({"telegram": connection(server)}).get_tools())


driver.main(opened)
