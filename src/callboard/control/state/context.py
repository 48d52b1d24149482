"""How full the window of a thread's model is. All of it is an estimate (four bytes a token) until the provider tells."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.context import CompactionCause
from callboard.contracts.refs import ContextRef

#: Bytes of a token, about.
BYTES_PER_TOKEN = 4
#: What an image takes, about, whatever its size.
IMAGE_TOKENS = 1500
#: What a tool takes that a model is told of, about.
TOOL_TOKENS = 200
#: What one item of an inbox takes, about.
ITEM_TOKENS = 200
#: How much of one text that is given a model is told, and of all that is given with an input, in bytes.
MAX_REF_BYTES = 64 * 1024
MAX_REFS_BYTES = 256 * 1024
#: How much of a call's result a model is told, in bytes: the head, and the tail.
RESULT_HEAD_BYTES = 48 * 1024
RESULT_TAIL_BYTES = 16 * 1024
MAX_RESULT_BYTES = RESULT_HEAD_BYTES + RESULT_TAIL_BYTES
#: How much of what persons said a summary leaves as it was said, in bytes, of what is newest, and in how many facts.
MAX_SPOKEN_BYTES = 64 * 1024
MAX_SPOKEN_TURNS = 100
#: The largest image that a model is shown, in bytes.
MAX_IMAGE_BYTES = 5 * 1024 * 1024


class ModelCapabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a model takes: `window` in tokens, None where nobody said; whether it can be shown images."""

    window: int | None = None
    images: bool = False


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """What one model call of a run brought, up to the next. It begins at `sequence` and takes so many tokens."""

    sequence: int
    tokens: int = 0


class OpenCompaction(msgspec.Struct, frozen=True, kw_only=True):
    """A summary in the making: by the model call at `step`, of the facts up to and including `through`."""

    step: int
    through: int
    cause: CompactionCause
    tokens: int = 0


class ContextUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What a thread's model is told now, in tokens. `told` is what the provider said of the last call with its answer, 0 where
    it said nothing, `since` what came after it; `summary` is what stands in place of the facts up to `compacted`, and `at` the
    sequence of the fact that has it."""

    reported: int = 0
    since: int = 0
    summary: int = 0
    compacted: int = 0
    at: int = 0


class SpokenTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said in a thread: so many bytes, in the fact at `sequence`. Its model is told of it from `at` on, the
    sequence at which its turn started, or the steer was accepted. `turn` is set where it is what that turn was asked."""

    sequence: int
    size: int
    at: int = 0
    turn: str = ""


def text_size(text: Text) -> int:
    """How long the text is, in bytes."""
    return text.ref.size if text.ref is not None else len(text.text.encode("utf-8", "surrogatepass"))


def count_tokens(text: Text) -> int:
    """What the text takes, about."""
    return text_size(text) // BYTES_PER_TOKEN + 1


def count_result_tokens(output: Text, images: int = 0) -> int:
    """What the result of a call takes, of which a model is told a part where it is large."""
    return min(count_tokens(output), MAX_RESULT_BYTES // BYTES_PER_TOKEN) + images * IMAGE_TOKENS


def allocate_bytes(given: Iterable[ContextRef]) -> tuple[int, ...]:
    """How many bytes of each a model is told, in order: of large texts the head, and nothing once all is taken."""
    left, found = MAX_REFS_BYTES, list[int]()
    for ref in given:
        share = 0
        if ref.content is not None and ref.kind == "image":
            share = ref.content.size if ref.content.size <= MAX_IMAGE_BYTES else 0
        elif ref.content is not None and ref.kind != "binary":
            share = min(ref.content.size, MAX_REF_BYTES, left)
            left -= share
        found.append(share)
    return tuple(found)


def count_ref_tokens(given: Iterable[ContextRef]) -> int:
    """What all that is given takes, about."""
    refs = tuple(given)
    told = zip(refs, allocate_bytes(refs), strict=True)
    return sum((IMAGE_TOKENS if ref.kind == "image" else share // BYTES_PER_TOKEN) + 10 for ref, share in told)
