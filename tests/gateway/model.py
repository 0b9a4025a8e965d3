"""A model for the checks of the gateway: answers by rule, in the dialect of Chat Completions, as a stream."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORDS = ["Hello ", "from ", "the ", "model."]


def start() -> tuple[ThreadingHTTPServer, str]:
    """A model on a free port of this machine, and its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}/v1"


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""

    def do_GET(self) -> None:
        self.whole(200, {"object": "list", "data": [{"id": "rule", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        last = body["messages"][-1]
        asked = next((text(m) for m in reversed(body["messages"]) if m["role"] == "user"), "")
        names = [tool["function"]["name"] for tool in body.get("tools", [])]
        if "please fail" in asked:
            return self.whole(400, {"error": {"message": "the service does not like it", "type": "invalid_request_error"}})
        if any("You summarise conversations." in text(m) for m in body["messages"] if m["role"] == "system"):
            return self.stream([{"content": '{"summary": "They said hello.", "importance": 5}'}], "stop")
        if last["role"] == "tool":
            return self.stream([{"content": f"The tool says: {text(last)}"}], "stop")
        choice = body.get("tool_choice")
        if choice and choice != "auto" and names:
            # Instructor and pydantic-ai have their answers come as calls.
            name = choice["function"]["name"] if isinstance(choice, dict) else names[0]
            call = {"index": 0, "id": "call_1", "type": "function"}
            call["function"] = {"name": name, "arguments": '{"city": "Riga", "degrees": 21}'}
            return self.stream([{"tool_calls": [call]}], "tool_calls")
        if "weather" in asked and "get_weather" in names:
            call = {"index": 0, "id": "call_1", "type": "function"}
            call["function"] = {"name": "get_weather", "arguments": '{"city": "Riga"}'}
            return self.stream([{"tool_calls": [call]}], "tool_calls")
        if "as JSON" in asked:
            return self.stream([{"content": '{"city": "Riga", "degrees": 21}'}], "stop")
        return self.stream([{"content": word} for word in WORDS], "stop")

    def whole(self, status: int, body: dict) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, deltas: list[dict], finish: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        frame = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "rule"}
        chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        chunks.append({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35}})
        for chunk in chunks:
            self.wfile.write(f"data: {json.dumps(frame | chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


def text(message: dict) -> str:
    """The words of a message."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)
