"""Estimates of a model's context window: four bytes per token until the provider reports its count."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.context import CompactionCause
from callboard.contracts.refs import ContextRef

#: Estimated bytes per token.
BYTES_PER_TOKEN = 4
#: Estimated tokens of an image of any size.
IMAGE_TOKENS = 1500
#: Estimated tokens of a tool's schema.
TOOL_TOKENS = 200
#: Estimated tokens of an inbox item.
ITEM_TOKENS = 200
#: Maximum bytes of one ref in the context, and of all refs of an input.
MAX_REF_BYTES = 64 * 1024
MAX_REFS_BYTES = 256 * 1024
#: Maximum bytes of a call's result in the context: its head and its tail.
RESULT_HEAD_BYTES = 48 * 1024
RESULT_TAIL_BYTES = 16 * 1024
MAX_RESULT_BYTES = RESULT_HEAD_BYTES + RESULT_TAIL_BYTES
#: Maximum bytes of a person's newest texts that a compaction quotes, and maximum number of texts.
MAX_SPOKEN_BYTES = 64 * 1024
MAX_SPOKEN_TURNS = 100
#: Maximum size of an image in the context, in bytes.
MAX_IMAGE_BYTES = 5 * 1024 * 1024


class ModelCapabilities(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The input limits of a model: `window` in tokens, None if unknown, and whether it takes images."""

    window: int | None = None
    images: bool = False


class Round(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The addition of one model call of a run to the context, from `sequence` to the next round."""

    sequence: int
    tokens: int = 0


class OpenCompaction(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A compaction in progress: the model call at `step` summarises the facts through `through`."""

    step: int
    through: int
    cause: CompactionCause
    tokens: int = 0


class ContextUsage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Tokens of a thread's context. `reported` is the provider's count with the last response, 0
    for none; `since` was added after it. `summary` replaces the facts up to `compacted`; the fact
    at `at` has it."""

    reported: int = 0
    since: int = 0
    summary: int = 0
    compacted: int = 0
    at: int = 0


class SpokenTurn(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A person's text of `size` bytes in the fact at `sequence`. The model receives it from `at`
    on: the start of its turn, or the acceptance of the steer. `turn` is set for the input of a
    turn."""

    sequence: int
    size: int
    at: int = 0
    turn: str = ""


def measure_text(text: Text) -> int:
    """Return the size of the text in bytes."""
    return text.ref.size if text.ref is not None else len(text.text.encode("utf-8", "surrogatepass"))


def count_tokens(text: Text) -> int:
    """Return the estimated tokens of the text."""
    return measure_text(text) // BYTES_PER_TOKEN + 1


def count_result_tokens(output: Text, images: int = 0) -> int:
    """Return the estimated tokens of a call's result, of which the model receives a limited part."""
    return min(count_tokens(output), MAX_RESULT_BYTES // BYTES_PER_TOKEN) + images * IMAGE_TOKENS


def allocate_bytes(refs: Iterable[ContextRef]) -> tuple[int, ...]:
    """Return how many bytes of each ref the model receives, in order. A large text is truncated;
    once the budget is used up, texts are left out."""
    left, allocated = MAX_REFS_BYTES, list[int]()
    for ref in refs:
        share = 0
        if ref.content is not None and ref.kind == "image":
            share = ref.content.size if ref.content.size <= MAX_IMAGE_BYTES else 0
        elif ref.content is not None and ref.kind != "binary":
            share = min(ref.content.size, MAX_REF_BYTES, left)
            left -= share
        allocated.append(share)
    return tuple(allocated)


def count_ref_tokens(refs: Iterable[ContextRef]) -> int:
    """Return the estimated tokens of all refs."""
    ref_list = tuple(refs)
    allocated = zip(ref_list, allocate_bytes(ref_list), strict=True)
    return sum((IMAGE_TOKENS if ref.kind == "image" else share // BYTES_PER_TOKEN) + 10 for ref, share in allocated)
