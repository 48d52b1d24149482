"""Storage of partial text at any streaming speed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.runtime.rigs.runtime_rig import calls, open_runtime


async def test_all_streamed_text_is_stored_after_a_short_pause(tmp_path: Path) -> None:
    """Design rule 3: partials are stored at least every 2 KB or second, also during a write."""
    streamed: list[dict[str, Any]] = [{"repeat": {"text": "word ", "times": 5000}}, {"wait_for": "never"}]
    async with open_runtime(tmp_path, calls(streamed), partial_interval=0.05, frame_interval=0.0) as rig:
        turn = await rig.submit("talk")
        await rig.wait_partial(turn.session_id, "word " * 5000)
