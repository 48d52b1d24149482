"""Facts of an agent elsewhere: what it says of the task that it has for a turn of ours, and what it delivers.

They tell what the remote end said, never what we infer: silence changes no state.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ..content import BlobRef, Text
from ..entities.team import RemoteTaskState
from ..scope import ScopeKey
from .base import ERASED, UNKNOWN, ErasedForm, Fact

_TURN: tuple[ScopeKey, ...] = ("agent", "thread", "turn", "run")


class RemoteTaskChanged(Fact, frozen=True, kw_only=True):
    """The remote end told a state of its task (Agent UI specification, Remote protocol task). `unknown` where what it said is
    no state that we know, or where it no longer answers for the task. `message` is what it said with it."""

    type: ClassVar[str] = "remote.task"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TURN
    erased: ClassVar[ErasedForm] = {"remote_task_id": "", "state": "unknown", "message": ERASED}
    remote_task_id: str
    state: RemoteTaskState
    message: Text = Text()


class RemotePart(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One part of what was delivered: text, data as JSON text, or a file. Bytes are kept as the blob `content`; `url` is where
    the remote end says that it is, and is not fetched."""

    media: str
    name: str = ""
    text: Text = Text()
    content: BlobRef | None = None
    url: str = ""


class RemoteArtifact(Fact, frozen=True, kw_only=True):
    """The remote end delivered an artifact, whole. One of the same id replaces the former. `left_out` counts the parts beyond
    the bound, which are not kept."""

    type: ClassVar[str] = "remote.artifact"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TURN
    erased: ClassVar[ErasedForm] = {"remote_task_id": "", "remote_artifact_id": UNKNOWN}
    remote_task_id: str
    remote_artifact_id: str
    name: str = ""
    description: str = ""
    parts: tuple[RemotePart, ...] = ()
    left_out: int = 0


RemoteFact = RemoteTaskChanged | RemoteArtifact
