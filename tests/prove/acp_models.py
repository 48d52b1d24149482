"""A local model server for coding agents: it plays a tool call and then a text, in OpenAI's and in Google's format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

#: What the model says once it has seen a result.
DONE = "The file is there."
TITLE = "A file"

#: Picks the call: from the names of the tools that are offered to a name and arguments.
Pick = Callable[[set[str]], tuple[str, dict[str, Any]]]


class Models:
    """A running server. `asked` are the bodies of the requests, in order."""

    def __init__(self, url: str, asked: list[dict[str, Any]]) -> None:
        self.url = url
        self.asked = asked


@contextmanager
def models(pick: Pick) -> Iterator[Models]:
    """The server, on a free port of this machine, until the end of the block."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send("application/json", json.dumps({"data": [], "models": []}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            asked.append({"path": self.path, **body})
            if "generateContent" in self.path.replace("streamG", "g"):
                self._google(body)
            elif self.path.endswith("/chat/completions"):
                self._openai(body)
            else:
                self._send("application/json", json.dumps({"totalTokens": 1}))

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def _openai(self, body: dict[str, Any]) -> None:
            tools = {one["function"]["name"] for one in body.get("tools", ())}
            seen = body["messages"][-1]["role"] == "tool"
            base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model", "m")}
            delta: dict[str, Any] = {"role": "assistant", "content": DONE if seen else TITLE}
            reason = "stop"
            if tools and not seen:
                name, arguments = pick(tools)
                call = {"name": name, "arguments": json.dumps(arguments)}
                delta = {
                    "role": "assistant",
                    "tool_calls": [{"index": 0, "id": "t1", "type": "function", "function": call}],
                }
                reason = "tool_calls"
            usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
            if not body.get("stream"):
                message = {**base, "object": "chat.completion", "usage": usage}
                self._send(
                    "application/json",
                    json.dumps({**message, "choices": [{"index": 0, "message": delta, "finish_reason": reason}]}),
                )
                return
            chunks = [
                {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
            ]
            self._send(
                "text/event-stream", "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n\n"
            )

        def _google(self, body: dict[str, Any]) -> None:
            tools = {one["name"] for tool in body.get("tools", ()) for one in tool.get("functionDeclarations", ())}
            contents = body.get("contents", [])
            seen = any("functionResponse" in part for part in contents[-1].get("parts", ())) if contents else False
            part: dict[str, Any] = {"text": DONE if seen else TITLE}
            if tools and not seen:
                name, arguments = pick(tools)
                part = {"functionCall": {"name": name, "args": arguments}}
            answer = {
                "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18},
                "modelVersion": "fake",
            }
            if "stream" in self.path:
                self._send("text/event-stream", f"data: {json.dumps(answer)}\n\n")
            else:
                self._send("application/json", json.dumps(answer))

        def _send(self, kind: str, text: str) -> None:
            data = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield Models(f"http://127.0.0.1:{server.server_port}", asked)
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
