"""Contents of facts as content of model messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import NamedTuple

from callboard.contracts.content import BlobRef, Text
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.queue import QueueEdited, SteerRequested
from callboard.contracts.facts.turn import TurnSubmitted
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

#: Number of truncated outputs that `read_output` can find here.
_MAX_OUTPUTS = 1000

_MISSING = {
    "not_found": "it does not exist",
    "ambiguous": "the name is ambiguous",
    "outside_folder": "it is outside the folder",
    "denied": "a rule forbids reading it",
    "unreadable": "it cannot be read",
    "too_large": "it is too large",
    "deleted": "it was deleted",
    "erased": "its content was erased",
}


class Pinned(NamedTuple):
    """The content of one pinned reference, at one content hash; empty if it is missing."""

    ref: str
    hash: str
    contents: tuple[Content, ...]


class ContentRenderer:
    """Renders contents for one thread. `outputs` holds the truncated outputs by call."""

    def __init__(
        self, blobs: BlobStore, pinned: tuple[Pinned, ...] = (), outputs: Mapping[str, Text] | None = None
    ) -> None:
        self._blobs = blobs
        #: The newest pinned contents.
        self.pinned = pinned
        self.outputs = dict(outputs or {})

    async def read_text(self, text: Text) -> str:
        """Return the whole text; if it was erased, what is left of it."""
        if text.ref is None:
            return text.text
        data = await self._blobs.get(text.ref.hash)
        return text.text if data is None else data.decode("utf-8", "replace")

    async def render_input(self, text: Text) -> tuple[Content, ...]:
        """Return a person's text as content; empty if there is no text."""
        text_value = await self.read_text(text)
        return (TextContent(text_value),) if text_value else ()

    async def render_excerpt(self, fact: Fact, max_bytes: int) -> ModelMessage | None:
        """Return a person's message, truncated to `max_bytes` of its start and end. None if it was erased."""
        if not isinstance(fact, TurnSubmitted | QueueEdited | SteerRequested):
            return None
        text = await self.read_text(fact.input)
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > max_bytes:
            tail = max_bytes // 4
            head = data[: max_bytes - tail].decode("utf-8", "ignore")
            text = f"{head}\n[{len(data) - max_bytes:,} bytes omitted here; the summary covers them.]\n"
            text += data[len(data) - tail :].decode("utf-8", "ignore")
        return ModelMessage(role="user", content=(TextContent(text),))

    async def render_message(self, fact: TurnSubmitted | QueueEdited | SteerRequested) -> tuple[Content, ...]:
        """Return a message with its attachments and mentioned contents."""
        return (
            *await self.render_input(fact.input),
            *await self._render_refs(fact.given),
            *(TextContent(_render_missing(missing)) for missing in fact.missing),
        )

    async def render_pinned(self, refs: Iterable[ContextRef]) -> tuple[Pinned, ...]:
        """Return the pinned contents of every turn of the thread. Unchanged references reuse the previous contents."""
        pinned_refs = tuple(ref for ref in refs if ref.source == "pinned")
        hashes = [ref.content.hash if ref.content is not None else "" for ref in pinned_refs]
        if [(pinned.ref, pinned.hash) for pinned in self.pinned] != [
            (ref.ref, hash) for ref, hash in zip(pinned_refs, hashes, strict=True)
        ]:
            entries = zip(pinned_refs, hashes, allocate_bytes(pinned_refs), strict=True)
            self.pinned = tuple(
                [Pinned(ref.ref, hash, await self._render_ref(ref, share)) for ref, hash, share in entries]
            )
        return self.pinned

    async def render_result(self, call: str, output: Text) -> str:
        """Return a call's output, or its start and end with a hint how to read the rest."""
        if output.ref is None or output.ref.size <= MAX_RESULT_BYTES:
            return await self.read_text(output)
        size = output.ref.size
        head = await self._blobs.get_range(output.ref.hash, offset=0, length=RESULT_HEAD_BYTES)
        tail = await self._blobs.get_range(output.ref.hash, offset=size - RESULT_TAIL_BYTES, length=RESULT_TAIL_BYTES)
        if head is None or tail is None:
            return output.text
        self.outputs[call] = output
        while len(self.outputs) > _MAX_OUTPUTS:
            del self.outputs[next(iter(self.outputs))]
        left = size - RESULT_HEAD_BYTES - RESULT_TAIL_BYTES
        reader = f'Read them with `read_output`, call_id "{call}", offset {RESULT_HEAD_BYTES}.'
        note = f"[{left:,} bytes omitted here. {reader}]"
        return f"{head.decode('utf-8', 'ignore')}\n\n{note}\n\n{tail.decode('utf-8', 'ignore')}"

    async def read_images(self, images: tuple[BlobRef, ...]) -> tuple[ImageContent, ...]:
        """Return the images of a call that still exist."""
        contents: list[ImageContent] = []
        for ref in images:
            data = await self._blobs.get(ref.hash) if ref.size <= MAX_IMAGE_BYTES else None
            if data is not None:
                contents.append(ImageContent(data=data, media=ref.media))
        return tuple(contents)

    async def _render_refs(self, refs: tuple[ContextRef, ...]) -> tuple[Content, ...]:
        entries = zip(refs, allocate_bytes(refs), strict=True)
        return tuple([content for ref, share in entries for content in await self._render_ref(ref, share)])

    async def _render_ref(self, ref: ContextRef, share: int) -> tuple[Content, ...]:
        name = escape(ref.title or ref.ref)
        about = f'name="{name}" ref="{escape(ref.ref)}" source="{ref.source}"'
        size = ref.content.size if ref.content is not None else 0
        data = None
        if ref.content is not None and share:
            data = await self._blobs.get_range(ref.content.hash, offset=0, length=share)
        if ref.kind == "image" and data is not None and ref.content is not None:
            return TextContent(f'<context {about} kind="image"/>'), ImageContent(data=data, media=ref.content.media)
        if data is None or ref.kind in ("binary", "image"):
            return (TextContent(f'<context {about} kind="{ref.kind}">{_explain_omission(ref, size, share)}</context>'),)
        text = data.decode("utf-8", "ignore")
        rest = f"\n[{size - share:,} more bytes omitted here.{_hint_reading(ref)}]" if share < size else ""
        return (TextContent(f'<context {about} kind="{ref.kind}">\n{text}{rest}\n</context>'),)


