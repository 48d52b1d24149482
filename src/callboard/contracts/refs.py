"""What a turn is given beside its text: files, images, artifacts, sessions, instructions. Named with a hash, never copied."""

from __future__ import annotations

from typing import Literal

import msgspec

from .content import BlobRef

#: `text` and `binary` are files by what they are; `instructions` are files that tell every agent of a folder how to work.
RefKind = Literal["text", "image", "binary", "folder", "instructions", "artifact", "session"]
#: What an @ may name.
MentionKind = Literal["file", "folder", "artifact", "session", "agent"]
#: How it came into the turn: given with the input, named in it, standing in the folder, or pinned to the thread.
RefSource = Literal["attached", "mentioned", "folder", "pinned"]
#: Why a turn was not given what was named.
MissingReason = Literal[
    "not_found", "ambiguous", "outside_folder", "denied", "unreadable", "too_large", "deleted", "erased"
]
#: Why something that is there was left out of what the model is told, wholly or in part.
OmissionReason = Literal["budget", "older_turns", "compacted", "binary", "unsupported", "untrusted", "excluded"]


class ContextRef(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One thing that a turn is given. `ref` names it: a path relative to the folder, or the id of an artifact or session.

    `content` are its bytes as they were then; a later change of the file changes nothing. `tokens` is an estimate, absent
    where there is none.
    """

    ref: str
    kind: RefKind
    source: RefSource
    title: str = ""
    content: BlobRef | None = None
    tokens: int | None = None


class MissingRef(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What was named and could not be given. `ref` is as it was written."""

    ref: str
    source: RefSource
    reason: MissingReason
    detail: str = ""


class Omission(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What is there and was left out. `ref` names it as in a `ContextRef`; of older turns it is empty, and `count` says how
    many they are. `tokens` is an estimate."""

    reason: OmissionReason
    ref: str = ""
    count: int = 1
    tokens: int | None = None
