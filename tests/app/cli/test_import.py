"""`callboard import`: past sessions of other coding agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.imports import transcripts
from tests.app.rigs.product import Product

#: A time in seconds so long ago that no agent still writes the transcript.
LONG_AGO = 1_700_000_000


@pytest.fixture
def past(product: Product) -> Product:
    """Provide a product whose folder has a past session of each agent."""
    claude, codex = product.place / "claude", product.place / "codex"
    product.variables |= {"CLAUDE_CONFIG_DIR": str(claude), "CODEX_HOME": str(codex)}
    for file in (transcripts.claude_code(claude, product.folder), transcripts.codex(codex, product.folder)):
        os.utime(file, (LONG_AGO, LONG_AGO))
    return product


def import_session(product: Product, source: str) -> dict[str, Any]:
    """Import, and return the line of the session of an agent."""
    lines = product.run("import", "--yes", "--json").json
    return next(line for line in lines if line["source"] == source)


def test_nothing_is_imported_without_an_approval(past: Product):
    refused = past.run("import")

    assert refused.code == 2
    assert "Add --yes to import." in refused.err
    assert "Fix the greeting" in refused.out
    assert past.run("sessions", "--json").json == []


def test_an_invalid_transcript_hides_no_session_and_delays_nothing(past: Product):
    """A8: a pipe, a device, a folder, a dangling link, a loop, and a file name in no encoding."""
    folder = next((past.place / "claude" / "projects").iterdir())
    good = next(folder.glob("*.jsonl"))
    odd = good.with_name(os.fsdecode(b"odd\xff.jsonl"))
    odd.write_bytes(good.read_bytes())
    os.utime(odd, (LONG_AGO, LONG_AGO))
    os.mkfifo(folder / "a-pipe.jsonl")
    (folder / "b-folder.jsonl").mkdir()
    (folder / "c-device.jsonl").symlink_to("/dev/zero")
    (folder / "d-nowhere.jsonl").symlink_to("/nonexistent")
    (folder / "e-loop.jsonl").symlink_to("e-loop.jsonl")

    lines = past.run("import", "--yes", "--json").json

    assert sorted((line["source"], line["sourceId"]) for line in lines if not line["problem"]) == [
        ("claude_code", good.stem),
        ("claude_code", "odd\ufffd"),
        ("codex", next(line["sourceId"] for line in lines if line["source"] == "codex")),
    ]


def test_an_imported_session_reads_like_any_other(past: Product):
    """UI-29: its turns, tools, files and tokens are facts with their original times."""
    line = import_session(past, "claude_code")

    assert (line["added"], line["known"], line["problem"]) == (3, 0, "")
    facts = past.run("facts", line["sessionId"], "--json").json
    assert facts[0]["payload"]["source"] == "claude_code"
    assert {fact["timestamp"][:10] for fact in facts} == {"2026-11-20"}
    changes = [change["path"] for fact in facts for change in fact["payload"].get("changes", ())]
    assert changes == ["hello.py"]
    ends = [fact["type"] for fact in facts if fact["type"] in ("turn.completed", "turn.interrupted")]
    assert ends == ["turn.completed", "turn.completed", "turn.interrupted"]
    view = past.run("view", line["sessionId"]).out
    assert "It says hello now." in view
    # The transcript has no end times, so no duration is printed.
    assert " 0.0 s" not in view


def test_importing_again_adds_new_turns(past: Product):
    """CTL-01: imported turns stay unchanged."""
    first = import_session(past, "codex")
    file = next((past.place / "codex").rglob("rollout-*.jsonl"))
    prompt = file.read_text().splitlines()[-2].replace("Thanks", "One more thing")
    file.write_text(f"{file.read_text()}{prompt}\n")
    os.utime(file, (LONG_AGO, LONG_AGO))

    again = import_session(past, "codex")

    assert (first["added"], first["known"]) == (2, 0)
    assert (again["sessionId"], again["added"], again["known"]) == (first["sessionId"], 1, 2)


def test_an_unfinished_turn_is_imported_later(past: Product):
    file = next((past.place / "codex").rglob("rollout-*.jsonl"))
    os.utime(file)

    line = import_session(past, "codex")

    assert (line["added"], line["unfinished"]) == (1, True)


def test_an_imported_session_accepts_no_turns(past: Product):
    line = import_session(past, "codex")

    refused = past.plays({"calls": []}).run("run", "go on", "--session", line["sessionId"])

    assert refused.code != 0
    assert "session_imported" in refused.err


def test_a_session_of_another_folder_is_not_imported(past: Product, tmp_path: Path):
    other = tmp_path / "elsewhere"
    other.mkdir()

    done = past.run("import", "--yes", "--folder", str(other))

    assert (done.code, done.out) == (0, "")
    assert "Nothing to import" in done.err
