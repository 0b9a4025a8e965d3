"""The checks of foreign MCP clients against figaro-mcp, counted: `run` starts this in the clients' own Python.

The clients: the MCP conformance suite, which can send no key and so meets a server without one, the MCP Inspector, the
official Python client, also a hundred at once, FastMCP, the OpenAI Agents SDK, LangChain's adapters, and the official
client for Node. Ends with 1 if anything is not as it should be, and with nothing left running.
"""

import asyncio
import base64
import json
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import client
import crowd
from expect import TEXT_FILE, Wrong, expect, expect_names, shortened
from libraries import LIBRARIES, Library
from servers import mcp_server, nothing_runs, offline_telegram, ran

HERE = Path(__file__).resolve().parent
TABLE = HERE.parents[1] / "mcp-server" / "bot-api"
KEY = "sesame"
TIMEOUT_SECONDS = 30
PICTURE = {"name": "dot.png", "base64": base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()}

# Scenarios of the suite that need nothing but a server.
PLAIN = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
]

# Scenarios that read a resource of a test server, and the file that stands in for it.
RESOURCES = {
    "resources-read-text": ("test://static-text", TEXT_FILE),
    "resources-read-binary": ("test://static-binary", PICTURE),
}

# What else the suite has, and why it says nothing about this server.
NOT_APPLICABLE = {
    "completions are not offered": ["completion-complete"],
    "prompts are not offered": [
        "prompts-list",
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
    ],
    "changing the log level is not offered": ["logging-set-level", "tools-call-with-logging"],
    "subscriptions to resources are not offered": ["resources-subscribe", "resources-unsubscribe"],
    "no tool asks the client for something": [
        "tools-call-sampling",
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
    ],
    "no tool tells its progress": ["tools-call-with-progress"],
    "wants a certain picture or sound of a test server's tool": [
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
    ],
    "wants a certain tool in the list": ["json-schema-2020-12"],
    "wants a certain text behind a certain handle": ["resources-templates-read"],
}
PARTLY = "server-sse-polling: its third part needs a tool that closes its stream in mid-call"


class Report:
    """Runs checks, says how each ended, and counts."""

    def __init__(self) -> None:
        self.passed = self.failed = 0

    def check(self, name: str, test: Callable[..., Any], *args: Any, timeout: float = TIMEOUT_SECONDS) -> None:
        """One check; a failure is told, and the others still run."""
        start = time.monotonic()
        try:
            made = test(*args)
            if isinstance(made, Awaitable):
                asyncio.run(asyncio.wait_for(made, timeout))
        except Exception as error:  # A client may fail in any way; each is a failed check.
            self.failed += 1
            print(f"FAILED  {name}: {'; '.join(reasons(error))}", flush=True)
        else:
            self.passed += 1
            print(f"ok      {name} ({time.monotonic() - start:.1f} s)", flush=True)


