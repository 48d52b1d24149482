"""What an agent elsewhere says, in our words. All of it is untrusted and has a bound."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from a2a.types.a2a_pb2 import Artifact, Message, Part, TaskState
from google.protobuf.json_format import MessageToDict

from callboard.contracts.content import LARGEST_INLINE, PREVIEW, Blob, Text, blob_of
from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.facts.remote import RemotePart
from callboard.contracts.ports.external import ArtifactReported

#: How many parts of an artifact are kept.
MOST_PARTS = 50
_LONGEST_NAME = 200
_LONGEST_TEXT = 1000
_LONGEST_URL = 2000
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


def state_of(told: int) -> RemoteTaskState:
    """The state; `unknown` for one that no word of ours names."""
    return _STATES.get(told, "unknown")


def single_line(text: str, longest: int = _LONGEST_NAME) -> str:
    """A name as one line."""
    return " ".join(text.split())[:longest]


def message_text(message: Message) -> str:
    """What is text of a message."""
    return "\n\n".join(part.text for part in message.parts if part.WhichOneof("content") == "text" and part.text)


def full_text(message: Message) -> str:
    """All of a message as text: what it has beside its text is written out, or named where it is a file."""
    written = [message_text(message)]
    for part in other_parts(message):
        match part.WhichOneof("content"):
            case "data":
                written.append(json.dumps(MessageToDict(part.data), ensure_ascii=False))
            case "url":
                written.append(single_line(f"{part.filename} {part.url}", _LONGEST_URL))
            case _:
                written.append(f"({single_line(part.filename) or 'a file'}, {len(part.raw)} bytes, not kept)")
    return "\n\n".join(one for one in written if one)


def other_parts(message: Message) -> list[Part]:
    """What of a message is not text."""
    return [part for part in message.parts if part.WhichOneof("content") not in ("text", None)]


def artifact_report(task: str, told: Artifact) -> ArtifactReported:
    """An artifact, whole."""
    return parts_report(task, told.artifact_id, told.parts, name=told.name, description=told.description)


def parts_report(
    task: str, identity: str, parts: Iterable[Part], *, name: str = "", description: str = ""
) -> ArtifactReported:
    """Parts as they are kept: what is large and all bytes as blobs, and a text inline as long as there is room in the fact."""
    every = list(parts)
    room, kept, blobs = LARGEST_INLINE, list[RemotePart](), list[Blob]()
    for one in every[:MOST_PARTS]:
        part, more = _part(one, room)
        room -= len(part.text.text.encode("utf-8", "replace"))
        kept.append(part)
        blobs += more
    return ArtifactReported(
        task=task,
        artifact=single_line(identity),
        name=single_line(name),
        description=single_line(description, _LONGEST_TEXT),
        parts=tuple(kept),
        left_out=max(0, len(every) - MOST_PARTS),
        blobs=tuple(blobs),
    )


def _part(part: Part, room: int) -> tuple[RemotePart, list[Blob]]:
    name = single_line(part.filename)
    match part.WhichOneof("content"):
        case "text":
            held, blobs = _held(part.text, room)
            return RemotePart(media=_media(part, "text/plain"), name=name, text=held), blobs
        case "data":
            written = json.dumps(MessageToDict(part.data), ensure_ascii=False)
            held, blobs = _held(written, room)
            return RemotePart(media=_media(part, "application/json"), name=name, text=held), blobs
        case "raw":
            blob = blob_of(part.raw, _media(part, "application/octet-stream"))
            return RemotePart(media=blob.ref.media, name=name, content=blob.ref), [blob]
        case "url":
            url = single_line(part.url, _LONGEST_URL)
            return RemotePart(media=_media(part, "application/octet-stream"), name=name, url=url), []
        case _:
            return RemotePart(media=_media(part, "application/octet-stream"), name=name), []


def _held(text: str, room: int) -> tuple[Text, list[Blob]]:
    data = text.encode("utf-8", "replace")
    if len(data) <= room:
        return Text(text=text), []
    blob = blob_of(data)
    return Text(text=text[: min(PREVIEW, max(0, room) // 4)], ref=blob.ref), [blob]


def _media(part: Part, usual: str) -> str:
    return part.media_type if _MEDIA.fullmatch(part.media_type) else usual
