"""Long outputs and images: stored whole, shown and sent in part, and read in pages."""

from __future__ import annotations

import json
from pathlib import Path

from callboard.contracts.content import PREVIEW
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed
from callboard.contracts.ports.model import ImageContent, ToolResultContent
from callboard.contracts.rows.tool import ToolPart
from callboard.runtime.turns.stored_output import read_output
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says, use_tool
from tests.tools.files.test_images import png


async def results(rig: RuntimeRig, session: str, thread: str, *, images: bool = True) -> list[ToolResultContent]:
    """Return the call results that the model received."""
    host = (await rig.runtime.sessions.get(session)).host
    await host.wait_settled()
    context = await host.conversations.get(thread)
    contents = (content for message in context.build_messages(images=images) for content in message.content)
    return [entry for entry in contents if isinstance(entry, ToolResultContent)]


async def test_a_long_output_is_sent_truncated_and_read_in_pages(tmp_path: Path) -> None:
    """UI-08: the row previews both ends. The model reads the rest with ReadOutput, which is
    read-only."""
    played = {
        "calls": [
            use_tool("Bash", command="seq 1 30000"),
            says("Done."),
        ]
    }
    async with open_runtime(tmp_path, played) as rig:
        first = await rig.submit("count", permission_mode="full")
        await rig.until(first.session_id, "turn.completed")
        ended = await rig.until(first.session_id, "tool.completed")
        assert isinstance(ended.fact, ToolCompleted)
        output, call = ended.fact.output, ended.scope.tool_call
        assert output.ref is not None
        assert (output.text[:4], output.tail[-6:]) == ("1\n2\n", "30000\n"[-6:])
        assert (len(output.text), len(output.tail)) == (PREVIEW, PREVIEW)
        sent = (await results(rig, first.session_id, first.thread_id))[0].text
        assert len(sent) < 70_000
        assert sent.startswith("1\n2\n")
        assert sent.endswith("30000\n")
        assert f'`read_output`, call_id "{call}", offset 49152.' in sent
        parts = await rig.parts(first.session_id, first.turn_id)
        assert next(part.output for part in parts if isinstance(part, ToolPart)) == output


async def test_an_output_that_no_row_shows_yet_is_read(tmp_path: Path) -> None:
    """UI-08: rows lag behind the log, and the conversation keeps only long outputs aside."""
    played = {"calls": [use_tool("Bash", command="echo brief"), says("Done.")]}
    async with open_runtime(tmp_path, played, fold_behind=3600.0) as rig:
        turn = await rig.submit("count", permission_mode="full")
        await rig.until(turn.session_id, "turn.completed")
        call = (await rig.until(turn.session_id, "tool.completed")).scope.tool_call
        host = (await rig.runtime.sessions.get(turn.session_id)).host

        row = await rig.runtime.dependencies.store.rows.read_row(turn.session_id, ToolPart.panel, call)
        outcome = await read_output(host, turn.thread_id, json.dumps({"call_id": call}))

        assert row is None
        assert (outcome.code, outcome.output[:6]) == (None, "brief\n")


async def test_read_output_returns_only_outputs_of_the_agents_own_calls(tmp_path: Path) -> None:
    """UI-08, SAFE"""
    played = {"calls": [use_tool("Bash", command="seq 1 30000"), says("Done.")]}
    async with open_runtime(tmp_path, played) as rig:
        first = await rig.submit("count", permission_mode="full")
        await rig.until(first.session_id, "turn.completed")
        call = next(
            record.scope.tool_call
            for record in await rig.facts(first.session_id)
            if isinstance(record.fact, ToolCompleted)
        )
    more = [
        *played["calls"],
        use_tool("ReadOutput", call_id=call, offset=49152, limit=12),
        use_tool("ReadOutput", call_id="cal_other"),
        use_tool("ReadOutput", call_id=call, offset=10_000_000),
        says("Read."),
    ]
    async with open_runtime(tmp_path, {"calls": more}) as rig:
        await rig.submit("read on", first.session_id)
        await rig.until(first.session_id, "turn.completed", 2)
        ended = [
            record.fact
            for record in await rig.facts(first.session_id)
            if isinstance(record.fact, ToolCompleted | ToolFailed)
        ]
        page, other, behind = ended[1:]
        assert isinstance(page, ToolCompleted)
        whole = "".join(f"{n}\n" for n in range(1, 30001))
        assert (
            page.output.text
            == f"{whole[49152:49164]}\n\n[bytes 49152 to 49164 of {len(whole)}; continue with offset 49164]"
        )
        assert isinstance(other, ToolFailed)
        assert "There is no stored output of call cal_other" in other.message
        assert isinstance(behind, ToolFailed)


async def test_an_image_is_read_as_an_image_and_other_files_are_named(tmp_path: Path) -> None:
    """UI-08, CTX-01: a model without image input receives a description."""
    async with open_runtime(
        tmp_path, calls(use_tool("Read", file_path="a.png"), use_tool("Read", file_path="b.pdf"), says("Seen."))
    ) as rig:
        (rig.folder / "a.png").write_bytes(png(4, 4))
        (rig.folder / "b.pdf").write_bytes(b"%PDF-1.7\n\0\0")
        first = await rig.submit("look")
        await rig.until(first.session_id, "turn.completed")
        facts = [record.fact for record in await rig.facts(first.session_id) if isinstance(record.fact, ToolCompleted)]
        (ref,) = facts[0].images
        assert (ref.media, ref.size) == ("image/png", len(png(4, 4)))
        image_result, other = await results(rig, first.session_id, first.thread_id)
        assert image_result.images == (ImageContent(data=png(4, 4), media="image/png"),)
        assert "f is" not in image_result.text
        assert "b.pdf is a PDF document, 11 bytes" in other.text
        unshown = (await results(rig, first.session_id, first.thread_id, images=False))[0]
        assert unshown.images == ()
        assert "4 × 4 pixels" in unshown.text
        assert "This model does not accept images" in unshown.text
        parts = await rig.parts(first.session_id, first.turn_id)
        assert [part.images for part in parts if isinstance(part, ToolPart)] == [(ref,), ()]
