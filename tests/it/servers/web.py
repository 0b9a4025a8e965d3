"""An MCP server by HTTP for tests: the path says in what way it misbehaves. The argument is the port."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EVENTS = "text/event-stream"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, body, kind="application/json", status=200, session=None):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if session:
            self.send_header("mcp-session-id", session)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(b"<html>hi</html>", "text/html")

    def do_DELETE(self):
        self.reply(b"", status=405)

    def do_POST(self):
        mode = self.path.strip("/")
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, number = message.get("method"), message.get("id")
        if number is None:
            self.reply(b"", status=202)
            return
        answer = {"jsonrpc": "2.0", "id": number, "result": {}}
        if method == "initialize":
            capabilities, info = {"tools": {}}, {"name": "web", "version": "1"}
            answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
        elif method == "tools/list":
            bake = {"name": "bake", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
            answer["result"] = {"tools": [bake]}
        elif method == "tools/call":
            answer["result"] = {"content": [{"type": "text", "text": "kumquat"}]}
            if mode == "refuses":
                del answer["result"]
                answer["error"] = {"code": -32000, "message": "kumquat"}
                self.reply(json.dumps(answer).encode(), status=500)
                return
        text = json.dumps(answer)
        event = f"event: message\ndata: {text}\n\n"
        match mode:
            case "ping":
                event = f": hello\n\nevent: ping\ndata: {{}}\n\nevent: ping\ndata: now\n\n{event}"
            case "no_end":
                event = event.rstrip()
            case "stray":
                event = f'data: {{"jsonrpc": "2.0", "id": 12345, "result": {{}}}}\n\n{event}'
            case "bom":
                self.reply(b"\xef\xbb\xbf" + text.encode())
                return
            case "batch":
                noise = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
                self.reply(json.dumps([noise, answer]).encode())
                return
            case "untyped":
                self.reply(text.encode(), "text/plain")
                return
            case "no_id":
                self.reply(json.dumps({**answer, "id": None}).encode())
                return
            case "page":
                if method == "tools/call":
                    self.reply(b"<html>hi</html>", "text/html")
                    return
        self.reply(event.encode(), EVENTS, session="abc" if mode == "session" else None)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
