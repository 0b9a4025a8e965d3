"""Common part of the `with_*.py` files, each of which lets a client library talk to figaro-mcp in a process of its own.

`libraries.py` starts them. Standard input has a list of visits as JSON, each with a server and calls; standard output
gets a list of their records. `with_sdk.mjs` does the same for Node.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypedDict

TIMEOUT_SECONDS = 20


class Session(Protocol):
    """An open session of a client library."""

    async def tools(self) -> list[str]:
        """The names of all listed tools."""

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[bool, Any]:
        """Calls a tool. Returns the error flag and the answer."""


class Program(TypedDict):
    """A server that the client starts."""

    command: str
    args: list[str]
    env: dict[str, str]


class Server:
    """The server of a visit: over HTTP if it has a URL, else a program that the client starts."""

    def __init__(self, visit: dict[str, Any], statuses: list[int]) -> None:
        self.url: str | None = visit.get("url")
        self.headers: dict[str, str] = visit.get("headers", {})
        self.program: Program = visit.get("program", {})
        self.statuses = statuses

    def http_client(self, kind: Callable[..., Any]) -> Callable[..., Any]:
        """A factory of HTTP clients of this kind, which note the status of each response."""

        async def note(response: Any) -> None:
            self.statuses.append(response.status_code)

        return lambda **settings: kind(**{"timeout": TIMEOUT_SECONDS, "event_hooks": {"response": [note]}} | settings)


def main(opened: Callable[[Server], AbstractAsyncContextManager[Session]]) -> None:
    """Reads the visits from standard input, makes one after the other, and prints their records."""
    print(json.dumps([record(opened, visit) for visit in json.load(sys.stdin)]))


def record(opened: Callable[[Server], AbstractAsyncContextManager[Session]], visit: dict[str, Any]) -> dict[str, Any]:
    """Makes a visit. An error ends it and becomes part of its record."""
    seen: dict[str, Any] = {"statuses": [], "tools": None, "answers": [], "error": None}

    async def use() -> None:
        async with opened(Server(visit, seen["statuses"])) as session:
            seen["tools"] = await session.tools()
            for tool, arguments in visit["calls"]:
                seen["answers"].append(await session.call(tool, arguments))

    try:
        asyncio.run(use())
    except Exception as error:  # A client may fail in any way.
        seen["error"] = repr(error)
    return seen
