"""Agent that sends the lines of its script at each prompt, valid or not: `raw_agent.py SCRIPT.json`.

In a line, PROMPT is the id of the prompt and MINE its conversation. The script is
`{"lines": [...], "times": 1, "new": {}}`: `times` repeats the lines, `new` is sent in place of the answer to `session/new`.
With `closes` it closes its standard output after them and keeps running.
It writes all other messages that it receives to SCRIPT.json.received.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

SCRIPT = json.loads(Path(sys.argv[1]).read_text())


def send(line: str, request: object) -> None:
    line = line.replace("PROMPT", json.dumps(request)).replace("MINE", "conversation-1")
    sys.stdout.buffer.write(line.encode("utf-8", "surrogatepass") + b"\n")
    sys.stdout.buffer.flush()


def answer(request: object, result: object) -> None:
    send(json.dumps({"jsonrpc": "2.0", "id": request, "result": result}), request)


for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            answer(message["id"], {"protocolVersion": 1, "agentInfo": {"name": "raw", "version": "1"}})
        case "session/new":
            modes = {
                "currentModeId": "ask",
                "availableModes": [{"id": "ask", "name": "a"}, {"id": "yolo", "name": "y"}],
            }
            result = {"sessionId": "conversation-1", "modes": modes}
            answer(message["id"], SCRIPT.get("new", result))
        case "session/prompt":
            for reply in SCRIPT["lines"] * SCRIPT.get("times", 1):
                send(reply, message["id"])
            if SCRIPT.get("closes"):
                os.close(1)
        case _:
            with Path(f"{sys.argv[1]}.received").open("a") as received:
                received.write(line)
