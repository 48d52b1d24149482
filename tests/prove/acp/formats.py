"""Model answers that play a tool call and then a text, in the formats of OpenAI, Google and
Anthropic.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

#: The model's text after it received a result.
DONE = "The file is there."
TITLE = "A file"

#: A tool and its arguments.
Call = tuple[str, dict[str, Any]]


class Conversation:
    """The model's calls of a turn, one after the result of the other, and then a text.

    Agents add notes after results, so the last message does not say whether a result is there.
    """

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._open: tuple[str, Call] | None = None
        self._count = 0
        self._text = ""

    def turn(self, calls: list[Call], text: str) -> None:
        """Begin another turn with that text. Open calls of the former turn get no answer."""
        self._calls, self._open, self._text = list(calls), None, text

    def belongs(self, body: str) -> bool:
        """Return True for a request of this turn.

        Some agents ask their model for more, also after a turn.
        """
        return self._text in body

    @property
    def open(self) -> tuple[str, ...]:
        """Return the id of the call that waits for its result."""
        return (self._open[0],) if self._open is not None else ()

    def next(self, tools: set[str], results: Iterable[str]) -> tuple[str, str, dict[str, Any]] | None:
        """Return the next call with its id; None if the answer is a text, because all calls have
        results or no tool is offered.
        """
        if not tools:
            return None
        if self._open is None or self._open[0] in set(results):
            self._count += bool(self._calls)
            self._open = (f"call_{self._count}", self._calls.pop(0)) if self._calls else None
        return None if self._open is None else (self._open[0], *self._open[1])


def answer(path: str, body: dict[str, Any], conversation: Conversation) -> tuple[str, str]:
    """Return the media type and the answer to a request at that path.

    Other requests get a small document.
    """
    place = path.partition("?")[0]
    if place.endswith((":generateContent", ":streamGenerateContent")):
        return google(body, conversation, stream="stream" in path)
    if place.endswith("/chat/completions"):
        return completions(body, conversation)
    if place.endswith("/responses"):
        return "text/event-stream", responses(body, conversation)
    if place.endswith("/messages"):
        return messages(body, conversation)
    return "application/json", json.dumps({"totalTokens": 1, "input_tokens": 1})


def completions(body: dict[str, Any], conversation: Conversation) -> tuple[str, str]:
    """Return an answer of chat completions, streamed if requested."""
    tools = {tool["function"]["name"] for tool in body.get("tools", ())}
    results = (str(message["tool_call_id"]) for message in body["messages"] if message["role"] == "tool")
    wanted = conversation.next(tools, results)
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model", "m")}
    delta: dict[str, Any] = {"role": "assistant", "content": DONE if tools else TITLE}
    reason = "stop"
    if wanted is not None:
        call, name, arguments = wanted
        function = {"name": name, "arguments": json.dumps(arguments)}
        delta = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": call, "type": "function", "function": function}],
        }
        reason = "tool_calls"
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    if not body.get("stream"):
        choice = {"index": 0, "message": delta, "finish_reason": reason}
        return "application/json", json.dumps(
            {**base, "object": "chat.completion", "usage": usage, "choices": [choice]}
        )
    chunks = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
    ]
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return "text/event-stream", f"{events}data: [DONE]\n\n"


def google(body: dict[str, Any], conversation: Conversation, *, stream: bool) -> tuple[str, str]:
    """Return an answer in Google's format. It has no ids: a result belongs to the last call."""
    tools = {
        declaration["name"] for tool in body.get("tools", ()) for declaration in tool.get("functionDeclarations", ())
    }
    contents = body.get("contents", [])
    has_result = any("functionResponse" in part for part in contents[-1].get("parts", ())) if contents else False
    wanted = conversation.next(tools, conversation.open if has_result else ())
    part: dict[str, Any] = {"text": DONE if tools else TITLE}
    if wanted is not None:
        part = {"functionCall": {"name": wanted[1], "args": wanted[2]}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
    document = json.dumps({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"})
    return ("text/event-stream", f"data: {document}\n\n") if stream else ("application/json", document)


def responses(body: dict[str, Any], conversation: Conversation) -> str:
    """Return the events of an answer in the format of Responses."""
    tools = {tool["name"] for tool in body.get("tools", ()) if tool.get("type") == "function"}
    results = (str(item["call_id"]) for item in body.get("input", ()) if str(item.get("type")).endswith("_call_output"))
    wanted = conversation.next(tools, results)
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {"id": "r1"}}]
    if wanted is not None:
        call, name, arguments = wanted
        item = {"type": "function_call", "id": call, "call_id": call, "name": name, "arguments": json.dumps(arguments)}
    else:
        text = DONE if tools else TITLE
        item = {"type": "message", "id": "m1", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        place = {"output_index": 0, "content_index": 0, "item_id": "m1"}
        events.append({"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}})
        events.append({"type": "response.output_text.delta", "delta": text, **place})
    events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    usage = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
    events.append({"type": "response.completed", "response": {"id": "r1", "usage": usage}})
    return _sent(events)


def messages(body: dict[str, Any], conversation: Conversation) -> tuple[str, str]:
    """Return the media type and the answer in the format of Messages, streamed if requested."""
    tools = {str(tool["name"]) for tool in body.get("tools", ())}
    blocks = [
        block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]
    ]
    results = (str(block["tool_use_id"]) for block in blocks if block.get("type") == "tool_result")
    wanted = conversation.next(tools, results)
    if wanted is not None:
        call, name, arguments = wanted
        block = {"type": "tool_use", "id": call, "name": name, "input": arguments}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        begun, stop = {**block, "input": {}}, "tool_use"
    else:
        text = DONE if tools else TITLE
        block, begun = {"type": "text", "text": text}, {"type": "text", "text": ""}
        delta, stop = {"type": "text_delta", "text": text}, "end_turn"
    usage = {"input_tokens": 11, "output_tokens": 7}
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model")}
    message |= {"content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}
    if not body.get("stream"):
        return "application/json", json.dumps(message)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]
    return "text/event-stream", _sent(events)


def _sent(events: list[dict[str, Any]]) -> str:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
