"""Text in the making is kept as it grows, whatever the pace at which it comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.runtime.rigs.house import calls, house


async def test_all_that_was_streamed_is_kept_within_a_moment_of_silence(tmp_path: Path) -> None:
    """Design rule 3: unfinished parts are kept at least every 2 KB or second, also what comes while a write is under way."""
    streamed: list[dict[str, Any]] = [{"repeat": {"text": "word ", "times": 5000}}, {"wait_for": "never"}]
    async with house(tmp_path, calls(streamed), partial_interval=0.05, frame_interval=0.0) as home:
        turn = await home.submit("talk")
        await home.kept(turn.session_id, "word " * 5000)
