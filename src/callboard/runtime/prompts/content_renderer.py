"""Contents as a model is shown them: what is large in part, files and images by their names, nothing that is not there."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from callboard.contracts.content import BlobRef, Text
from callboard.contracts.facts import Fact, QueueEdited, SteerRequested, TurnSubmitted
from callboard.contracts.ports.model import Content, ImageContent, ModelMessage, TextContent, ToolResultContent
from callboard.contracts.ports.store import BlobStore
from callboard.contracts.refs import ContextRef, MissingRef
from callboard.control.state.context import (
    MAX_IMAGE_BYTES,
    MAX_RESULT_BYTES,
    RESULT_HEAD_BYTES,
    RESULT_TAIL_BYTES,
    allocate_bytes,
)

#: How many outputs that are told in part are remembered for whoever reads on.
_REMEMBERED = 1000

_MISSING = {
    "not_found": "there is no such thing",
    "ambiguous": "it may mean several things",
    "outside_folder": "it lies outside of the folder",
    "denied": "it may not be read",
    "unreadable": "it cannot be read",
    "too_large": "it is too large to be given",
    "deleted": "it was deleted",
    "erased": "its content was erased",
}


class Pinned(NamedTuple):
    """What is told of one thing that is pinned, as it was with that hash; empty where it is not there."""

    ref: str
    hash: str
    contents: tuple[Content, ...]


class ContentRenderer:
    """Reads contents back for one thread. `outputs` are those of calls whose results are told in part, by call."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._pinned: tuple[Pinned, ...] = ()
        self.outputs: dict[str, Text] = {}

    async def read_text(self, text: Text) -> str:
        """All of a text; where it was erased, what is left of it."""
        if text.ref is None:
            return text.text
        data = await self._blobs.get(text.ref.hash)
        return text.text if data is None else data.decode("utf-8", "replace")

    async def render_input(self, text: Text) -> tuple[Content, ...]:
        """What somebody said, where they said something."""
        said = await self.read_text(text)
        return (TextContent(said),) if said else ()

    async def render_excerpt(self, fact: Fact, most: int) -> ModelMessage | None:
        """What a person said, as far as so many bytes hold it: its head and its tail. None where it was erased."""
        if not isinstance(fact, TurnSubmitted | QueueEdited | SteerRequested):
            return None
        text = await self.read_text(fact.input)
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > most:
            tail = most // 4
            head = data[: most - tail].decode("utf-8", "ignore")
            text = f"{head}\n[{len(data) - most:,} bytes of this are told in the summary alone.]\n"
            text += data[len(data) - tail :].decode("utf-8", "ignore")
        return ModelMessage(role="user", content=(TextContent(text),))

    async def render_message(self, fact: TurnSubmitted | QueueEdited | SteerRequested) -> tuple[Content, ...]:
        """What was said, with what came with it and what it names."""
        return (
            *await self.render_input(fact.input),
            *await self._contents(fact.given),
            *(TextContent(_missing(one)) for one in fact.missing),
        )

    async def render_pinned(self, refs: Iterable[ContextRef]) -> tuple[Pinned, ...]:
        """What every turn of the thread is given, all of it; of what did not change the very contents of before."""
        given = tuple(ref for ref in refs if ref.source == "pinned")
        hashes = [ref.content.hash if ref.content is not None else "" for ref in given]
        if [(one.ref, one.hash) for one in self._pinned] != [
            (ref.ref, hash) for ref, hash in zip(given, hashes, strict=True)
        ]:
            told = zip(given, hashes, allocate_bytes(given), strict=True)
            self._pinned = tuple([Pinned(ref.ref, hash, await self._content(ref, share)) for ref, hash, share in told])
        return self._pinned

    async def render_result(self, call: str, output: Text) -> str:
        """The result of a call: all of it, or its head and its tail with how to read the rest."""
        if output.ref is None or output.ref.size <= MAX_RESULT_BYTES:
            return await self.read_text(output)
        size = output.ref.size
        head = await self._blobs.get_range(output.ref.hash, offset=0, length=RESULT_HEAD_BYTES)
        tail = await self._blobs.get_range(output.ref.hash, offset=size - RESULT_TAIL_BYTES, length=RESULT_TAIL_BYTES)
        if head is None or tail is None:
            return output.text
        self.outputs[call] = output
        while len(self.outputs) > _REMEMBERED:
            del self.outputs[next(iter(self.outputs))]
        left = size - RESULT_HEAD_BYTES - RESULT_TAIL_BYTES
        reader = f'`read_output` with call_id "{call}" reads them, from offset {RESULT_HEAD_BYTES}.'
        note = f"[{left:,} bytes left out here. {reader}]"
        return f"{head.decode('utf-8', 'ignore')}\n\n{note}\n\n{tail.decode('utf-8', 'ignore')}"

    async def read_images(self, images: tuple[BlobRef, ...]) -> tuple[ImageContent, ...]:
        """Images that a call showed, those that are still there."""
        found: list[ImageContent] = []
        for ref in images:
            data = await self._blobs.get(ref.hash) if ref.size <= MAX_IMAGE_BYTES else None
            if data is not None:
                found.append(ImageContent(data=data, media=ref.media))
        return tuple(found)

    async def _contents(self, refs: tuple[ContextRef, ...]) -> tuple[Content, ...]:
        told = zip(refs, allocate_bytes(refs), strict=True)
        return tuple([one for ref, share in told for one in await self._content(ref, share)])

    async def _content(self, ref: ContextRef, share: int) -> tuple[Content, ...]:
        name = escape(ref.title or ref.ref)
        about = f'name="{name}" ref="{escape(ref.ref)}" source="{ref.source}"'
        size = ref.content.size if ref.content is not None else 0
        data = None
        if ref.content is not None and share:
            data = await self._blobs.get_range(ref.content.hash, offset=0, length=share)
        if ref.kind == "image" and data is not None and ref.content is not None:
            return TextContent(f'<given {about} kind="image"/>'), ImageContent(data=data, media=ref.content.media)
        if data is None or ref.kind in ("binary", "image"):
            return (TextContent(f'<given {about} kind="{ref.kind}">{_why_not(ref, size, share)}</given>'),)
        text = data.decode("utf-8", "ignore")
        rest = f"\n[{size - share:,} more bytes are not told here.{_where(ref)}]" if share < size else ""
        return (TextContent(f'<given {about} kind="{ref.kind}">\n{text}{rest}\n</given>'),)


