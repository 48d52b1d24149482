"""The built page, or advice if it is missing."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.adapters.http.rigs.server import API, Board, serving

INDEX = "<!doctype html><title>Callboard</title>"


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outside = tmp_path_factory.mktemp("outside")
    folder = outside / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / "icon.svg").write_text("<svg/>")
    (folder / "assets" / "index-1a2b.js").write_text("export {}")
    (folder / "assets" / "index-1a2b.js.gz").write_bytes(gzip.compress(b"export {}"))
    (folder / "assets" / "index-3c4d.css").write_text("a {}")
    (outside / "secret.txt").write_text("secret")
    (folder / "leads-out.txt").symlink_to(outside / "secret.txt")
    return folder


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def paged(tmp_path_factory: pytest.TempPathFactory, page: Path) -> AsyncIterator[Board]:
    async with serving(tmp_path_factory.mktemp("folder"), page=page) as running:
        yield running


@pytest.mark.parametrize(
    "path", ["/", "/index.html", "/sessions/ses_1", "/workspaces/wks_1/settings", "/assets", "/apis"]
)
async def test_every_route_of_the_page_is_its_document(paged: Board, path: str):
    answer = await paged.anyone.get(path)

    assert (answer.status_code, answer.text) == (200, INDEX)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("path", "media"),
    [
        ("/assets/index-1a2b.js", "text/javascript; charset=utf-8"),
        ("/assets/index-3c4d.css", "text/css; charset=utf-8"),
    ],
)
async def test_an_asset_is_cached_for_ever_because_its_name_changes_with_it(paged: Board, path: str, media: str):
    answer = await paged.anyone.get(path, headers={"Accept-Encoding": "identity"})

    assert answer.status_code == 200
    assert answer.headers["content-type"] == media
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in answer.headers


async def test_other_files_of_the_page_are_revalidated(paged: Board):
    answer = await paged.anyone.get("/icon.svg")

    assert (answer.text, answer.headers["content-type"]) == ("<svg/>", "image/svg+xml")
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/", "/icon.svg", "/assets/index-1a2b.js"])
async def test_a_cached_file_is_not_sent_again(paged: Board, path: str):
    first = await paged.anyone.get(path)
    again = await paged.anyone.get(path, headers={"If-None-Match": f'"other", W/{first.headers["etag"]}'})
    other = await paged.anyone.get(path, headers={"If-None-Match": '"other"'})

    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["cache-control"] == first.headers["cache-control"]
    assert (other.status_code, other.content) == (200, first.content)


@pytest.mark.parametrize(
    ("accepted", "sent"),
    [("gzip", "gzip"), ("br, gzip;q=0.5", "gzip"), ("br", None), ("gzip;q=0", None), ("", None), ("x-gzip", None)],
)
async def test_a_compressed_asset_is_sent_to_clients_that_accept_it(paged: Board, accepted: str, sent: str | None):
    answer = await paged.anyone.get("/assets/index-1a2b.js", headers={"Accept-Encoding": accepted})

    assert answer.headers.get("content-encoding") == sent
    assert answer.text == "export {}"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/none.js",
        "/favicon.ico",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/leads-out.txt",
        "/%00.txt",
        "//etc/passwd.txt",
        f"/{'a' * 300}.js",
    ],
)
async def test_other_files_are_not_served(paged: Board, path: str):
    """SAFE-01"""
    answer = await paged.anyone.get(f"{paged.server.url}{path}")

    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_route")


async def test_the_page_accepts_only_reads(paged: Board):
    for method in ("POST", "PUT", "DELETE"):
        answer = await paged.http.request(method, "/", content=b"x")

        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    head = await paged.anyone.head("/")
    assert (head.status_code, head.headers["content-length"], head.content) == (200, str(len(INDEX)), b"")


async def test_a_missing_page_says_how_to_build_it_and_the_api_answers(tmp_path: Path):
    async with serving(tmp_path, page=tmp_path / "none") as board:
        answer = await board.anyone.get("/")
        meta = await board.http.get(f"{API}/meta")

    assert answer.status_code == 503
    assert "<code>make page</code>" in answer.text
    assert meta.status_code == 200
