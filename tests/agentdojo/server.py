"""The two services that Figaro talks to: a model that an injection has turned, and AgentDojo's tools over MCP.

Both are plain HTTP on one free port of this machine: /v1/… in the dialect of Chat Completions, and /mcp.
"""

import html
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import world

MODEL = "turned"
NOT_HERE = {"error": {"message": "not here", "type": "invalid_request_error"}}
# How a tool is marked for clients, by what it does.
HINTS = {
    "reads": {"readOnlyHint": True},
    # An address can carry words away.
    "opens": {"readOnlyHint": True, "openWorldHint": True},
    "adds": {"readOnlyHint": False, "destructiveHint": True},
    "changes": {"readOnlyHint": False, "destructiveHint": True},
}
# As the protocol words it: what only adds destroys nothing.
LITERAL = HINTS | {"adds": {"readOnlyHint": False, "destructiveHint": False}}


class Stage:
    """What both services know of the case that is played, and what they see of it."""

    def __init__(self, suite: str, literal: bool) -> None:
        self.suite, self.hints = suite, LITERAL if literal else HINTS
        self.lock = threading.Lock()
        self.play: world.Play | None = None
        self.open(None)

    def open(self, play: world.Play | None) -> None:
        with self.lock:
            self.play = play
            is_early = play is not None and world.rehearse(play.case).is_early
            self.due, self.later = play.in_order(is_early) if play else ([], [])
            self.issued: list[world.Call] = []
            # What the tool gave for a call, by the call's number; nothing if it was not made.
            self.gave: dict[int, str] = {}
            self.seen = ""
            self.has_turned = self.has_ended = False
            self.faults: list[str] = []

    def fault(self, words: str) -> None:
        self.faults.append(words)

    def next_call(self) -> world.Call | None:
        """The next call of the turned model: the user's, then the injection's. None once it answers."""
        if not self.due and not self.has_turned:
            self.has_turned = True
            self.due = self.play.injected_calls() + self.later
        if not self.due:
            self.has_ended = True
            return None
        call = self.due.pop(0)
        self.issued.append(call)
        return call


def start(stage: Stage) -> tuple[ThreadingHTTPServer, str]:
    """Both services on a free port of this machine, and their address."""
    handler = type("Handler", (Services,), {"stage": stage})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"


class Services(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    stage: Stage

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""

    def do_GET(self) -> None:
        # An MCP server may refuse a stream of its own.
        if self.path == "/v1/models":
            return self.whole(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        self.whole(405 if self.path == "/mcp" else 404, NOT_HERE)

    def do_DELETE(self) -> None:
        self.whole(405, NOT_HERE)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/mcp":
            return self.protocol(body)
        if self.path == "/v1/chat/completions":
            return self.model(body)
        self.whole(404, NOT_HERE)

    # MCP

    def protocol(self, body: dict) -> None:
        if "id" not in body:
            return self.whole(202, None)
        result = self.result(body["method"], body.get("params") or {})
        if result is None:
            error = {"code": -32601, "message": "no such method"}
            return self.whole(200, {"jsonrpc": "2.0", "id": body["id"], "error": error})
        self.whole(200, {"jsonrpc": "2.0", "id": body["id"], "result": result})

    def result(self, method: str, params: dict) -> dict | None:
        if method == "initialize":
            about = {"name": f"agentdojo-{self.stage.suite}", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": tools(self.stage)}
        if method == "tools/call":
            return self.called(world.Call.of(params["name"], params.get("arguments") or {}))
        return None

    def called(self, call: world.Call) -> dict:
        stage = self.stage
        with stage.lock:
            if not stage.play or not stage.issued or stage.issued[-1] != call:
                stage.fault(f"a call arrived that the model has not made last: {call}")
            text, is_error = stage.play.execute(call) if stage.play else ("no case is played", True)
            stage.gave[len(stage.issued)] = text
        return {"content": [{"type": "text", "text": text}], "isError": is_error}

    # The model

    def model(self, body: dict) -> None:
        stage = self.stage
        with stage.lock:
            if not stage.play:
                return self.answer(body, {"content": "Nothing is asked."}, "stop")
            self.look(body)
            call = stage.next_call()
            number = len(stage.issued)
            words = stage.play.words()
        if not call:
            return self.answer(body, {"content": words}, "stop")
        function = {"name": f"{stage.suite}__{call.tool}", "arguments": call.arguments}
        made = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        self.answer(body, {"tool_calls": [made]}, "tool_calls")

    def look(self, body: dict) -> None:
        """Checks what the model is sent: the tools, and a result of the call that it made last."""
        stage = self.stage
        offered = {tool["function"]["name"] for tool in body.get("tools", [])}
        missing = [tool["name"] for tool in tools(stage) if f"{stage.suite}__{tool['name']}" not in offered]
        if missing:
            stage.fault(f"tools are not offered: {missing}")
        results = {one["tool_call_id"]: text(one) for one in body["messages"] if one["role"] == "tool"}
        number = len(stage.issued)
        result = results.get(f"call_{number}")
        if number and result is None:
            stage.fault(f"no result of {stage.issued[-1]}")
        if result and number in stage.gave:
            begins = world.letters(stage.gave[number])[:40]
            if begins not in world.letters(told(result)):
                stage.fault(f"the result of {stage.issued[-1]} is not what the tool gave: {result[:200]}")
        stage.seen += told(result or "")

    def answer(self, body: dict, delta: dict, finish: str) -> None:
        usage = {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35}
        frame = {"id": "c", "created": 1, "model": MODEL}
        if not body.get("stream"):
            message = {"role": "assistant", "content": None} | delta
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return self.whole(200, frame | {"object": "chat.completion", "choices": [choice], "usage": usage})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        chunks = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {"choices": [], "usage": usage},
        ]
        frame["object"] = "chat.completion.chunk"
        lines = [f"data: {json.dumps(frame | chunk)}\n\n" for chunk in chunks]
        self.wfile.write("".join([*lines, "data: [DONE]\n\n"]).encode())
        self.close_connection = True

    def whole(self, status: int, body: dict | None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def tools(stage: Stage) -> list[dict]:
    """AgentDojo's tools of the suite. A tool that is not mapped has no hints: by the protocol it may destroy something."""
    kinds = world.kinds(stage.suite)
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.parameters.model_json_schema(),
            "annotations": stage.hints.get(kinds.get(tool.name), {}),
        }
        for tool in world.suite(stage.suite).tools
    ]


def text(message: dict) -> str:
    """The words of a message."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def told(result: str) -> str:
    """The words of a result. Figaro sends JSON, escaped so that no word of it looks like a mark of the prompt."""
    result = html.unescape(result)
    try:
        return str(json.loads(result).get("result", result))
    except ValueError:
        return result.replace("\\n", "\n")
