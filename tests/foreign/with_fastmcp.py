"""FastMCP's client; see `driver.py`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from fastmcp import Client
from fastmcp.client.transports import ClientTransport, StdioTransport, StreamableHttpTransport

import driver


class Session:
    """An open client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def tools(self) -> list[str]:
        return [tool.name for tool in await self.client.list_tools()]

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[bool, Any]:
        result = await self.client.call_tool(tool, arguments, raise_on_error=False)
        return result.is_error, result.structured_content


def transport(server: driver.Server) -> ClientTransport:
    """Transport to the server."""
    if server.url is None:
        return StdioTransport(**server.program)
    factory = server.http_client(httpx2.AsyncClient)
    return StreamableHttpTransport(server.url, headers=server.headers, httpx_client_factory=factory)


@asynccontextmanager
async def opened(server: driver.Server) -> AsyncIterator[Session]:
    """Connects."""
    async with Client(transport(server)) as client:
        yield Session(client)


driver.main(opened)
