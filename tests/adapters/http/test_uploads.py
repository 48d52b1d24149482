"""Uploads of attachments: size limit, access control, and use by a turn."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.uploads import MAX_UPLOAD_BYTES
from callboard.runtime.clock import UuidIds
from callboard.runtime.workspaces.uploads import DAY, UploadFolder
from callboard.secrets.named_secret import NamedSecret
from callboard.secrets.redaction import Redaction
from tests.adapters.http.rigs.server import API, Board
from tests.tools.files.test_images import png

PATH = f"{API}/uploads"


async def test_an_uploaded_file_is_attached_to_the_turn_that_names_it(board: Board):
    """CTX-01: the fact stores the file unchanged."""
    sent = await board.http.post(PATH, params={"name": "dot.png"}, content=png(2, 2))
    upload = sent.json()
    assert sent.status_code == 200
    assert {**upload, "upload": ""} == {"upload": "", "name": "dot.png", "media": "image/png", "size": len(png(2, 2))}

    workspace = await board.workspace()
    turn = await board.http.post(
        f"{API}/commands/submit_turn",
        json={"workspaceId": workspace, "text": "look", "attachments": [{"upload": upload["upload"]}]},
    )
    assert turn.status_code == 200
    page = await board.http.get(f"{API}/sessions/{turn.json()['sessionId']}/facts", params={"limit": 10})
    submitted = next(event for event in page.json()["events"] if event["type"] == "turn.submitted")
    (attachment,) = submitted["payload"]["given"]
    assert (attachment["kind"], attachment["source"], attachment["content"]["media"]) == (
        "image",
        "attached",
        "image/png",
    )
    blob = await board.http.get(f"{API}/blobs/{attachment['content']['hash']}")
    assert blob.content == png(2, 2)


async def test_a_large_empty_or_misnamed_file_is_refused_and_not_stored(board: Board):
    """CTL-04"""
    large = await board.http.post(PATH, params={"name": "x"}, content=b"x" * (MAX_UPLOAD_BYTES + 1))

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(MAX_UPLOAD_BYTES // 100_000 + 2):
            yield b"x" * 100_000

    unsaid = await board.http.post(PATH, params={"name": "x"}, content=endless())
    empty = await board.http.post(PATH, params={"name": "x"}, content=b"")
    nameless = await board.http.post(PATH, content=b"x")
    elsewhere = await board.http.post(PATH, params={"name": "../x"}, content=b"x")

    codes = [response.json()["code"] for response in (large, unsaid, empty, nameless, elsewhere)]
    assert codes == ["too_large", "too_large", "invalid_input", "invalid_input", "invalid_input"]
    folder = board.folder.with_name(f"{board.folder.name}-beside") / "uploads"
    assert files(folder) == []


async def test_an_upload_without_the_token_is_refused(board: Board):
    """SAFE-05"""
    refused = await board.anyone.post(PATH, params={"name": "x"}, content=b"x")
    from_elsewhere = await board.http.post(
        PATH, params={"name": "x"}, content=b"x", headers={"Origin": "https://example.org"}
    )

    assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
    assert from_elsewhere.json()["code"] == "forbidden_origin"


def files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_a_secret_in_a_file_or_its_name_is_never_stored(tmp_path: Path):
    """X10"""
    value = "zxq-Tr4k9Lm2Pq8Wv7"

    async def pieces() -> AsyncIterator[bytes]:
        yield f"a {value} b".encode()

    secrets = Redaction([NamedSecret("deploy", value, "environment")])
    uploads = UploadFolder(tmp_path, UuidIds(), lambda: time.time_ns() // 1000, secrets.redact_stream)
    upload = await uploads.receive(f"{value}.txt", pieces())

    assert upload.name == "secret://deploy.txt"
    assert await uploads.read(upload.upload) == (upload, b"a secret://deploy b")
    assert not [path for path in files(tmp_path) if value.encode() in path.read_bytes()]


async def test_r6_an_upload_on_a_full_disk_is_refused_with_advice_and_not_stored(tmp_path: Path):
    """R6: a failed disk is not a defect of Callboard."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"x"
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    uploads = UploadFolder(tmp_path, UuidIds(), lambda: time.time_ns() // 1000, Redaction().redact_stream)

    with pytest.raises(Refusal) as refused:
        await uploads.receive("a.txt", pieces())

    assert (refused.value.code, "Check the disk" in refused.value.problem.hint) == ("store_unusable", True)
    assert files(tmp_path) == []


async def test_an_unused_upload_is_deleted_after_a_day(tmp_path: Path):
    """Uploads are not a second store."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"x"

    now = time.time_ns() // 1000
    uploads = UploadFolder(tmp_path, UuidIds(), lambda: now, Redaction().redact_stream)
    old = await uploads.receive("old", pieces())
    for path in sorted(files(tmp_path)):
        os.utime(path, (0, now / 1_000_000 - DAY - 1))
    new = await uploads.receive("new", pieces())

    assert await uploads.read(old.upload) is None
    assert await uploads.read(new.upload) == (new, b"x")
    assert {path.stat().st_mode & 0o777 for path in files(tmp_path)} == {0o600}