def has_image(content: Content) -> bool:
    """Return True if the content has an image."""
    return isinstance(content, ImageContent) or (isinstance(content, ToolResultContent) and bool(content.images))


def replace_images(message: ModelMessage) -> ModelMessage:
    """Return the message for a model without image input: each image becomes a short description."""
    return ModelMessage(role=message.role, content=tuple(_describe_images(content) for content in message.content))


def _describe_images(content: Content) -> Content:
    match content:
        case ImageContent():
            return TextContent(_describe_image(content))
        case ToolResultContent(images=images) if images:
            notes = "\n".join(_describe_image(image) for image in images)
            return ToolResultContent(content.call_id, content.tool, f"{content.text}\n{notes}".lstrip(), content.failed)
        case _:
            return content


def _describe_image(image: ImageContent) -> str:
    return (
        f"[An image of {len(image.data):,} bytes ({image.media}) is omitted here. This model does not accept images.]"
    )


def _render_missing(missing: MissingRef) -> str:
    reason = f"{_MISSING[missing.reason]}{f' ({escape(missing.detail)})' if missing.detail else ''}"
    return f'<missing ref="{escape(missing.ref)}">{reason}. Do not guess its content.</missing>'


def _explain_omission(ref: ContextRef, size: int, share: int) -> str:
    """Return why the content is omitted."""
    if ref.kind == "binary":
        where = "" if ref.source == "attached" else " Tools can read it in the folder."
        return f"{escape(ref.title or ref.ref)}: binary, so its content is omitted.{where}"
    if size and not share:
        return f"Its content is omitted because the contexts together exceed the limit.{_hint_reading(ref)}"
    return "Its content no longer exists."


def _hint_reading(ref: ContextRef) -> str:
    return " Read it in the folder." if ref.source != "attached" and ref.kind == "text" else ""
