"""A hundred clients at once, each with a session of its own; no call may be lost. `checks.py` calls it.

The server sends at most one message a second to a chat and twenty a minute to a group, and refuses a call that would
have to wait for more than thirty seconds. The chats of the demo take just a hundred messages within that time.
"""

import asyncio
from collections import Counter
from typing import Any

from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import client
from expect import expect
from servers import CHAT, FORUM, GROUP, STRANGER, messages

# Messages per chat.
SHARES = {CHAT: 30, STRANGER: 30, GROUP: 20, FORUM: 20}
CHATS = [chat for chat, share in SHARES.items() for _ in range(share)]
PREFIX = "guest "
# The last message to a person is due after 29 seconds.
TIMEOUT_SECONDS = 90
SLOWEST_ANSWER_SECONDS = 60


async def no_call_is_lost(url: str, key: str, telegram: dict[str, str]) -> None:
    """All clients are connected before the first call and until after the last one."""
    together = asyncio.Barrier(len(CHATS))
    async with asyncio.TaskGroup() as tasks:
        for number, chat in enumerate(CHATS):
            tasks.create_task(visit(url, key, together, chat, text_of(number)))
    sent = Counter(text for text in messages(telegram) if text.startswith(PREFIX))
    expect(sent, Counter(text_of(number) for number in range(len(CHATS))), "the messages in the chats")


def text_of(number: int) -> str:
    """The message of a client, which no other sends."""
    return f"{PREFIX}{number + 1} of {len(CHATS)}"


async def visit(url: str, key: str, together: asyncio.Barrier, chat: int, text: str) -> None:
    """A session with five calls, each of which gets its own answer."""
    async with client.keyed(key, timeout=SLOWEST_ANSWER_SECONDS) as http:
        way = streamable_http_client(url, http_client=http)
        # Only the older revision has sessions.
        async with Client(way, mode="legacy") as guest:
            await together.wait()
            await calls(guest, chat, text)
            await together.wait()


async def calls(guest: Client, chat: int, text: str) -> None:
    """Reads and a message. The answers name the chat and the text of this client."""
    wanted: list[tuple[str, dict[str, Any], str, Any]] = [
        ("getMe", {}, "username", "figaro_bot"),
        ("getChat", {"chat_id": chat}, "id", chat),
        ("sendMessage", {"chat_id": chat, "text": text}, "text", text),
        ("getChat", {"chat_id": chat}, "id", chat),
    ]
    for tool, arguments, field, value in wanted:
        answer = await client.call(guest, tool, arguments)
        expect(answer["result"][field], value, f"{field} of {tool}")
    by_name = {"method": "getChat", "arguments": {"chat_id": chat}}
    expect((await client.call(guest, "call_telegram_method", by_name))["result"]["id"], chat, "the chat by name")
