"""Images, each encoded once and in slices (R4)."""

from __future__ import annotations

import asyncio
import base64

import pytest

from callboard.contracts.ports.model import ImageContent, ModelMessage, ToolResultContent
from callboard.models.wire.images import SLICE, Images
from tests.models.requests import make_message


def picture(size: int) -> ImageContent:
    return ImageContent((b"\x89PNG\xfb\xff\xfe" * (size // 7 + 1))[:size], "image/png")


def image_message(image: ImageContent) -> ModelMessage:
    return make_message("user", "Look:", image)


def encode_body(images: Images, image: ImageContent) -> bytes:
    """Return the image part as a library encodes it, with base64 in JSON."""
    return b'{"url":"data:image/png;base64,%s"}' % base64.b64encode(images.make_part(image).data)


@pytest.mark.parametrize("size", [0, 1, 5_000, SLICE - 1, SLICE, SLICE + 1, 3 * SLICE + 2])
@pytest.mark.parametrize("url_safe", [False, True])
async def test_r4_an_image_of_any_size_is_sent_as_its_base64_text(size: int, url_safe: bool) -> None:
    images, image = Images(url_safe=url_safe), picture(size)
    result = make_message("tool", ToolResultContent("call_1", "Read", "", images=(image,)))
    await images.prepare((result,))
    encode = base64.urlsafe_b64encode if url_safe else base64.b64encode
    assert b"".join(images.expand(encode_body(images, image))) == b'{"url":"data:image/png;base64,%s"}' % encode(
        image.data
    )


async def test_r4_a_large_image_does_not_block_the_event_loop() -> None:
    turns = 0

    async def work() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    image = picture(8 * SLICE)
    working = asyncio.create_task(work())
    await Images().prepare((image_message(image),))
    working.cancel()
    assert turns >= 16


async def test_r4_an_image_is_encoded_for_the_first_request_only() -> None:
    images, image = Images(), picture(2 * SLICE)
    await images.prepare((image_message(image),))
    first = images.expand(encode_body(images, image))
    await asyncio.gather(
        images.prepare((image_message(image), image_message(image))), images.prepare((image_message(image),))
    )
    second = images.expand(encode_body(images, image) * 2)
    assert len(first) == 4
    assert {id(piece) for piece in first[1:3]} == {id(piece) for piece in second if len(piece) > SLICE}


async def test_r4_a_deleted_image_leaves_nothing() -> None:
    images, image = Images(), picture(100)
    await images.prepare((image_message(image),))
    text = encode_body(images, image)
    del image
    assert images.expand(text) == [text[: text.index(b",") + 1], text[text.index(b",") + 1 : -2], b'"}']
    assert not images._encoded


async def test_r4_a_text_that_resembles_a_mark_is_unchanged() -> None:
    images, image = Images(), picture(100)
    await images.prepare((image_message(image),))
    mark = images._encoded[id(image)].mark
    for text in (b"0" * 48, mark[:24], mark[:24] + b"0" * 24, mark[:-1]):
        assert b"".join(images.expand(text)) == text