class Suite:
    """The conformance suite."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.run: set[str] = set()
        self.no_excuses = folder / "no-excuses.yml"
        self.no_excuses.touch()

    def scenario(self, name: str, rename: dict[str, str] | None = None) -> list[dict[str, Any]]:
        """Runs one scenario, of which no part may fail or warn; gives the parts that are more than a note."""
        self.run.add(name)
        out = self.folder / f"suite-{name}"
        # Only with a list of excuses, be it empty, does a warning count.
        strict = ["--expected-failures", str(self.no_excuses)]
        more = {"NODE_OPTIONS": f"--import={HERE / 'rename.mjs'}", "RENAME": json.dumps(rename)} if rename else {}
        command = ["conformance", "server", "--url", self.url, "--scenario", name, "-o", str(out), *strict]
        code, printed = ran(command, self.folder, more)
        if code != 0:
            raise Wrong(f"exit code {code}: {printed[-1500:]}")
        parts = [part for file in out.glob("*/checks.json") for part in json.loads(file.read_text())]
        parts = [part for part in parts if part["status"] != "INFO"]
        expect({part["status"] for part in parts}, {"SUCCESS"}, "the parts")
        return parts

    def simple_text(self) -> None:
        """The suite looks for any text; here the whole answer counts."""
        (part,) = self.scenario("tools-call-simple-text", {"test_simple_text": "getMe"})
        result = part["details"]["result"]
        expect((result.get("isError", False), name_of_bot(result)), (False, "figaro_bot"), "getMe")

    def error(self) -> None:
        """A method without arguments that Telegram itself refuses."""
        (part,) = self.scenario("tools-call-error", {"test_error_handling": "editMessageText"})
        why = {"ok": False, "error": {"error_code": 400, "description": "Bad Request: message text is empty"}}
        result = part["details"]["result"]
        expect((result["isError"], json.loads(result["content"][0]["text"])), (True, why), "editMessageText")

    def file(self, scenario: str, wanted: str, file: dict[str, str]) -> None:
        """A file that was sent in place of the resource."""
        handle = asyncio.run(client.put_file(self.url, file))
        self.scenario(scenario, {wanted: handle})

    def polling(self) -> None:
        """What a client needs to come back to a stream."""
        parts = self.scenario("server-sse-polling", {"test_reconnection": "getMe"})
        expect([part["id"] for part in parts], ["server-sse-priming-event", "server-sse-retry-field"], "the parts")

    def complete(self) -> None:
        """Each scenario was run, or is listed with the reason why not."""
        code, printed = ran(["conformance", "list", "--server"], self.folder, {})
        expect(code, 0, "the exit code")
        known = {line.split()[1] for line in printed.splitlines() if line.startswith("  - ")}
        excused = {name for names in NOT_APPLICABLE.values() for name in names}
        expect(known - self.run, excused, "the scenarios that were not run")


class Inspector:
    """The Inspector on the command line."""

    def __init__(self, url: str, folder: Path, telegram: dict[str, str], binaries: Path) -> None:
        self.folder = folder
        self.http = [url, "--transport", "http", "--stored-auth-only"]
        variables = [word for name, value in telegram.items() for word in ("-e", f"{name}={value}")]
        self.stdio = ["--transport", "stdio", *variables]
        self.program = ["--", str(binaries / "figaro-mcp"), "--stdio", "--all"]

    def ask(self, where: list[str], what: list[str], program: Sequence[str] = ()) -> tuple[int, Any]:
        """The exit code, and the first line printed, which is the answer as JSON."""
        command = ["mcp-inspector", "--cli", *where, "--method", *what, "--format", "json", *program]
        code, printed = ran(command, self.folder, {"RUST_LOG": "warn"})
        try:
            return code, json.loads(printed.splitlines()[0])
        except (IndexError, ValueError):
            raise Wrong(f"exit code {code} and no JSON: {printed[-1500:]}") from None

    def keyed(self, key: str) -> list[str]:
        """Where the server with a key is, and the key to show there."""
        return [*self.http, "--header", f"Authorization: Bearer {key}"]

    def lists(self, where: list[str], program: Sequence[str], tools: set[str]) -> None:
        """All pages of tools."""
        code, answer = self.ask(where, ["tools/list"], program)
        expect(code, 0, "the exit code")
        expect_names([tool["name"] for tool in answer["result"]["tools"]], tools)

    def calls(self, where: list[str], program: Sequence[str]) -> None:
        """A call that succeeds."""
        code, answer = self.ask(where, ["tools/call", "--tool-name", "getMe"], program)
        expect((code, name_of_bot(answer["result"])), (0, "figaro_bot"), "getMe")

    def is_refused_a_call(self) -> None:
        """A call that Telegram refuses."""
        arguments = ["--tool-name", "getChat", "--tool-args-json", '{"chat_id":404}']
        code, answer = self.ask(self.keyed(KEY), ["tools/call", *arguments])
        why = answer["result"]["structuredContent"]["error"]["description"]
        expect((code, why), (5, "Bad Request: chat not found"), "a call that Telegram refuses")

    def is_turned_away(self, where: list[str]) -> None:
        """No tools for who has not the key."""
        code, answer = self.ask(where, ["tools/list"])
        expect((code, answer.get("error", {}).get("code")), (3, "auth_required"), "the answer")


def name_of_bot(result: dict[str, Any]) -> str:
    """What getMe gave, which stands in its text and beside it."""
    expect(json.loads(result["content"][0]["text"]), result["structuredContent"], "text and structured content")
    return result["structuredContent"]["result"]["username"]


def reasons(error: BaseException) -> list[str]:
    """The errors inside of a group of errors."""
    if isinstance(error, BaseExceptionGroup):
        return [reason for inner in error.exceptions for reason in reasons(inner)]
    return [str(error) if isinstance(error, Wrong) else shortened(error)]


def served_tools() -> set[str]:
    """The methods that `--all` lists, and the search."""
    classes = json.loads((TABLE / "classes.json").read_bytes())["methods"]
    methods = json.loads((TABLE / "methods.json").read_bytes())["methods"]
    return {name for name in methods if classes[name] != "lifecycle"} | {"find_telegram_methods"}


def everyday_tools() -> set[str]:
    """The tools that are listed without `--all`."""
    return {*json.loads((TABLE / "everyday.json").read_bytes()), "find_telegram_methods", "call_telegram_method"}


def conformance(report: Report, suite: Suite) -> None:
    """The suite against a server without a key."""
    for name in PLAIN:
        report.check(f"conformance {name}", suite.scenario, name)
    report.check("conformance tools-call-simple-text, with getMe", suite.simple_text)
    report.check("conformance tools-call-error, with editMessageText", suite.error)
    report.check("conformance server-sse-polling, two of three parts", suite.polling)
    for name, resource in RESOURCES.items():
        report.check(f"conformance {name}, with a file of a message", suite.file, name, *resource)
    report.check("conformance: every scenario is run or has a reason", suite.complete)
    for why, names in NOT_APPLICABLE.items():
        print(f"-       conformance {', '.join(names)}: {why}")
    print(f"-       conformance {PARTLY}")


def inspector(report: Report, inspect: Inspector, tools: set[str]) -> None:
    """The Inspector against a server with a key, and one that it starts itself."""
    for how, where, program in [("HTTP", inspect.keyed(KEY), ()), ("stdio", inspect.stdio, inspect.program)]:
        report.check(f"inspector over {how} lists {len(tools)} tools", inspect.lists, where, program, tools)
        report.check(f"inspector over {how} calls getMe", inspect.calls, where, program)
    report.check("inspector is told of a refused call", inspect.is_refused_a_call)
    report.check("inspector without a key is turned away", inspect.is_turned_away, inspect.http)
    report.check("inspector with a wrong key is turned away", inspect.is_turned_away, inspect.keyed("sesam"))


def python_client(report: Report, url: str, program: Callable[..., Any], tools: set[str]) -> None:
    """The official Python client, in both of its ways to begin."""
    for mode, revision in client.REVISIONS.items():
        what = f"lists {len(tools)} tools, calls, sends and reads a file, {revision}"
        report.check(f"python over HTTP {what}", client.over_http, url, KEY, mode, tools)
        report.check(f"python over stdio {what}", client.over_stdio, program("--all"), mode, tools)
    report.check("python over stdio calls a method that is not listed", client.everyday, program())
    report.check("python without a key is turned away", client.turned_away, url, None)
    report.check("python with a wrong key is turned away", client.turned_away, url, "sesam")


def libraries(report: Report, url: str, binaries: Path, folder: Path, telegram: dict[str, str]) -> None:
    """The client libraries against a server with a key that lists the everyday methods, and one that they start."""
    listed, served = everyday_tools(), served_tools()
    for name in LIBRARIES:
        library = Library(name, folder, telegram)
        what = f"lists {len(listed)} tools, finds, calls, is told of a refused call"
        report.check(f"{name} over HTTP {what}", library.over_http, url, KEY, listed)
        what = f"lists {len(served)} tools, calls, is told of a refused call"
        report.check(f"{name} over stdio {what}", library.over_stdio, binaries, served)
        report.check(f"{name} without a key or with a wrong one is turned away", library.is_turned_away, url)


def main() -> int:
    """Runs all checks against the binaries in the folder that the command line names."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    binaries, start, tools = Path(sys.argv[1]), time.monotonic(), served_tools()
    report = Report()
    with ExitStack() as world:
        folder = Path(world.enter_context(tempfile.TemporaryDirectory(prefix="foreign-")))
        telegram = world.enter_context(offline_telegram(binaries, folder))

        def server(name: str, key: str | None, *flags: str) -> str:
            return world.enter_context(mcp_server(binaries, folder, telegram, name, key, *flags))

        without_key, with_key = server("open", None, "--all"), server("with-key", KEY, "--all")
        conformance(report, Suite(without_key, folder))
        inspector(report, Inspector(with_key, folder, telegram, binaries), tools)
        python_client(report, with_key, lambda *flags: client.command(binaries, telegram, *flags), tools)
        libraries(report, server("everyday", KEY), binaries, folder, telegram)
        # A server of their own, which has sent nothing yet: its pace leaves just enough time.
        crowded = (server("crowd", KEY), KEY, telegram)
        guests = f"{len(crowd.CHATS)} clients at once lose none of {5 * len(crowd.CHATS)} calls"
        report.check(guests, crowd.no_call_is_lost, *crowded, timeout=crowd.TIMEOUT_SECONDS)
    report.check("nothing is left running", nothing_runs, telegram["TELEGRAM_API_URL"])
    failed = f"{report.failed} FAILED, " if report.failed else ""
    print(f"foreign clients: {failed}{report.passed} checks passed ({time.monotonic() - start:.0f} s)")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
