"""Model provider in its own process, in all wire formats: `python -m bench.workers.provider`.

It prints its port and answers every request immediately. The base URL's path begins with the number of deltas, each of
`PIECE`. With `reads` in its place, it answers chat completions with `READS` calls of Read, one per request, and then
with a text. With `turn`, it answers with the content of the measured turn: a call of Read, and after its result a text.
`/requests` returns the number of these requests and the newest two.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from bench.rigs.conversation import ANSWER, ARGUMENTS, TOOL
from bench.rigs.processes import Process, python

PIECE = "Step by step, it is read. "
#: Deltas written before waiting for the reader.
AT_ONCE = 50
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
#: Calls of Read in a turn with `reads`.
READS = 10
_requests, _numbers = count(), count()
_USAGE = {"input_tokens": 1, "output_tokens": 1}
_CHAT_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
#: Characters of the arguments in a delta. The text has a delta for each word.
ARGUMENT_CHARACTERS = 5
_ARGUMENTS = json.dumps(ARGUMENTS)
_WORDS = [f"{word} " for word in ANSWER.split()]
_turns: list[bytes] = []


@asynccontextmanager
async def provider() -> AsyncGenerator[str]:
    """Start a provider; yields the root of its addresses, such as `http://127.0.0.1:8000`."""
    async with Process(*python("bench.workers.provider")) as process:
        yield f"http://127.0.0.1:{await process.read_line()}"


def base_url(root: str, format: str, deltas: int | str = 1) -> str:
    """Return the base URL for a format, with a number of deltas, `reads` or `turn`."""
    return f"{root}/{deltas}{'' if format in ('anthropic', 'google') else '/v1'}"


def _event(name: str, data: Any) -> bytes:
    text = data if isinstance(data, str) else json.dumps(data)
    head = f"event: {name}\n" if name else ""
    return _chunk(f"{head}data: {text}\n\n".encode())


def _chunk(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body)


def _chat(deltas: int) -> Iterator[bytes]:
    chunk = {"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    piece = _event("", {**chunk, "choices": [{"index": 0, "delta": {"content": PIECE}, "finish_reason": None}]})
    yield from (piece for _ in range(deltas))
    yield _event("", {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield _event("", "[DONE]")


def _read() -> Iterator[bytes]:
    chunk = {"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    number = next(_numbers)
    # A different line each time: an agent that repeats itself is stopped.
    function = {"name": TOOL, "arguments": json.dumps({**ARGUMENTS, "offset": number % 5 + 1, "limit": 1})}
    call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
    yield _event("", {**chunk, "choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]})
    yield _event("", {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    yield _event("", "[DONE]")


def _turn(body: bytes) -> Iterator[bytes]:
    """Answer with a call of Read, or with the text if the request ends with the result of the call."""
    _turns.append(body)
    request = json.loads(body)
    chunk = {"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _event("", {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield event({"role": "assistant", "content": ""})
    if request["messages"][-1]["role"] == "tool":
        yield from (event({"content": word}) for word in _WORDS)
        yield event({}, "stop")
    else:
        # Callboard offers its tools in lower case.
        names = [tool["function"]["name"] for tool in request["tools"]]
        function = {"name": next(name for name in names if name.lower() == TOOL.lower()), "arguments": ""}
        call = {"index": 0, "id": f"call_{next(_numbers)}", "type": "function", "function": function}
        yield event({"tool_calls": [call]})
        for start in range(0, len(_ARGUMENTS), ARGUMENT_CHARACTERS):
            part = _ARGUMENTS[start : start + ARGUMENT_CHARACTERS]
            yield event({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
        yield event({}, "tool_calls")
    yield _event("", {**chunk, "choices": [], "usage": _CHAT_USAGE})
    yield _event("", "[DONE]")


def _list_requests() -> Iterator[bytes]:
    newest = [json.loads(body) for body in _turns[-2:]]
    yield _chunk(json.dumps({"count": len(_turns), "newest": newest}).encode())


def _responses(deltas: int) -> Iterator[bytes]:
    base: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    item: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress"}
    part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
    done = {**item, "status": "completed", "content": [{**part, "text": PIECE * deltas}]}
    position = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    count = iter(range(deltas + 10))

    def event(name: str, **data: Any) -> bytes:
        return _event(name, {"type": name, "sequence_number": next(count), **data})

    yield event("response.created", response={**base, "status": "in_progress"})
    yield event("response.output_item.added", output_index=0, item={**item, "content": []})
    yield event("response.content_part.added", part=part, **position)
    for _ in range(deltas):
        yield event("response.output_text.delta", delta=PIECE, logprobs=[], **position)
    yield event("response.output_text.done", text=PIECE * deltas, logprobs=[], **position)
    yield event("response.output_item.done", output_index=0, item=done)
    yield event("response.completed", response={**base, "status": "completed", "output": [done]})


def _messages(deltas: int) -> Iterator[bytes]:
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": _USAGE}

    def event(name: str, **data: Any) -> bytes:
        return _event(name, {"type": name, **data})

    yield event("message_start", message=message)
    yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    piece = event("content_block_delta", index=0, delta={"type": "text_delta", "text": PIECE})
    yield from (piece for _ in range(deltas))
    yield event("content_block_stop", index=0)
    yield event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage=_USAGE)
    yield event("message_stop")


def _generate_content(deltas: int) -> Iterator[bytes]:
    piece = _event("", {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": PIECE}]}}]})
    yield from (piece for _ in range(deltas))
    yield _event("", {"candidates": [{"index": 0, "finishReason": "STOP"}], "modelVersion": "m"})


def _events(path: str, body: bytes) -> Iterator[bytes]:
    """Return the function that answers a request to this path."""
    first = path.split("/")[1]
    if first == "requests":
        return _list_requests()
    if first == "turn":
        return _turn(body)
    if first == "reads":
        return _read() if next(_requests) % (READS + 1) < READS else _chat(1)
    deltas = int(first)
    if "chat/completions" in path:
        return _chat(deltas)
    if "/responses" in path:
        return _responses(deltas)
    return _messages(deltas) if "/messages" in path else _generate_content(deltas)


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            # Mostly discarded: a conversation of 10,000 turns has several megabytes.
            body = await reader.readexactly(int(fields.get("content-length", "0")))
            path = first.split()[1]
            writer.write(_HEAD)
            for at, event in enumerate(_events(path, body)):
                writer.write(event)
                if at % AT_ONCE == 0:
                    await writer.drain()
            writer.write(b"0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    """Serve until the standard input ends."""
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, input_ends)
    server.close()


def input_ends() -> None:
    """Wait until nothing more can be read from the standard input."""
    import sys

    sys.stdin.read()


if __name__ == "__main__":
    asyncio.run(main())
