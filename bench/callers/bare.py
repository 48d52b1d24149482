"""Baseline without a client: the bytes of a conversation, encoded once, over a socket."""

from __future__ import annotations

import asyncio
import json
import socket
from urllib.parse import urlsplit

from bench.rigs.conversation import ANSWER, ARGUMENTS, NOTES, PROMPT, TOOL

_END = b"0\r\n\r\n"
#: Bytes per write, as in Callboard.
_BLOCK = 1024 * 1024


class Caller:
    def __init__(self, format: str, base_url: str) -> None:
        del format
        self._address = urlsplit(base_url)
        self._socket: socket.socket | None = None
        self._blocks: list[bytes] = []

    def load(self, turns: int) -> None:
        """Encode the body as chat completions. Bodies of other formats differ by a few percent."""
        messages = [message for number in range(turns) for message in _turn(f"call_{number}")]
        body = json.dumps({"model": "m", "messages": messages}).encode()
        head = f"POST {self._address.path}/chat/completions HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        self._blocks = [head, *(body[at : at + _BLOCK] for at in range(0, len(body), _BLOCK))]

    async def call(self) -> None:
        loop = asyncio.get_running_loop()
        if self._socket is None:
            self._socket = socket.socket()
            self._socket.setblocking(False)
            await loop.sock_connect(self._socket, (self._address.hostname, self._address.port))
        for block in self._blocks:
            await loop.sock_sendall(self._socket, block)
        answer = b""
        while not answer.endswith(_END):
            answer += await loop.sock_recv(self._socket, 65536)

    async def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


def _turn(call: str) -> list[dict[str, object]]:
    function = {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}
    calls = [{"id": call, "type": "function", "function": function}]
    return [
        {"role": "user", "content": PROMPT},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": call, "content": NOTES},
        {"role": "assistant", "content": ANSWER},
    ]
