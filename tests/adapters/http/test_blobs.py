"""Large content by range, served only as plain text, an image or a download."""

from __future__ import annotations

import hashlib

import pytest

from tests.adapters.http.rigs.server import API, Board
from tests.tools.files.test_images import GIF, JPEG, WEBP, png


async def test_a_blob_is_read_whole_and_by_range(board: Board):
    """UI-08: large text is a preview and a ref."""
    prompt = "Ä long prompt. " * 40_000
    data = prompt.encode()
    session = await board.session(prompt)
    path = f"{API}/blobs/{hashlib.sha256(data).hexdigest()}"

    whole = await board.http.get(path)
    part = await board.http.get(path, params={"offset": 3, "length": 1000, "session": session})
    large = await board.http.get(path, params={"offset": 5, "length": 300_000})
    rest = await board.http.get(path, params={"offset": len(data) - 10})
    past = await board.http.get(path, params={"offset": len(data) + 1, "length": 10})

    assert [answer.status_code for answer in (whole, part, large, rest, past)] == [200] * 5
    assert whole.content == data
    assert (part.content, large.content) == (data[3:1003], data[5:300_005])
    assert (rest.content, past.content) == (data[-10:], b"")
    assert {answer.headers["content-type"] for answer in (whole, part, large)} == {"text/plain; charset=utf-8"}
    assert "content-disposition" not in whole.headers
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert whole.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("data", [b"<svg onload=alert(1)>\xff", b"\x89PNG\r\n\x1a\n", b"a\0b"])
async def test_binary_content_is_only_downloaded(board: Board, data: bytes):
    """SAFE-06"""
    answer = await board.http.get(f"{API}/blobs/{await board.blob(data)}")

    assert answer.content == data
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == "attachment"


@pytest.mark.parametrize(
    ("data", "media"), [(png(2, 3), "image/png"), (GIF, "image/gif"), (JPEG, "image/jpeg"), (WEBP, "image/webp")]
)
async def test_an_image_has_the_type_of_its_bytes(board: Board, data: bytes, media: str):
    """UI-08, SAFE-06: browsers must not guess the type or treat it as a document of this origin."""
    answer = await board.http.get(f"{API}/blobs/{await board.blob(data)}")

    assert answer.content == data
    assert answer.headers["content-type"] == media
    assert "content-disposition" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_an_image_that_may_contain_scripts_is_served_as_text(board: Board):
    """SAFE-06: an SVG is never served as a document."""
    answer = await board.http.get(f"{API}/blobs/{await board.blob(b'<svg onload=alert(1)></svg>')}")

    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


async def test_a_download_has_the_requested_name(board: Board):
    """An exported pack is saved under a descriptive name."""
    path = f"{API}/blobs/{await board.blob(b'PK of text')}"

    named = await board.http.get(path, params={"name": "evidence-ses_one-12.zip"})
    refused = [
        await board.http.get(path, params={"name": name})
        for name in ('a"; x="b', "../etc/passwd", ".hidden", "a\nb", "")
    ]

    assert named.headers["content-disposition"] == 'attachment; filename="evidence-ses_one-12.zip"'
    assert named.content == b"PK of text"
    assert [(answer.status_code, answer.json()["field"]) for answer in refused] == [(400, "name")] * 5


async def test_hostile_text_is_never_served_as_a_document(board: Board):
    """SAFE-06"""
    answer = await board.http.get(f"{API}/blobs/{await board.blob(b'<script>alert(1)</script>')}")

    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_text_whose_sample_ends_within_a_character_is_text(board: Board):
    answer = await board.http.get(f"{API}/blobs/{await board.blob(b'a' + 'é'.encode() * 8192)}")

    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("hash", ["0" * 64, "xyz", "..%2f..%2fetc%2fpasswd", "A" * 64])
async def test_a_missing_blob_is_unknown(board: Board, hash: str):
    answer = await board.http.get(f"{API}/blobs/{hash}")

    assert answer.status_code == 404
    assert answer.json()["code"] in ("unknown_blob", "unknown_route")


async def test_a_blob_of_a_deleted_session_is_deleted(board: Board):
    prompt = "A long prompt. " * 1000
    session = await board.session(prompt)
    path = f"{API}/blobs/{hashlib.sha256(prompt.encode()).hexdigest()}"
    assert (await board.http.get(path)).status_code == 200

    await board.command("delete_session", sessionId=session, confirm=session)

    assert (await board.http.get(path)).json()["code"] == "unknown_blob"
    assert (await board.http.get(path, params={"session": session})).json()["code"] == "unknown_session"
