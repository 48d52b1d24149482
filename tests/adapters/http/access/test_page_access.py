"""X1: the page's credential is bound to its port, origin and time, and never in a command line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from callboard.adapters.http import PageAccess
from callboard.adapters.http.access.codes import CODE_SECONDS, MAX_CODES
from callboard.adapters.http.access.confirmations import CHALLENGE_SECONDS
from callboard.adapters.http.access.confirmed_commands import GRANTING
from callboard.adapters.http.access.credentials import CREDENTIAL_SECONDS, MAX_CREDENTIALS
from callboard.contracts.commands.base import COMMANDS
from tests.adapters.http.rigs.server import API, TOKEN, Board, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")
KEY = "a" * 43 + "="
RULE = json.dumps({"matcher": "Bash(git status *)", "verdict": "allow"}).encode()


class Time:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest_asyncio.fixture(loop_scope="module")
async def timed(tmp_path: Path) -> AsyncIterator[tuple[Board, Time]]:
    time = Time()
    work = tmp_path / "work"
    work.mkdir()
    async with serving(work, access=PageAccess(tmp_path / "opening", time)) as board:
        yield board, time


async def _redeem(board: Board, link: str, **headers: str) -> httpx2.Response:
    body = {"code": link.partition("#open=")[2].partition("/")[0], "proofKey": KEY}
    sent = {"Origin": board.server.url, **headers}
    return await board.anyone.post(f"{API}/page/credentials", json=body, headers=sent)


def _file(opener: str) -> tuple[int, int, bool]:
    """Return the modes of an opener file and its folder, and whether it contains a code."""
    file = Path(opener)
    return file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777, "#open=" in file.read_text()


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def _refusal(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


async def test_a_code_becomes_a_credential_once_and_no_cookie_is_set(timed: tuple[Board, Time]):
    """X1: cookies go to every port of a host."""
    board, _ = timed
    link = board.server.create_page_link("/s/ses_1").link
    assert link.startswith(f"{board.server.url}/#open=")
    assert link.endswith("/s/ses_1")
    first, second = await _redeem(board, link), await _redeem(board, link)
    assert (first.status_code, first.json()["expiresInS"]) == (200, CREDENTIAL_SECONDS)
    assert _refusal(second) == (401, "unauthenticated")
    assert "set-cookie" not in first.headers
    assert first.json()["credential"] != TOKEN


async def test_a_token_or_credential_in_a_cookie_or_an_address_is_ignored(timed: tuple[Board, Time]):
    """X1: the cookie of earlier versions opens nothing."""
    board, _ = timed
    page = await board.sign_in()
    del board.anyone.headers["Authorization"]
    for value in (TOKEN, page.credential):
        cookie = {"Cookie": f"callboard_{board.server.port}={value}"}
        assert _refusal(await board.anyone.get(f"{API}/meta", headers=cookie)) == (401, "unauthenticated")
        assert _refusal(await board.anyone.get(f"{API}/meta?token={value}")) == (401, "unauthenticated")
        assert "set-cookie" not in (await board.anyone.get(f"/?token={value}")).headers


async def test_a_code_ends_after_a_minute_and_its_file_with_it(timed: tuple[Board, Time], tmp_path: Path):
    """X1: only its owner can read the file. Using the code removes it too."""
    board, time = timed
    used, late = board.server.create_page_link(), board.server.create_page_link()
    assert _file(used.opener) == (0o600, 0o700, True)
    assert (await _redeem(board, used.link)).status_code == 200
    assert [str(path) for path in (tmp_path / "opening").iterdir()] == [late.opener]
    time.now += CODE_SECONDS
    assert _refusal(await _redeem(board, late.link)) == (401, "unauthenticated")
    assert list((tmp_path / "opening").iterdir()) == []


async def test_stop_and_start_remove_the_opener_files(tmp_path: Path):
    """X1"""
    opening = tmp_path / "opening"
    async with serving(tmp_path / "work", access=PageAccess(opening)) as board:
        board.server.create_page_link()
        assert len(list(opening.iterdir())) == 1
    assert list(opening.iterdir()) == []
    (opening / "open-left-by-a-kill.html").write_text("x")
    PageAccess(opening)
    assert list(opening.iterdir()) == []


async def test_a_credential_ends_some_hours_after_its_last_use(timed: tuple[Board, Time]):
    """X1"""
    board, time = timed
    page = await board.sign_in()
    for _ in range(3):
        time.now += CREDENTIAL_SECONDS - 1
        assert (await page.http.get(f"{API}/meta")).status_code == 200
    time.now += CREDENTIAL_SECONDS
    assert _refusal(await page.http.get(f"{API}/meta")) == (401, "unauthenticated")


async def test_a_credential_of_another_server_or_a_former_one_opens_nothing(timed: tuple[Board, Time], tmp_path: Path):
    """X1: it ends with the process that issued it."""
    board, _ = timed
    async with serving(tmp_path / "other") as other:
        credential = (await other.sign_in()).credential
    await board.sign_in()
    answer = await board.anyone.get(f"{API}/meta", headers={"Authorization": f"Bearer {credential}"})
    assert _refusal(answer) == (401, "unauthenticated")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:{port}", "Origin": "http://localhost:{port}"}, 401),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Host": "evil.example:{port}"}, 403),
    ],
)
async def test_a_credential_is_bound_to_its_origin(timed: tuple[Board, Time], headers: dict[str, str], status: int):
    """X1: to a browser, another name of this machine is another origin."""
    board, _ = timed
    await board.sign_in()
    sent = {name: value.format(port=board.server.port) for name, value in headers.items()}
    body = {"path": str(board.folder)}
    answer = await board.anyone.post(f"{API}/commands/open_workspace", json=body, headers=sent)
    assert answer.status_code == status


async def test_a_change_needs_the_origin_of_the_page(timed: tuple[Board, Time]):
    """X1: a browser always sends it; a program that replays the header alone is refused."""
    board, _ = timed
    await board.sign_in()
    del board.anyone.headers["Origin"]
    body = {"path": str(board.folder)}
    answer = await board.anyone.post(f"{API}/commands/open_workspace", json=body)
    assert _refusal(answer) == (403, "forbidden_origin")


@pytest.mark.parametrize("headers", [{"Origin": ""}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://localhost:1"}])
async def test_a_code_is_accepted_only_from_the_page(timed: tuple[Board, Time], headers: dict[str, str]):
    """X1: a page of another port that guesses or sees a code cannot use it, and it stays valid."""
    board, _ = timed
    link = board.server.create_page_link().link
    assert _refusal(await _redeem(board, link, **headers)) == (403, "forbidden_origin")
    assert (await _redeem(board, link)).status_code == 200


async def test_the_route_of_codes_has_one_method(timed: tuple[Board, Time]):
    """X1: without a credential any other method is answered by its name and nothing else."""
    board, _ = timed
    for method in ("GET", "PUT", "DELETE", "TRACE", "OPTIONS"):
        answer = await board.anyone.request(method, f"{API}/page/credentials")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_only_the_token_opens_further_pages(timed: tuple[Board, Time]):
    """X1"""
    board, _ = timed
    await board.sign_in()
    assert _refusal(await board.anyone.post(f"{API}/page/links", json={})) == (403, "not_authorised")
    answer = (await board.http.post(f"{API}/page/links", json={"route": "/s/ses_1"})).json()
    assert answer["link"].startswith(f"{board.server.url}/#open=")
    assert _file(answer["opener"]) == (0o600, 0o700, True)
    other = {"Host": f"localhost:{board.server.port}"}
    named = (await board.http.post(f"{API}/page/links", json={}, headers=other)).json()
    assert named["link"].startswith(f"http://localhost:{board.server.port}/#open=")
    for route in ("//evil.example", "x", "/#open=2", "/a\n"):
        assert (await board.http.post(f"{API}/page/links", json={"route": route})).status_code == 400


async def test_a_grant_needs_a_confirmation_of_exactly_this_command(timed: tuple[Board, Time]):
    """X1: a confirmation is for one use, one command with one body, one credential and a short time."""
    board, time = timed
    body = json.dumps({**json.loads(RULE), "workspaceId": await board.workspace()}).encode()
    page = await board.sign_in()

    async def give(confirmation: str, command: str = "add_rule", sent: bytes = body) -> httpx2.Response:
        headers = {"Content-Type": "application/json", "Callboard-Confirmation": confirmation}
        return await board.anyone.post(f"{API}/commands/{command}", content=sent, headers=headers)

    before = await board.heads()
    refused = (403, "confirmation_required")
    right = await page.confirmation("add_rule", body)
    assert _refusal(await give("")) == refused
    assert _refusal(await give(right.partition(".")[0] + "." + "0" * 64)) == refused
    assert _refusal(await give(right)) == refused, "a wrong proof uses the challenge up"
    other = body.replace(b"status", b"push")
    assert _refusal(await give(await page.confirmation("add_rule", body), sent=other)) == refused
    assert _refusal(await give(await page.confirmation("revoke_rule", body))) == refused
    late = await page.confirmation("add_rule", body)
    time.now += CHALLENGE_SECONDS
    assert _refusal(await give(late)) == refused
    of_another = await page.confirmation("add_rule", body)
    await board.sign_in()
    assert _refusal(await give(of_another)) == refused
    assert await board.heads() == before
    used = await page.confirmation("add_rule", body)
    assert (await give(used)).status_code == 200
    assert _refusal(await give(used)) == refused


async def test_no_other_route_executes_a_grant_for_a_page(timed: tuple[Board, Time]):
    """X1"""
    board, _ = timed
    workspace = await board.workspace()
    await board.sign_in()
    before = await board.heads()
    params = {**json.loads(RULE), "workspaceId": workspace}
    call = {"jsonrpc": "2.0", "id": 1, "method": "add_rule", "params": params}
    answer = (await board.anyone.post(f"{API}/rpc", json=call)).json()
    assert answer["error"]["data"]["code"] == "confirmation_required"
    assert await board.heads() == before
    assert (await board.http.post(f"{API}/rpc", json=call)).json()["result"]["ruleId"]


@pytest.mark.parametrize(
    ("command", "fields", "confirmed"),
    [
        ("respond_action", {"decision": "approve"}, False),
        ("respond_action", {"decision": "reject", "scope": "session"}, False),
        ("respond_action", {"decision": "approve", "scope": "session"}, True),
        ("resolve_permission", {"decision": "approve", "scope": "workspace", "policy": "p"}, True),
    ],
)
async def test_a_wider_answer_to_an_action_is_a_grant(
    timed: tuple[Board, Time], command: str, fields: dict[str, Any], confirmed: bool
):
    """X1: an approval of one call is not, an approval of all like it is."""
    board, _ = timed
    await board.sign_in()
    body = {"sessionId": "ses_none", "actionId": "act_none", **fields}
    answer = await board.anyone.post(f"{API}/commands/{command}", json=body)
    assert answer.json()["code"] == ("confirmation_required" if confirmed else "unknown_session")


@pytest.mark.parametrize(("wide", "code"), [(True, "confirmation_required"), (False, "folder_too_broad")])
async def test_an_approval_of_a_broad_folder_is_a_grant(timed: tuple[Board, Time], wide: bool, code: str):
    """X1, X6"""
    board, _ = timed
    await board.sign_in()
    answer = await board.anyone.post(f"{API}/commands/open_workspace", json={"path": "/", "wide": wide})
    assert answer.json()["code"] == code


async def test_every_command_that_changes_permissions_is_listed(timed: tuple[Board, Time]):
    """X1: a new command of trust, rules, settings or secrets is a grant, or listed here as an exception."""
    narrow = {"revoke_trust", "dry_run_rules", "evaluate_permission", "resolve_permission"}
    words = ("trust", "rule", "permission", "setting", "secret", "hook")
    commands = {row.name for row in COMMANDS.values() if not row.query and any(word in row.name for word in words)}
    assert commands - narrow == GRANTING


async def test_codes_and_credentials_are_bounded(timed: tuple[Board, Time]):
    """X1, X9"""
    board, _ = timed
    first, *others = (board.server.create_page_link().link for _ in range(MAX_CODES + 1))
    assert _refusal(await _redeem(board, first)) == (401, "unauthenticated")
    page = await board.sign_in()
    assert (await page.http.get(f"{API}/meta")).status_code == 200
    for _ in range(MAX_CREDENTIALS):
        await board.sign_in()
    headers = {"Authorization": f"Bearer {page.credential}"}
    assert (await board.anyone.get(f"{API}/meta", headers=headers)).status_code == 401
    assert len(others) == MAX_CODES


async def test_codes_expire_automatically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X1: an unused code expires, and its file is removed."""
    monkeypatch.setattr("callboard.adapters.http.access.codes.CODE_SECONDS", 0.05)
    access = PageAccess(tmp_path)
    access.codes.issue("http://127.0.0.1:1", "")
    assert len(_files(tmp_path)) == 1
    async with asyncio.timeout(30):
        while _files(tmp_path):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
