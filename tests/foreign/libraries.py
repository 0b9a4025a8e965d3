"""Client libraries in processes of their own: what each does with figaro-mcp and has to see. `checks.py` calls it."""

import json
import sys
from pathlib import Path
from typing import Any

from expect import Wrong, expect, expect_names
from servers import CHAT, STRANGER, messages, program, ran

HERE = Path(__file__).resolve().parent
CLIENTS = Path(sys.prefix).parent
LIBRARIES: dict[str, list[str | Path]] = {
    "fastmcp": [sys.executable, HERE / "with_fastmcp.py"],
    "openai-agents": [sys.executable, HERE / "with_openai_agents.py"],
    "langchain-mcp-adapters": [CLIENTS / "langchain" / "bin" / "python", HERE / "with_langchain.py"],
    "@modelcontextprotocol/sdk": ["node", HERE / "with_sdk.mjs"],
}
# A tool and its arguments.
Call = tuple[str, dict[str, Any]]
NOT_FOUND = {"ok": False, "error": {"error_code": 400, "description": "Bad Request: chat not found"}}


class Library:
    """One of them, with the offline Telegram behind the server."""

    def __init__(self, name: str, folder: Path, telegram: dict[str, str]) -> None:
        self.name, self.folder, self.telegram = name, folder, telegram

    def over_http(self, url: str, key: str, tools: set[str]) -> None:
        """Lists, finds, calls a listed method and one by name, and is told of a refused call."""
        text = f"hello from {self.name}"
        calls: list[Call] = [
            ("find_telegram_methods", {"query": "pin a message"}),
            ("getMe", {}),
            ("sendMessage", {"chat_id": CHAT, "text": text}),
            ("call_telegram_method", {"method": "sendDice", "arguments": {"chat_id": STRANGER}}),
            ("getChat", {"chat_id": 404}),
            ("call_telegram_method", {"method": "getChat", "arguments": {"chat_id": 404}}),
        ]
        found, me, sent, dice, *refused = self.answers({"url": url, "headers": keyed(key)}, calls, tools)
        expect((found[0], found[1]["methods"][0]["name"]), (False, "pinChatMessage"), "the method found")
        expect((me[0], me[1]["result"]["username"]), (False, "figaro_bot"), "the bot")
        expect((sent[0], sent[1]["result"]["text"]), (False, text), "the message")
        expect(messages(self.telegram).count(text), 1, "the number of messages in the chat")
        expect((dice[0], dice[1]["result"]["chat"]["id"]), (False, STRANGER), "the chat of the dice")
        expect(refused, [[True, NOT_FOUND]] * 2, "calls that Telegram refuses")

    def over_stdio(self, binaries: Path, tools: set[str]) -> None:
        """All tools of a server that the client starts, a call, and a refused call."""
        calls: list[Call] = [("getMe", {}), ("getChat", {"chat_id": 404})]
        started = program(binaries, self.telegram, "--all")
        me, refused = self.answers({"program": started}, calls, tools)
        expect((me[0], me[1]["result"]["username"]), (False, "figaro_bot"), "the bot")
        expect(refused, [True, NOT_FOUND], "a call that Telegram refuses")

    def is_turned_away(self, url: str) -> None:
        """Without a key, or with a wrong one, it gets 401 and lists nothing."""
        calls: list[Call] = [("getMe", {})]
        visits = [{"url": url, "headers": keyed(key), "calls": calls} for key in (None, "sesam")]
        for record in self.records(*visits):
            seen = (set(record["statuses"]), record["tools"], record["answers"], record["error"] is None)
            expect(seen, ({401}, None, [], False), "statuses, tools, answers, no error")

    def answers(self, server: dict[str, Any], calls: list[Call], tools: set[str]) -> list[Any]:
        """The answers of a visit that ends without an error and lists these tools."""
        (record,) = self.records({**server, "calls": calls})
        expect((record["error"], len(record["answers"])), (None, len(calls)), "error and number of answers")
        expect_names(record["tools"], tools)
        return record["answers"]

    def records(self, *visits: dict[str, Any]) -> list[dict[str, Any]]:
        """Makes visits. Returns for each the statuses, the tools, the answers and an error."""
        driver = [str(word) for word in LIBRARIES[self.name]]
        variables = {"CLIENTS": str(CLIENTS), "PYTHONDONTWRITEBYTECODE": "1"}
        code, printed = ran(driver, self.folder, variables, json.dumps(visits))
        try:
            return json.loads(printed.splitlines()[0])
        except (IndexError, ValueError):
            raise Wrong(f"exit code {code} and no JSON: {printed[-1500:]}") from None


def keyed(key: str | None) -> dict[str, str]:
    """The header with the key, if any."""
    return {"Authorization": f"Bearer {key}"} if key else {}
