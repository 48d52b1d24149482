"""A tool server with scripted tools, on the standard library alone.

It uses the handshake of 2025-06-18. Its first argument is the file in which it records calls.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_LOCK = threading.Lock()
_ANSWERS: dict[str, Any] = {}
_CANCELLED: set[Any] = set()
_ANSWERED = threading.Event()
_CHANGED = threading.Event()


def _tool(name: str, properties: dict[str, Any] | None = None, **hints: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties or {}, "required": list(properties or {})}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema, "annotations": hints}


def _tools() -> list[dict[str, Any]]:
    text = {"text": {"type": "string", "pattern": "^[a-z ]*$"}}
    tools = [
        _tool("echo", text, readOnlyHint=True),
        _tool("wipe", text, destructiveHint=True),
        _tool("note", text, destructiveHint=False),
        *(
            _tool(name)
            for name in ("count", "ask", "confirm", "visit", "sample", "die", "hang", "flood", "prattle", "picture")
        ),
        *(_tool(name) for name in ("data", "refuse", "grow", "wrong", "count_and_hang", "close", "half")),
    ]
    if _CHANGED.is_set():
        return [_tool("echo", {"text": {"type": "string"}, "loud": {"type": "boolean"}}, readOnlyHint=True), *tools[1:]]
    return tools


def send(message: dict[str, Any]) -> None:
    with _LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def note(text: str) -> None:
    with _LOCK, Path(sys.argv[1]).open("a") as file:
        file.write(f"{text}\n")


def _text(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


def ask_client(method: str, params: dict[str, Any]) -> Any:
    _ANSWERED.clear()
    send({"id": "q1", "method": method, "params": params})
    _ANSWERED.wait()
    return _ANSWERS.pop("q1")


def _call(number: Any, params: dict[str, Any]) -> None:  # noqa: C901 - one case a tool
    name, arguments = params["name"], params.get("arguments") or {}
    token = (params.get("_meta") or {}).get("progressToken")
    note(f"call {name} {json.dumps(arguments, sort_keys=True)}")
    match name:
        case "echo" | "wipe" | "note":
            result = _text(arguments["text"])
        case "count":
            for done in (1, 2, 3):
                progress = {"progressToken": token, "progress": done, "total": 3, "message": f"{done} of 3"}
                send({"method": "notifications/progress", "params": progress})
            result = _text("counted")
        case "count_and_hang":
            progress = {"progressToken": token, "progress": 1, "total": 3, "message": "1 of 3"}
            send({"method": "notifications/progress", "params": progress})
            while number not in _CANCELLED:
                time.sleep(0.01)
            return
        case "ask":
            schema = {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}, "required": ["size"]}
            result = _text(
                json.dumps(ask_client("elicitation/create", {"message": "How large?", "requestedSchema": schema}))
            )
        case "confirm":
            two = {"a": {"type": "string"}, "b": {"type": "boolean"}}
            schema = {"type": "object", "properties": two, "required": ["a", "b"]}
            result = _text(
                json.dumps(ask_client("elicitation/create", {"message": "Which?", "requestedSchema": schema}))
            )
        case "visit":
            request = {
                "mode": "url",
                "message": "Log in there.",
                "url": "https://example.org/login",
                "elicitationId": "e1",
            }
            result = _text(json.dumps(ask_client("elicitation/create", request)))
        case "sample":
            message = {"role": "user", "content": {"type": "text", "text": "hi"}}
            result = _text(json.dumps(ask_client("sampling/createMessage", {"messages": [message], "maxTokens": 5})))
        case "die":
            sys.stderr.write("the disk is on fire\n")
            sys.stderr.flush()
            os._exit(7)
        case "hang":
            while number not in _CANCELLED:
                time.sleep(0.01)
            note("cancelled")
            return
        case "close":
            os.close(1)
            return
        case "flood":
            sys.stdout.write("x" * (100 * 1024 * 1024) + "\n")
            return
        case "prattle":
            sys.stdout.write("this is no message\n{}\n")
            result = _text("done")
        case "picture":
            result = {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]}
        case "half":
            result = _text("a\ud83db", structuredContent={"\ude00": ["\ud83d\ude00"]})
        case "data":
            result = {"content": [], "structuredContent": {"n": 1}}
        case "refuse":
            result = _text("there is no such page", isError=True)
        case "grow":
            _CHANGED.set()
            send({"method": "notifications/tools/list_changed"})
            result = _text("grown")
        case _:
            result = {"nothing": "of this"}
    send({"id": number, "result": result})


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        number, method = message.get("id"), message.get("method")
        match method:
            case "initialize":
                about = {"name": "scripted", "title": "Scripted", "version": "1.0"}
                capabilities = {"tools": {"listChanged": True}}
                result = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": about}
                send({"id": number, "result": result})
            case "tools/list":
                send({"id": number, "result": {"tools": _tools()}})
            case "tools/call":
                threading.Thread(target=_call, args=(number, message["params"]), daemon=True).start()
            case "notifications/cancelled":
                _CANCELLED.add(message["params"]["requestId"])
            case None:
                _ANSWERS[number] = message.get("result") or message.get("error")
                _ANSWERED.set()
            case _ if number is not None:
                send({"id": number, "error": {"code": -32601, "message": "no such method"}})
            case _:
                pass


if __name__ == "__main__":
    main()
