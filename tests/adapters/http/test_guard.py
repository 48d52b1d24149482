"""Access control: token, origin and host."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from callboard.contracts.commands import TABLE
from tests.adapters.http.rigs.server import API, TOKEN, Board, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROTECTED = [
    *(("GET", f"{API}/queries/{row.name}") if row.query else ("POST", f"{API}/commands/{row.name}") for row in TABLE),
    ("GET", f"{API}/sessions/ses_1/facts"),
    ("GET", f"{API}/sessions/ses_1/ops"),
    ("GET", f"{API}/workspaces/wks_1/facts"),
    ("GET", f"{API}/workspaces/wks_1/ops"),
    ("GET", f"{API}/blobs/{'0' * 64}"),
    ("POST", f"{API}/rpc"),
    ("POST", f"{API}/page/links"),
    ("POST", f"{API}/page/confirmations"),
    ("GET", f"{API}/meta"),
    ("GET", f"{API}/openapi.json"),
    ("GET", f"{API}/nothing"),
    ("DELETE", "/api"),
]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Board]:
    async with serving(tmp_path_factory.mktemp("folder")) as board:
        yield board


@pytest.fixture
def board(running: Board) -> Board:
    """Provide one Callboard for all tests of this module."""
    running.anyone.cookies.clear()
    for name in ("Authorization", "Origin", "Sec-Fetch-Site"):
        running.anyone.headers.pop(name, None)
    return running


@pytest.mark.parametrize(
    "authorization",
    [None, "Bearer", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer zażółć"],
)
async def test_without_the_token_no_route_of_the_api_answers(board: Board, authorization: str | None):
    """SAFE-04"""
    before = await board.heads()
    headers = [] if authorization is None else [(b"Authorization", authorization.encode())]
    body = {"path": str(board.folder)}

    for method, path in PROTECTED:
        answer = await board.anyone.request(method, path, headers=headers, json=body if method == "POST" else None)

        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), path
        assert answer.headers["www-authenticate"] == "Bearer"
    assert await board.heads() == before


async def test_a_health_check_needs_no_token_and_reveals_nothing(board: Board):
    answer = await board.anyone.get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"ok": True})


@pytest.mark.parametrize("path", ["/", "/healthz", f"{API}/meta"])
@pytest.mark.parametrize(
    "host", ["evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", ""]
)
async def test_another_host_is_refused_also_with_the_token(board: Board, path: str, host: str):
    """SAFE-04: another host name that resolves to loopback is refused (DNS rebinding)."""
    answer = await board.http.get(path, headers={"Host": host.format(port=board.server.port)})

    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (403, "forbidden_origin", "Host")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
async def test_the_names_of_this_machine_are_accepted_as_host(board: Board, name: str):
    answer = await board.http.get(f"{API}/meta", headers={"Host": f"{name}:{board.server.port}"})

    assert answer.status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}", "http://localhost:{port}"],
)
async def test_a_page_of_another_origin_is_refused_and_writes_nothing(board: Board, origin: str):
    """SAFE-04"""
    before = await board.heads()

    answer = await board.http.post(
        f"{API}/commands/open_workspace",
        json={"path": str(board.folder)},
        headers={"Origin": origin.format(port=board.server.port)},
    )

    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (403, "forbidden_origin", "Origin")
    assert await board.heads() == before


async def test_the_page_may_send_requests(board: Board):
    headers = {"Origin": board.server.url, "Sec-Fetch-Site": "same-origin"}

    answer = await board.http.post(f"{API}/commands/open_workspace", json={"path": str(board.folder)}, headers=headers)

    assert answer.status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["/", "/assets/index.js", f"{API}/meta"])
async def test_a_resource_loaded_by_another_site_is_refused(board: Board, site: str, path: str):
    """SAFE-04: also from another port of this machine."""
    answer = await board.http.get(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"})

    assert (answer.status_code, answer.json()["field"]) == (403, "Sec-Fetch-Site")


async def test_a_link_on_another_site_may_open_the_page_but_nothing_of_the_api(board: Board):
    """The printed address may be opened from a terminal in a browser."""
    navigation = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}

    opened = await board.anyone.get("/", headers=navigation)
    read = await board.http.get(f"{API}/meta", headers=navigation)
    framed = await board.anyone.get("/", headers={**navigation, "Sec-Fetch-Dest": "iframe"})

    assert opened.status_code in (200, 503)
    assert (read.status_code, framed.status_code) == (403, 403)


async def test_no_other_origin_is_ever_allowed(board: Board):
    """SAFE-04: every CORS preflight is refused."""
    preflight = await board.anyone.options(
        f"{API}/commands/submit_turn",
        headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
    )
    answered = await board.http.get(f"{API}/meta")

    assert preflight.status_code == 403
    assert not [
        name for answer in (preflight, answered) for name in answer.headers if name.startswith("access-control")
    ]


@pytest.mark.parametrize("path", ["/", "/healthz", "/assets/none.js", f"{API}/meta", f"{API}/nothing", "/?token=no"])
async def test_every_answer_has_security_headers(board: Board, path: str):
    answer = await board.http.get(path)

    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] in ("no-store", "no-cache")
    if path.startswith("/api"):
        assert answer.headers["cache-control"] == "no-store"
