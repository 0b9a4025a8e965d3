"""MCP servers of the OpenAI Agents SDK, without an agent or a model; see `driver.py`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from agents import set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStdioParams, MCPServerStreamableHttp, MCPServerStreamableHttpParams

import driver

Connection = MCPServerStdio | MCPServerStreamableHttp


class Session:
    """A connected server."""

    def __init__(self, connected: Connection) -> None:
        self.connected = connected

    async def tools(self) -> list[str]:
        return [tool.name for tool in await self.connected.list_tools()]

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[bool, Any]:
        result = await self.connected.call_tool(tool, arguments)
        return bool(result.is_error), result.structured_content


def connection(server: driver.Server) -> Connection:
    """Connection that is not open yet. The default timeout of five seconds is too short for a busy machine."""
    timeout = driver.TIMEOUT_SECONDS
    if server.url is None:
        return MCPServerStdio(MCPServerStdioParams(**server.program), client_session_timeout_seconds=timeout)
    factory = server.http_client(httpx2.AsyncClient)
    settings = MCPServerStreamableHttpParams(url=server.url, headers=server.headers, httpx_client_factory=factory)
    return MCPServerStreamableHttp(settings, client_session_timeout_seconds=timeout)


@asynccontextmanager
async def opened(server: driver.Server) -> AsyncIterator[Session]:
    """Connects."""
    async with connection(server) as connected:
        yield Session(connected)


set_tracing_disabled(True)
driver.main(opened)
