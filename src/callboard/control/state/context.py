"""How full the window of a thread's model is. All of it is an estimate (four bytes a token) until the provider tells."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.context import CompactionCause
from callboard.contracts.refs import ContextRef

#: Bytes of a token, about.
BYTES = 4
#: What an image takes, about, whatever its size.
IMAGE = 1500
#: What a tool takes that a model is told of, about.
TOOL = 200
#: What one item of an inbox takes, about.
ITEM = 200
#: How much of one text that is given a model is told, and of all that is given with an input, in bytes.
MOST_OF_ONE = 64 * 1024
MOST_OF_ALL = 256 * 1024
#: How much of a call's result a model is told, in bytes: the head, and the tail.
HEAD_OF_RESULT = 48 * 1024
TAIL_OF_RESULT = 16 * 1024
MOST_OF_RESULT = HEAD_OF_RESULT + TAIL_OF_RESULT
#: How much of what persons said a summary leaves as it was said, in bytes, of what is newest, and in how many facts.
MOST_SAID = 64 * 1024
MOST_SPOKEN = 100
#: The largest image that a model is shown, in bytes.
LARGEST_IMAGE = 5 * 1024 * 1024


class ContextParts(msgspec.Struct, frozen=True, kw_only=True):
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

    told: int = 0
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


def size_of(text: Text) -> int:
    """How long the text is, in bytes."""
    return text.ref.size if text.ref is not None else len(text.text.encode("utf-8", "surrogatepass"))


def tokens_of(text: Text) -> int:
    """What the text takes, about."""
    return size_of(text) // BYTES + 1


def result_tokens(output: Text, images: int = 0) -> int:
    """What the result of a call takes, of which a model is told a part where it is large."""
    return min(tokens_of(output), MOST_OF_RESULT // BYTES) + images * IMAGE


def shares(given: Iterable[ContextRef]) -> tuple[int, ...]:
    """How many bytes of each a model is told, in order: of large texts the head, and nothing once all is taken."""
    left, found = MOST_OF_ALL, list[int]()
    for ref in given:
        share = 0
        if ref.content is not None and ref.kind == "image":
            share = ref.content.size if ref.content.size <= LARGEST_IMAGE else 0
        elif ref.content is not None and ref.kind != "binary":
            share = min(ref.content.size, MOST_OF_ONE, left)
            left -= share
        found.append(share)
    return tuple(found)


def given_tokens(given: Iterable[ContextRef]) -> int:
    """What all that is given takes, about."""
    refs = tuple(given)
    told = zip(refs, shares(refs), strict=True)
    return sum((IMAGE if ref.kind == "image" else share // BYTES) + 10 for ref, share in told)
