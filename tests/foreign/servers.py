"""Starts what the foreign clients talk to, and sees to it that nothing of it is left. `checks.py` calls it."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# The bot of `figaro demo`, and the private chat of its visitor.
TOKEN = "7000000001:offline"
CHAT = 1001

START, END = 20, 10


@contextmanager
def offline_telegram(binaries: Path, folder: Path) -> Iterator[dict[str, str]]:
    """`figaro demo`, for its Telegram; gives the variables with which figaro-mcp finds it."""
    with started([binaries / "figaro", "demo", "--port", "0"], {}, folder, "demo") as line:
        url = next(word for word in line.split() if word.startswith("http://")).rstrip("/")
        yield {"TELEGRAM_BOT_TOKEN": TOKEN, "TELEGRAM_API_URL": url}


@contextmanager
def mcp_server(binaries: Path, folder: Path, telegram: dict[str, str], key: str | None) -> Iterator[str]:
    """figaro-mcp over HTTP on a free port, with or without a key; gives its URL."""
    variables = telegram | {"MCP_HTTP_PORT": "0"} | ({"MCP_API_KEY": key} if key else {})
    with started([binaries / "figaro-mcp", "--all"], variables, folder, "with-key" if key else "open") as line:
        yield line.removeprefix("READY ")


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
