"""Starts the clients in processes of their own and what they talk to, and sees to it that nothing of it is left.

`checks.py` and `libraries.py` call it.
"""

import json
import os
import select
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# The bot of `figaro demo`, the private chats of its visitor and of a stranger, and its groups.
TOKEN = "7000000001:offline"
CHAT, STRANGER = 1001, 1003
GROUP, FORUM = -100_200, -100_300

START, END, CLIENT = 20, 10, 30


@contextmanager
def offline_telegram(binaries: Path, folder: Path) -> Iterator[dict[str, str]]:
    """`figaro demo`, for its Telegram; gives the variables with which figaro-mcp finds it."""
    with started([binaries / "figaro", "demo", "--port", "0"], {}, folder, "demo") as line:
        url = next(word for word in line.split() if word.startswith("http://")).rstrip("/")
        yield {"TELEGRAM_BOT_TOKEN": TOKEN, "TELEGRAM_API_URL": url}


@contextmanager
def mcp_server(
    binaries: Path, folder: Path, telegram: dict[str, str], name: str, key: str | None, *flags: str
) -> Iterator[str]:
    """figaro-mcp over HTTP on a free port, with or without a key; gives its URL. Its log has the name."""
    variables = telegram | {"MCP_HTTP_PORT": "0"} | ({"MCP_API_KEY": key} if key else {})
    with started([binaries / "figaro-mcp", *flags], variables, folder, name) as line:
        yield line.removeprefix("READY ")


def program(binaries: Path, telegram: dict[str, str], *flags: str) -> dict[str, Any]:
    """figaro-mcp as a program that a client starts."""
    variables = telegram | {"RUST_LOG": "warn"}
    return {"command": str(binaries / "figaro-mcp"), "args": ["--stdio", *flags], "env": variables}


def messages(telegram: dict[str, str]) -> list[str]:
    """The texts of all messages in the offline Telegram, which begins its page's events with them."""
    with urllib.request.urlopen(f"{telegram['TELEGRAM_API_URL']}/demo/events", timeout=CLIENT) as events:
        events.readline()
        hello = json.loads(events.readline().removeprefix(b"data: "))
    return [message["text"] for message in hello["messages"] if "text" in message]


def ran(command: list[str], folder: Path, more: dict[str, str], told: str = "") -> tuple[int, str]:
    """A client's exit code and what it printed, standard output first."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(folder, more),
        input=told,
        capture_output=True,
        text=True,
        timeout=CLIENT,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def environment(folder: Path, more: dict[str, str]) -> dict[str, str]:
    """All that a process is told: no key, proxy or setting of this machine gets through."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "NO_COLOR": "1", "LANG": "C.UTF-8"} | more


@contextmanager
def started(command: list, variables: dict[str, str], folder: Path, name: str) -> Iterator[str]:
    """A server in a process group of its own; gives the line that it prints when it is ready."""
    log = folder / f"{name}.log"
    with log.open("wb") as err:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(folder, variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=err,
            start_new_session=True,
        )
    try:
        out = process.stdout
        ready = out and select.select([out], [], [], START)[0]
        line = out.readline().decode().strip() if out and ready else ""
        if not line:
            raise RuntimeError(f"{name} does not start: {log.read_text()}")
        yield line
    finally:
        end(process, name)


def end(process: subprocess.Popen, name: str) -> None:
    """Asks it to end, and insists that it does so by itself, with all its children."""
    process.terminate()
    try:
        code = process.wait(END)
        deadline = time.monotonic() + END
        while group_lives(process.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
    except subprocess.TimeoutExpired:
        code = None
    finally:
        left = group_lives(process.pid)
        if left:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if left or code != 0:
        what_is_left = "something is left running" if left else "nothing is left running"
        raise RuntimeError(f"{name} did not end well: exit code {code}, {what_is_left}")


def group_lives(group: int) -> bool:
    """Whether any process of a group is there."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def nothing_runs(mark: str) -> None:
    """What a client started is gone too: no process knows this mark any more."""
    deadline = time.monotonic() + END
    while left := [process for process in Path("/proc").glob("[0-9]*") if knows(process, mark.encode())]:
        if time.monotonic() > deadline:
            for process in left:
                os.kill(int(process.name), signal.SIGKILL)
            raise RuntimeError(f"still ran at the end: {', '.join(process.name for process in left)}")
        time.sleep(0.05)


def knows(process: Path, mark: bytes) -> bool:
    """Whether a process has the mark in its command line or environment."""
    try:
        return any(mark in (process / file).read_bytes() for file in ("cmdline", "environ"))
    except OSError:  # It ended meanwhile, or belongs to somebody else.
        return False
