"""Context of a turn in addition to its text: files, images, artifacts, sessions, instructions.

Each is a ref with a hash, never a copy.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from .content import BlobRef

#: `text` and `binary` are kinds of files. `instructions` are files with instructions for every
#: agent of a folder.
RefKind = Literal["text", "image", "binary", "folder", "instructions", "artifact", "session"]
#: What text after an @ can refer to.
MentionKind = Literal["file", "folder", "artifact", "session", "agent"]
#: How a ref got into the turn: sent with the input, mentioned in it, found in the folder, or pinned
#: to the thread.
RefSource = Literal["attached", "mentioned", "folder", "pinned"]
#: Why a named ref could not be resolved.
MissingReason = Literal[
    "not_found", "ambiguous", "outside_folder", "denied", "unreadable", "too_large", "deleted", "erased"
]
#: Why existing context is left out of the request, in whole or in part.
OmissionReason = Literal["budget", "older_turns", "compacted", "binary", "unsupported", "untrusted", "excluded"]


class ContextRef(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A ref in a turn's context: a path relative to the folder, or the id of an artifact or session.

    `content` are its bytes at that moment; later changes of the file have no effect. `tokens` is an
    estimate, absent for none.
    """

    ref: str
    kind: RefKind
    source: RefSource
    title: str = ""
    content: BlobRef | None = None
    tokens: int | None = None


class MissingRef(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A named ref that could not be resolved. `ref` is the text as written."""

    ref: str
    source: RefSource
    reason: MissingReason
    detail: str = ""


class Omission(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """Context that was left out.

    `ref` is as in `ContextRef`; empty for older turns, with their number in `count`. `tokens` is an
    estimate.
    """

    reason: OmissionReason
    ref: str = ""
    count: int = 1
    tokens: int | None = None
