"""Conversion of A2A messages and artifacts. All input is untrusted and limited in size."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from a2a.types.a2a_pb2 import Artifact, Message, Part, TaskState
from google.protobuf.json_format import MessageToDict

from callboard.contracts.content import MAX_INLINE_BYTES, PREVIEW, Blob, Text, make_blob
from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.facts.agent import RemotePart
from callboard.contracts.ports.external import ArtifactReported

#: The number of parts of an artifact that are stored.
MAX_PARTS = 50
_MAX_NAME_CHARS = 200
_MAX_TEXT_CHARS = 1000
_MAX_URL_CHARS = 2000
_MEDIA = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}(; ?charset=[\w-]{1,30})?")

_STATES: dict[int, RemoteTaskState] = {
    TaskState.TASK_STATE_SUBMITTED: "submitted",
    TaskState.TASK_STATE_WORKING: "working",
    TaskState.TASK_STATE_INPUT_REQUIRED: "input_required",
    TaskState.TASK_STATE_AUTH_REQUIRED: "auth_required",
    TaskState.TASK_STATE_COMPLETED: "completed",
    TaskState.TASK_STATE_FAILED: "failed",
    TaskState.TASK_STATE_CANCELED: "canceled",
    TaskState.TASK_STATE_REJECTED: "rejected",
}


def convert_state(state: int) -> RemoteTaskState:
    """Return the task state; `unknown` for a state that this version does not support."""
    return _STATES.get(state, "unknown")


def to_single_line(text: str, max_chars: int = _MAX_NAME_CHARS) -> str:
    """Return the text on one line, of at most `max_chars` characters."""
    return " ".join(text.split())[:max_chars]


def read_message_text(message: Message) -> str:
    """Return the text parts of a message."""
    return "\n\n".join(part.text for part in message.parts if part.WhichOneof("content") == "text" and part.text)


def format_message(message: Message) -> str:
    """Return all of a message as text: data as JSON, and files by name."""
    texts = [read_message_text(message)]
    for part in list_other_parts(message):
        match part.WhichOneof("content"):
            case "data":
                texts.append(json.dumps(MessageToDict(part.data), ensure_ascii=False))
            case "url":
                texts.append(to_single_line(f"{part.filename} {part.url}", _MAX_URL_CHARS))
            case _:
                texts.append(f"({to_single_line(part.filename) or 'a file'}, {len(part.raw)} bytes, not stored)")
    return "\n\n".join(filter(None, texts))


def list_other_parts(message: Message) -> list[Part]:
    """Return the parts of a message that are not text."""
    return [part for part in message.parts if part.WhichOneof("content") not in ("text", None)]


def build_artifact_report(task: str, artifact: Artifact) -> ArtifactReported:
    """Return the event of a complete artifact."""
    return build_parts_report(
        task, artifact.artifact_id, artifact.parts, name=artifact.name, description=artifact.description
    )


def build_parts_report(
    task: str, identity: str, parts: Iterable[Part], *, name: str = "", description: str = ""
) -> ArtifactReported:
    """Return the event of delivered parts.

    Files become blobs. Texts stay inline as long as they fit into the fact, and become blobs after that.
    """
    sent_parts = list(parts)
    remaining_bytes, stored, blobs = MAX_INLINE_BYTES, list[RemotePart](), list[Blob]()
    for sent in sent_parts[:MAX_PARTS]:
        part, part_blobs = _convert_part(sent, remaining_bytes)
        remaining_bytes -= len(part.text.text.encode("utf-8", "replace"))
        stored.append(part)
        blobs += part_blobs
    return ArtifactReported(
        task=task,
        artifact=to_single_line(identity),
        name=to_single_line(name),
        description=to_single_line(description, _MAX_TEXT_CHARS),
        parts=tuple(stored),
        left_out=max(0, len(sent_parts) - MAX_PARTS),
        blobs=tuple(blobs),
    )


def _convert_part(part: Part, remaining_bytes: int) -> tuple[RemotePart, list[Blob]]:
    name = to_single_line(part.filename)
    match part.WhichOneof("content"):
        case "text":
            text, blobs = _build_text(part.text, remaining_bytes)
            return RemotePart(media=_select_media(part, "text/plain"), name=name, text=text), blobs
        case "data":
            data = json.dumps(MessageToDict(part.data), ensure_ascii=False)
            text, blobs = _build_text(data, remaining_bytes)
            return RemotePart(media=_select_media(part, "application/json"), name=name, text=text), blobs
        case "raw":
            blob = make_blob(part.raw, _select_media(part, "application/octet-stream"))
            return RemotePart(media=blob.ref.media, name=name, content=blob.ref), [blob]
        case "url":
            url = to_single_line(part.url, _MAX_URL_CHARS)
            return RemotePart(media=_select_media(part, "application/octet-stream"), name=name, url=url), []
        case _:
            return RemotePart(media=_select_media(part, "application/octet-stream"), name=name), []


def _build_text(text: str, remaining_bytes: int) -> tuple[Text, list[Blob]]:
    data = text.encode("utf-8", "replace")
    if len(data) <= remaining_bytes:
        return Text(text=text), []
    blob = make_blob(data)
    return Text(text=text[: min(PREVIEW, max(0, remaining_bytes) // 4)], ref=blob.ref), [blob]


def _select_media(part: Part, default: str) -> str:
    return part.media_type if _MEDIA.fullmatch(part.media_type) else default
