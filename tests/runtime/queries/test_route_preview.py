"""Previews of the model that the next input reaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.contracts.commands.model import PreviewRoute, RoutePreview
from callboard.contracts.errors import Refusal
from tests.runtime.rigs.runtime_rig import calls, open_runtime, says, use_tool


@pytest.mark.parametrize("images", [True, False])
async def test_a_preview_reports_whether_the_model_accepts_images(tmp_path: Path, images: bool) -> None:
    """M5: the same before the first input, between turns and for a steering message."""
    scenario = calls(use_tool("ask_person", question="Which?"), says("Done.")) | {"images": images}
    async with open_runtime(tmp_path, scenario) as rig:
        first: RoutePreview = await rig.do(PreviewRoute(workspace_id=rig.workspace))
        assert (first.images, first.running_model) == (images, "")
        session = (await rig.submit("go")).session_id
        await rig.until(session, "action.required")
        working = await rig.do(PreviewRoute(session_id=session))
        assert working == RoutePreview(
            model=first.model, images=images, running_model=first.model, running_images=images
        )


async def test_a_preview_without_a_subject_is_refused_with_the_field(tmp_path: Path) -> None:
    async with open_runtime(tmp_path, calls(says("Done."))) as rig:
        with pytest.raises(Refusal) as nothing:
            await rig.do(PreviewRoute())
        with pytest.raises(Refusal) as unknown:
            await rig.do(PreviewRoute(workspace_id="wks_nowhere"))
        assert (nothing.value.code, nothing.value.problem.field) == ("invalid_input", "workspaceId")
        assert unknown.value.code == "unknown_workspace"
