"""What the official Python client does with figaro-mcp and has to see. `checks.py` calls it.

`legacy` begins with a handshake, as clients did up to revision 2025-11-25; `auto` tries the newest revision first.
"""

from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from expect import TEXT_FILE, Wrong, expect, expect_names
from servers import CHAT, TOKEN, program

TIMEOUT_SECONDS = 20
MAX_PAGES = 20
REVISIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}


async def over_http(url: str, key: str, mode: str, tools: set[str]) -> None:
    """All that a client does, with the key."""
    async with keyed(key) as http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        await look_round(client, mode, tools)


async def over_stdio(server: StdioServerParameters, mode: str, tools: set[str]) -> None:
    """The same with a server that the client starts."""
    async with Client(server, mode=mode) as client:
        await look_round(client, mode, tools)


async def everyday(server: StdioServerParameters) -> None:
    """Without --all the everyday methods are listed; the others are found and called by name."""
    async with Client(server, mode="legacy") as client:
        tools = await all_tools(client)
        expect(("sendMessage" in tools, "sendDice" in tools, len(tools) < 20), (True, False, True), f"{tools}")
        found = await call(client, "find_telegram_methods", {"query": "sendDice"})
        expect(found["methods"][0]["name"], "sendDice", "what was found")
        dice = {"method": "sendDice", "arguments": {"chat_id": CHAT}}
        thrown = await call(client, "call_telegram_method", dice)
        expect(thrown["result"]["chat"]["id"], CHAT, "the dice's chat")


async def turned_away(url: str, key: str | None) -> None:
    """A client with this key, or none, gets 401 and nothing else."""
    seen: list[int] = []

    async def note(response: httpx2.Response) -> None:
        seen.append(response.status_code)

    try:
        async with keyed(key, note) as http, Client(streamable_http_client(url, http_client=http), mode="legacy"):
            pass
    except Exception as error:
        expect(set(seen), {401}, f"the answers before {error!r}")
        return
    raise Wrong("the client was let in")


async def put_file(url: str, file: dict[str, str]) -> str:
    """Sends a document through a server without a key, and gives the handle of it."""
    async with keyed(None) as http, Client(streamable_http_client(url, http_client=http), mode="auto") as client:
        return (await sent_file(client, file))["uri"]


def keyed(key: str | None, note: Any = None, timeout: float = TIMEOUT_SECONDS) -> httpx2.AsyncClient:
    """An HTTP client that sends a key, and tells of the answers."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    hooks = {"response": [note]} if note else {}
    # Over plain HTTP no certificates are needed, and a hundred clients would read them a hundred times.
    return httpx2.AsyncClient(headers=headers, trust_env=False, verify=False, timeout=timeout, event_hooks=hooks)


async def look_round(client: Client, mode: str, tools: set[str]) -> None:
    """The revision, all pages of tools, a call, a refused call, a file there and back."""
    expect(client.protocol_version, REVISIONS[mode], "the protocol revision")
    expect_names(await all_tools(client), tools)
    me = await call(client, "getMe", {})
    expect(me["result"]["username"], "figaro_bot", "the bot")
    refused = await client.call_tool("getChat", {"chat_id": 404})
    why = {"ok": False, "error": {"error_code": 400, "description": "Bad Request: chat not found"}}
    expect((refused.is_error, refused.structured_content), (True, why), "a call that Telegram refuses")
    file = await sent_file(client, TEXT_FILE)
    expect(file.get("text"), TEXT_FILE["text"], "the text shown with the file")
    read = await client.read_resource(file["uri"])
    expect([getattr(content, "text", None) for content in read.contents], [TEXT_FILE["text"]], "the handle's content")


async def all_tools(client: Client) -> list[str]:
    """The names on all pages."""
    names: list[str] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return names
    raise Wrong(f"tools/list has more than {MAX_PAGES} pages")


async def sent_file(client: Client, file: dict[str, str]) -> dict[str, Any]:
    """Sends a document, and what getFile says of it: no place that holds the token."""
    message = await call(client, "sendDocument", {"chat_id": CHAT, "document": file})
    document = message["result"]["document"]
    expect(document["file_name"], file["name"], "the file's name")
    shown = await call(client, "getFile", {"file_id": document["file_id"]})
    expect("file_path" in shown["result"] or TOKEN in str(shown), False, "a path or a token is shown")
    return shown["result"]


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A call that succeeds."""
    result = await client.call_tool(tool, arguments)
    if result.is_error or not isinstance(result.structured_content, dict):
        raise Wrong(f"{tool} failed: {result}")
    return result.structured_content


def command(binaries: Path, telegram: dict[str, str], *flags: str) -> StdioServerParameters:
    """figaro-mcp as a program that the client starts."""
    return StdioServerParameters(**program(binaries, telegram, *flags))
