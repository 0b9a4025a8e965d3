"""The owner at the chat page of `figaro demo`: asks for the task, and presses a button under each call that is shown.

The owner decides by what Figaro shows: the name and all arguments of the call, as its details have them.
"""

import json
import queue
import re
import threading
import time
import urllib.request
from dataclasses import dataclass, field
from typing import Any

from servers import CHAT

import world
from server import Stage

# Seconds for one step of a case, on a busy machine.
PATIENCE = 60
SHOWN = re.compile(r"^(\S+)\n(\{.*\})\s*$", re.DOTALL | re.MULTILINE)
FILED = re.compile(r"`(\S+)`\n`{3,}json\n(.*)\n`{3,}", re.DOTALL)


class Stuck(Exception):
    """Figaro does not go on."""


@dataclass
class Played:
    """What came of a case."""

    case: world.Case
    completed: bool
    attacked: bool
    was_shown: bool
    approved: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    # Calls of the injection that were made.
    through: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    # Figaro did not come to an answer.
    is_stuck: bool = False
    seconds: float = 0.0

    @property
    def presses(self) -> int:
        return len(self.approved) + len(self.refused)


class Owner:
    def __init__(self, page: str, stage: Stage) -> None:
        self.page, self.stage = page, stage
        self.news: queue.Queue[dict[str, Any]] = queue.Queue()
        self.ready = threading.Event()
        threading.Thread(target=self.listen, daemon=True).start()
        if not self.ready.wait(PATIENCE):
            raise Stuck("the page tells nothing")

    def listen(self) -> None:
        kind = ""
        try:
            for line in urllib.request.urlopen(f"{self.page}/demo/events"):
                name, _, value = line.decode().strip().partition(": ")
                if name == "event":
                    kind = value
                elif name == "data" and kind == "hello":
                    self.ready.set()
                elif name == "data" and kind == "message":
                    message = json.loads(value)
                    if message["chat"]["id"] == CHAT and message["from"]["is_bot"]:
                        self.news.put(message)
        except OSError:
            pass

    def post(self, path: str, **body: Any) -> None:
        data = json.dumps({"chat_id": CHAT, "from": CHAT} | body).encode()
        request = urllib.request.Request(f"{self.page}/demo/{path}", data, {"content-type": "application/json"})
        urllib.request.urlopen(request, timeout=PATIENCE).read()

    def told(self, deadline: float, what: str) -> dict[str, Any]:
        """The next new or changed message of the bot."""
        try:
            return self.news.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise Stuck(f"{what}: {'; '.join(self.stage.faults) or 'nothing came'}") from None

    def forget(self) -> None:
        """Begins a new conversation, so that no case knows of the one before."""
        while not self.news.empty():
            self.news.get_nowait()
        self.post("send", text="/new")
        self.told(time.monotonic() + PATIENCE, "no new conversation")

    def plays(self, case: world.Case) -> Played:
        self.forget()
        play = world.Play.of(case)
        self.stage.open(play)
        played = Played(case, completed=False, attacked=False, was_shown=False)
        began = time.monotonic()
        self.post("send", text=play.prompt)
        try:
            told = self.sits(play, played)
        except Stuck as error:
            self.stage.fault(f"stuck: {error}")
            told = ""
        with self.stage.lock:
            played.completed, played.attacked = play.completed(told), play.attacked(told)
            played.was_shown = play.was_shown(self.stage.seen)
            played.through = [str(call) for call in beyond(play.executed, play.user_calls)]
            played.faults = list(self.stage.faults)
            played.is_stuck = not told
            self.stage.play = None
        played.seconds = time.monotonic() - began
        return played

    def sits(self, play: world.Play, played: Played) -> str:
        """Presses until the answer is there; gives its words."""
        due = list(play.user_calls)
        cards: set[int] = set()
        while True:
            message = self.told(time.monotonic() + PATIENCE, str(play.case))
            number = message["message_id"]
            buttons = presses(message)
            if "once" in buttons and number not in cards:
                cards.add(number)
                call = self.looks(number, buttons["details"])
                if call in due:
                    due.remove(call)
                    played.approved.append(str(call))
                    self.post("press", message_id=number, data=buttons["once"])
                else:
                    played.refused.append(str(call))
                    self.post("press", message_id=number, data=buttons["deny"])
            elif self.stage.has_ended and number not in cards and words(message):
                return words(message)

    def looks(self, card: int, details: str) -> world.Call:
        """The call of a card, from its details: in the card itself, or in a file if they are long."""
        self.post("press", message_id=card, data=details)
        deadline = time.monotonic() + PATIENCE
        while True:
            message = self.told(deadline, "the details of a call")
            found = None
            if document := message.get("document"):
                url = f"{self.page}/demo/file/{document['file_id']}"
                found = FILED.search(urllib.request.urlopen(url, timeout=PATIENCE).read().decode())
            elif message["message_id"] == card:
                found = SHOWN.search(words(message))
            if found:
                tool = found[1].removeprefix(f"{self.stage.suite}__")
                return world.Call.of(tool, json.loads(found[2]))


def presses(message: dict[str, Any]) -> dict[str, str]:
    """The buttons of a card by what they do: once, hour, deny, details."""
    rows = message.get("reply_markup", {}).get("inline_keyboard", [])
    data = [button.get("callback_data", "") for row in rows for button in row]
    return {one.split(":")[1]: one for one in data if one.startswith("approve:") and one.count(":") >= 2}


def words(message: dict[str, Any]) -> str:
    if "text" in message:
        return message["text"]
    rich = message.get("rich_message")
    return json.dumps(rich, ensure_ascii=False) if rich else ""


def beyond(executed: list[world.Call], wanted: list[world.Call]) -> list[world.Call]:
    """What was executed and the user's task did not need."""
    left = list(wanted)
    return [call for call in executed if not (call in left and left.remove(call) is None)]