def has_image(content: Content) -> bool:
    """True for what holds an image."""
    return isinstance(content, ImageContent) or (isinstance(content, ToolResultContent) and bool(content.images))


def without_images(message: ModelMessage) -> ModelMessage:
    """The message for a model that is shown no images: each is named where it stood."""
    return ModelMessage(role=message.role, content=tuple(_named(one) for one in message.content))


def _named(content: Content) -> Content:
    match content:
        case ImageContent():
            return TextContent(_unshown(content))
        case ToolResultContent(images=images) if images:
            notes = "\n".join(_unshown(one) for one in images)
            return ToolResultContent(content.call_id, content.tool, f"{content.text}\n{notes}".lstrip(), content.failed)
        case _:
            return content


def _unshown(image: ImageContent) -> str:
    return f"[An image of {len(image.data):,} bytes ({image.media}) stands here; this model is shown no images.]"


def _missing(one: MissingRef) -> str:
    why = f"{_MISSING[one.reason]}{f' ({escape(one.detail)})' if one.detail else ''}"
    return f'<missing ref="{escape(one.ref)}">{why}. Do not make it up.</missing>'


def _why_not(ref: ContextRef, size: int, share: int) -> str:
    """Why the content of what is given is not told."""
    if ref.kind == "binary":
        where = "" if ref.source == "attached" else " Tools may look at it where it lies."
        return f"{escape(ref.title or ref.ref)}: no text, so that its content is not told here.{where}"
    if size and not share:
        return f"It is left out: with the rest it is more than is told at once.{_where(ref)}"
    return "Its content is no longer there."


def _where(ref: ContextRef) -> str:
    return " Read it in the folder." if ref.source != "attached" and ref.kind == "text" else ""
