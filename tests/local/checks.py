"""The checks with a real llama.cpp server: `run` starts this with the folder of the binaries, the server, and the model.

A model of 135 million parameters answers nonsense; what is looked at is that it answers at all, in time, in one piece and
without marks of the prompt, and that the work beside answers gets what it asked for. Ends with 1 if anything is not as it should be.
"""

import json
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "foreign"))

from expect import Wrong, expect  # noqa: E402
from servers import CHAT, end, environment, started  # noqa: E402

KEY = "key-of-the-checks-01"
WINDOW = 8192
# Seconds for one answer: a busy machine of two cores reads some hundred tokens a second.
PATIENCE = 240
MARKS = ("<now", "<message", "</message", "<asked_by", "&lt;now", "&lt;message")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def llama(server: Path, model: Path, folder: Path):
    """The server with one place; gives its address up to /v1."""
    port = free_port()
    command = [server, "-m", model, "--host", "127.0.0.1", "--port", port, "-np", 1, "-c", WINDOW, "-t", 2, "--jinja"]
    with (folder / "llama.log").open("wb") as log:
        process = subprocess.Popen(
            [str(word) for word in command], env=environment(folder, {}), stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).read()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise Wrong(f"no server: {(folder / 'llama.log').read_text()[-2000:]}") from None
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        end(process, "llama")


class Demo:
    """The chat of `figaro demo`'s visitor."""

    def __init__(self, page: str, log: Path) -> None:
        self.page, self.log, self.messages = page, log, {}
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self) -> None:
        kind = ""
        try:
            for line in urllib.request.urlopen(f"{self.page}/demo/events"):
                field, _, value = line.decode().strip().partition(": ")
                if field == "event":
                    kind = value
                elif field == "data" and kind == "message":
                    message = json.loads(value)
                    if message["chat"]["id"] == CHAT and message["from"]["is_bot"]:
                        self.messages[message["message_id"]] = message
        except OSError:
            pass

    def say(self, words: str) -> tuple[str, float]:
        """What the bot answers, and after how many seconds."""
        before = set(self.messages)
        body = json.dumps({"chat_id": CHAT, "from": CHAT, "text": words}).encode()
        request = urllib.request.Request(f"{self.page}/demo/send", body, {"content-type": "application/json"})
        began = time.monotonic()
        urllib.request.urlopen(request).read()
        while time.monotonic() < began + PATIENCE:
            new = [self.messages[key] for key in sorted(set(self.messages) - before)]
            told = [self.words(one) for one in new]
            if any(told):
                return "\n".join(told), time.monotonic() - began
            time.sleep(0.1)
        raise Wrong(f"no answer to {words!r}: {self.log.read_text()[-2000:]}")

    @staticmethod
    def words(message: dict) -> str:
        return message.get("text") or json.dumps(message.get("rich_message") or "", ensure_ascii=False).strip('"')

    def logged(self, pattern: str) -> int:
        return len(re.findall(pattern, self.log.read_text()))

    def waits(self, what: str, pattern: str, count: int = 1) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.logged(pattern) < count:
            if time.monotonic() > deadline:
                raise Wrong(f"{what}: never {pattern!r} in {self.log.read_text()[-2000:]}")
            time.sleep(0.2)


def chats(demo: Demo) -> None:
    # Left to itself it writes on and on.
    demo.say("/model max_tokens 60")
    for words in ("hello there", "Write one sentence about bread.", "What is the capital of France?"):
        told, seconds = demo.say(words)
        expect([mark for mark in MARKS if mark in told], [], f"marks of the prompt in {told!r}")
        print(f"  {seconds:5.1f} s  {words} → {told[:90]!r}")


def asks(url: str, words: str) -> list[dict]:
    """The chunks of an answer over HTTP."""
    body = {"model": "figaro", "stream": True, "max_tokens": 80, "messages": [{"role": "user", "content": words}]}
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(body).encode(), headers)
    lines = urllib.request.urlopen(request, timeout=PATIENCE).read().decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


