"""A local model server for coding agents, in the format of each agent's model."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.prove.acp.formats import DONE, Call, Conversation, answer

__all__ = ["DONE", "Models", "models"]


class Models:
    """A running server.

    `asked` has the bodies of the requests in order; `turn` gets the calls of each turn before it.
    """

    def __init__(self, url: str, requests: list[dict[str, Any]], turn: Callable[[list[Call], str], None]) -> None:
        self.url = url
        self.requests = requests
        self.turn = turn


@contextmanager
def models() -> Iterator[Models]:
    """Serve on a free port of this machine until the end of the block."""
    requests: list[dict[str, Any]] = []
    conversation = Conversation()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send("application/json", json.dumps({"data": [], "models": []}))

        def do_POST(self) -> None:
            read = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}"
            body = json.loads(read)
            requests.append({"path": self.path, **body})
            if not conversation.belongs(read.decode()):
                body.pop("tools", None)
            self._send(*answer(self.path, body, conversation))

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def _send(self, kind: str, text: str) -> None:
            data = text.encode()
            # An agent may have dropped its request.
            with contextlib.suppress(ConnectionError):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield Models(f"http://127.0.0.1:{server.server_port}", requests, conversation.turn)
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
