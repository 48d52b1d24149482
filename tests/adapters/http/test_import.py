"""Past sessions of other products over HTTP."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from callboard.app.transcript_index import TranscriptIndex
from tests.adapters.http.rigs.server import API, Board, serving
from tests.adapters.imports import transcripts

CODEX_ID = "0199aaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
LONG_AGO = 1_700_000_000


@pytest.fixture
async def past(tmp_path: Path) -> AsyncIterator[Board]:
    """Provide a Callboard whose folder has a past session of Codex."""
    folder = tmp_path / "work"
    folder.mkdir()
    codex = tmp_path / "codex"
    os.utime(transcripts.codex(codex, folder), (LONG_AGO, LONG_AGO))
    book = TranscriptIndex({"CLAUDE_CONFIG_DIR": str(tmp_path / "none"), "CODEX_HOME": str(codex)})
    async with serving(folder, past=book) as running:
        yield running


async def test_a_past_session_is_listed_imported_and_read(past: Board):
    """UI-29: all steps of the page."""
    workspace = await past.workspace()
    name = {"workspaceId": workspace, "source": "codex", "sourceId": CODEX_ID}

    before = await past.query("list_past_sessions", workspaceId=workspace)
    imported = await past.command("import_past_session", key="k", **name)
    again = await past.command("import_past_session", key="k", **name)
    after = await past.query("list_past_sessions", workspaceId=workspace)
    read = await past.query("get_session", sessionId=imported["sessionId"])

    expected = {
        "source": "codex",
        "product": "Codex",
        "sourceId": CODEX_ID,
        "folder": str(past.folder),
        "title": "Fix the greeting",
        "changed": LONG_AGO * 1_000_000,
        "sessionId": imported["sessionId"],
    }
    assert before == {"sessions": [expected], "unreadable": [], "older": 0}
    assert imported == again == {"sessionId": imported["sessionId"], "added": 2, "known": 0, "unfinished": False}
    assert after["sessions"] == [{**expected, "imported": True}]
    assert (read["session"]["title"], len(read["turns"])) == ("Fix the greeting", 2)


@pytest.mark.parametrize(
    ("changed", "status", "code", "field"),
    [
        ({"sourceId": "../../etc/passwd"}, 404, "unknown_session", "sourceId"),
        ({"sourceId": ""}, 400, "invalid_input", "sourceId"),
        ({"sourceId": "x" * 201}, 400, "invalid_input", "sourceId"),
        ({"source": "somebody"}, 400, "invalid_input", "source"),
        ({"path": "/etc/passwd"}, 400, "invalid_input", "path"),
        ({"workspaceId": "wks_none"}, 404, "unknown_workspace", "workspaceId"),
    ],
)
async def test_only_a_listed_past_session_can_be_imported(
    past: Board, changed: dict[str, str], status: int, code: str, field: str
):
    """SAFE-05: a request names a listed session, never a file."""
    name = {"workspaceId": await past.workspace(), "source": "codex", "sourceId": CODEX_ID}

    answer = await past.http.post(f"{API}/commands/import_past_session", json={**name, **changed})

    problem = answer.json()
    assert (answer.status_code, problem["code"], problem.get("field")) == (status, code, field)


async def test_past_sessions_need_the_token(past: Board):
    answer = await past.anyone.get(f"{API}/queries/list_past_sessions", params={"workspaceId": await past.workspace()})

    assert answer.status_code == 401