def streams(url: str) -> None:
    choices = [chunk["choices"][0] for chunk in asks(url, "Count to five.") if chunk["choices"]]
    words = [choice["delta"].get("content") or "" for choice in choices]
    expect(len([word for word in words if word]) > 1, True, "it comes in parts")
    expect([mark for mark in MARKS if mark in "".join(words)], [], "marks of the prompt")
    expect(choices[-1]["finish_reason"] in ("stop", "length"), True, f"it ends: {choices[-1]}")


def reads_facts(demo: Demo, server: Path) -> None:
    asked = server.read_text().count("processing task")
    demo.say("I am a baker and I live in Lisbon.")
    deadline = time.monotonic() + PATIENCE
    # The question, its facts, and the end of both.
    while server.read_text().count("stop processing") < asked + 2:
        if time.monotonic() > deadline:
            raise Wrong("the server was not asked for facts")
        time.sleep(0.2)
    time.sleep(1)
    expect(demo.logged("is not what was asked for|cannot be used to take facts"), 0, "answers that are no JSON")


def summarises(demo: Demo) -> None:
    for number in range(4):
        demo.say(f"Tell me fact number {number} about rivers, please. " + "It may be about water, fish or boats. " * 12)
    demo.waits("a summary", "summarised session=.* is_stored=true")


def outgrows_its_window(demo: Demo, url: str) -> None:
    long = "The river flows past the old mill and the bakery, and the boats wait for the evening. " * 700
    began = time.monotonic()
    choices = [chunk["choices"][0] for chunk in asks(url, f"{long} What waits?") if chunk["choices"]]
    expect(bool("".join(choice["delta"].get("content") or "" for choice in choices)), True, "an answer")
    expect(demo.logged("is sent shorter") > 0, True, "it was sent shorter")
    print(f"  {time.monotonic() - began:5.1f} s  for {len(long):,} characters")


def questions_go_first(demo: Demo) -> None:
    alone = sorted(demo.say(f"Say the number {number}.")[1] for number in range(3))[1]
    slow = []
    for number in range(3):
        demo.say(f"I own {number + 2} boats and I live in Riga.")
        time.sleep(1.2)
        slow.append(demo.say(f"Say the number {number}.")[1])
    print(f"  {alone:.1f} s alone; while facts are read {sorted(slow)[1]:.1f} s")
    expect(demo.logged("did not answer in time|stalled"), 0, "questions that waited too long")


def main() -> int:
    binaries, server, model = (Path(word) for word in sys.argv[1:4])
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with llama(server, model, folder) as base:
            variables = {
                "HTTP_ADDR": "127.0.0.1:0",
                "API_KEYS": f"checks:{KEY}",
                "LLM_PROVIDER": "compatible",
                "COMPATIBLE_BASE_URL": base,
                "COMPATIBLE_MODEL": "smollm2",
                "LLM_PRICES": "compatible:smollm2=0/0",
                "SESSION_NAMES": "on",
                "SUMMARY_EVERY": "6",
                "HISTORY_TOKENS": "900",
                "MEMORY_DELAY": "1",
                "RUST_LOG": "info,figaro_agent::turn::summaries=debug",
            }
            with started([binaries / "figaro", "demo", "--port", "0"], variables, folder, "demo") as line:
                page = next(word for word in line.split() if word.startswith("http://")).rstrip("/")
                log = folder / "demo.log"
                demo = Demo(page, log)
                time.sleep(1)
                gateway = re.search(r"listens.*?(http://[^\s\"]+)", log.read_text())
                url = gateway.group(1) if gateway else page
                checks: list[tuple[str, Callable[[], None]]] = [
                    ("chat", lambda: chats(demo)),
                    ("a stream over HTTP", lambda: streams(url)),
                    ("facts are JSON", lambda: reads_facts(demo, folder / "llama.log")),
                    ("summaries", lambda: summarises(demo)),
                    ("more than its window holds", lambda: outgrows_its_window(demo, url)),
                    ("questions go before facts", lambda: questions_go_first(demo)),
                ]
                for what, check in checks:
                    if len(sys.argv) > 4 and sys.argv[4] not in what:
                        continue
                    try:
                        check()
                        print(f"passed: {what}", flush=True)
                    except Exception as error:  # noqa: BLE001: whatever goes wrong is told
                        failed += 1
                        print(f"FAILED: {what}: {type(error).__name__}: {error}", flush=True)
                if failed:
                    print(log.read_text()[-3000:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
