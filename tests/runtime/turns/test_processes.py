"""Background commands: started by an agent, recorded as facts, controlled by a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.process import (
    GetExecutionEnvironment,
    ListProcesses,
    ProcessChanged,
    TerminateProcess,
    WriteProcessStdin,
)
from callboard.contracts.commands.session import DeleteSession
from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.process import ProcessEnded
from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.facts.tool import ToolCompleted
from callboard.contracts.rows.process import ProcessRow
from callboard.secrets.named_secret import NamedSecret
from callboard.secrets.redaction import Redaction
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says, use_tool
from tests.runtime.sessions.test_recovery import copy_as_killed
from tests.tools.rigs.processes import find_processes, wait_until


@pytest.fixture
def mark(tmp_path: Path) -> str:
    """Return a sleep duration that identifies a process in the process list."""
    return f"9{abs(hash(str(tmp_path))) % 10**8:08d}"


HERE: dict[str, Any] = {"process_id": "{Bash[0].process_id}"}


def background_call(command: str) -> list[dict[str, Any]]:
    return use_tool("Bash", command=command, background=True)


async def list_processes(rig: RuntimeRig, session: str) -> tuple[ProcessRow, ...]:
    """Return the rows of the session's processes after all its facts."""
    await rig.read(session)
    return (await rig.do(ListProcesses(session_id=session))).processes


async def list_outputs(rig: RuntimeRig, session: str) -> list[str]:
    """Return the outputs of tool calls, in order."""
    return [record.fact.output.text for record in await rig.facts(session) if isinstance(record.fact, ToolCompleted)]


async def test_a_process_outlives_its_call_and_turn(tmp_path: Path) -> None:
    """CTL-09: each step is a fact, and its row shows how it ended."""
    played = calls(background_call("echo up; read line; echo got $line"), says("It runs."))
    async with open_runtime(tmp_path, played) as rig:
        turn = await rig.submit("serve", permission_mode="full")
        started = await rig.until(turn.session_id, "process.started")
        await rig.until(turn.session_id, "turn.completed")
        process = started.scope.process
        await wait_output(rig, turn.session_id, "up\n")
        (row,) = await list_processes(rig, turn.session_id)
        assert (row.process_id, row.state, row.command.text) == (
            process,
            "running",
            "echo up; read line; echo got $line",
        )

        answer = await rig.do(WriteProcessStdin(session_id=turn.session_id, process_id=process, text="hello\n"))

        over = await rig.until(turn.session_id, "process.ended")
        assert answer == ProcessChanged(session_id=turn.session_id, process_id=process, sequence=over.sequence - 1)
        assert isinstance(over.fact, ProcessEnded)
        assert (over.fact.status, over.fact.exit_code, over.fact.output) == ("exited", 0, Text(text="up\ngot hello\n"))
        (row,) = await list_processes(rig, turn.session_id)
        assert (row.state, row.output, row.exit_code) == ("exited", Text(text="up\ngot hello\n"), 0)


async def wait_output(rig: RuntimeRig, session: str, text: str) -> None:
    async def there() -> bool:
        return any(row.output.text == text for row in await list_processes(rig, session))

    await rig.wait_until(there)


async def test_an_agent_reads_and_stops_its_process(tmp_path: Path) -> None:
    """CTL-09"""
    played = calls(
        background_call("echo one; echo two; exec sleep 600"),
        use_tool("ReadProcess", **HERE, offset=4, wait=30_000),
        use_tool("StopProcess", **HERE),
        use_tool("ReadProcess", **HERE),
        says("Done."),
    )
    async with open_runtime(tmp_path, played) as rig:
        turn = await rig.submit("look", permission_mode="full")
        await rig.until(turn.session_id, "turn.completed")

        over = await rig.until(turn.session_id, "process.ended")
        assert isinstance(over.fact, ProcessEnded)
        assert (over.fact.status, over.fact.output.text) == ("terminated", "one\ntwo\n")
        name = over.scope.process
        assert (await list_outputs(rig, turn.session_id))[1:] == [
            f"two\n\n[{name} is running. The next offset is 8.]",
            f"{name} was stopped.",
            f"one\ntwo\n\n[{name} was stopped. The next offset is 8.]",
        ]


async def test_a_key_in_a_processs_output_is_redacted_also_across_reads(tmp_path: Path) -> None:
    """SAFE-03"""
    key = "ghp_" + "a1B2" * 9
    played = calls(
        background_call(f"printf '%s' {key[:11]}; sleep 0.2; printf '%s\\n' {key[11:]}; exec sleep 600"),
        use_tool("ReadProcess", **HERE, wait=30_000),
        says("Done."),
    )
    async with open_runtime(tmp_path, played) as rig:
        turn = await rig.submit("look", permission_mode="full")
        await rig.until(turn.session_id, "turn.completed")

        async def whole() -> bool:
            return any("secret://" in row.output.text for row in await list_processes(rig, turn.session_id))

        await rig.wait_until(whole)
        (row,) = await list_processes(rig, turn.session_id)
        for text in (*await list_outputs(rig, turn.session_id), row.output.text):
            assert key[4:11] not in text
            assert key[11:] not in text


async def test_output_that_may_start_a_secret_is_still_read_to_its_end(tmp_path: Path) -> None:
    """SAFE-03: agents and people receive the text. When the rest arrives, the handle follows it."""
    redaction = Redaction([NamedSecret("deploy", "me7Kq-x2Zp9w", "environment")])
    played = calls(
        background_call("printf 'Who? me'; read line; printf %s $line"),
        use_tool("ReadProcess", **HERE, offset=5, wait=60_000),
        says("It asks."),
    )
    async with open_runtime(tmp_path, played, secrets=redaction) as rig:
        turn = await rig.submit("look", permission_mode="full")
        process = (await rig.until(turn.session_id, "process.started")).scope.process
        await rig.until(turn.session_id, "turn.completed")

        (row,) = await list_processes(rig, turn.session_id)
        assert row.output == Text(text="Who? me")
        assert (await list_outputs(rig, turn.session_id))[1] == f"me\n[{process} is running. The next offset is 7.]"

        await rig.do(WriteProcessStdin(session_id=turn.session_id, process_id=process, text="7Kq-x2Zp9w\n"))

        over = await rig.until(turn.session_id, "process.ended")
        assert isinstance(over.fact, ProcessEnded)
        assert over.fact.output == Text(text="Who? mesecret://deploy")


async def test_a_persons_stop_request_is_recorded_before_the_process_ends(tmp_path: Path, mark: str) -> None:
    """CTL-09"""
    async with open_runtime(
        tmp_path, calls(background_call(f"(setsid sleep {mark} &); sleep {mark}"), says("It runs."))
    ) as rig:
        turn = await rig.submit("serve", permission_mode="full")
        process = (await rig.until(turn.session_id, "process.started")).scope.process
        await rig.until(turn.session_id, "turn.completed")

        await rig.do(TerminateProcess(session_id=turn.session_id, process_id=process, reason="enough"))

        over = await rig.until(turn.session_id, "process.ended")
        assert isinstance(over.fact, ProcessEnded)
        assert over.fact.status == "terminated"
        assert (await rig.types(turn.session_id))[-2:] == ["process.stop.requested", "process.ended"]
        assert find_processes(mark) == []
        with pytest.raises(Refusal) as refused:
            await rig.do(TerminateProcess(session_id=turn.session_id, process_id=process))
        assert refused.value.code == "process_unavailable"


async def test_an_unknown_process_is_refused(tmp_path: Path) -> None:
    """CTL-09"""
    async with open_runtime(tmp_path, calls(says("Hello."))) as rig:
        turn = await rig.submit("hello")
        await rig.until(turn.session_id, "turn.completed")
        before = await rig.types(turn.session_id)

        with pytest.raises(Refusal) as refused:
            await rig.do(WriteProcessStdin(session_id=turn.session_id, process_id="prc_none", text="x"))

        assert refused.value.code == "unknown_process"
        assert await rig.types(turn.session_id) == before


async def test_after_a_crash_a_process_is_lost_with_a_warning(tmp_path: Path) -> None:
    """CTL-09: it cannot be recovered, and stopping it changes nothing."""
    played = calls(background_call("sleep 600"), says("It runs."))
    async with open_runtime(tmp_path, played) as rig:
        turn = await rig.submit("serve", permission_mode="full")
        process = (await rig.until(turn.session_id, "process.started")).scope.process
        await rig.until(turn.session_id, "turn.completed")
        async with open_runtime(copy_as_killed(rig, tmp_path), played) as after:
            (row,) = await list_processes(after, turn.session_id)
            for command in (
                WriteProcessStdin(session_id=turn.session_id, process_id=process, text="x"),
                TerminateProcess(session_id=turn.session_id, process_id=process),
            ):
                with pytest.raises(Refusal) as refused:
                    await after.do(command)
                assert refused.value.code == "process_unavailable"

            records = [record for record in await after.facts(turn.session_id) if record.scope.process]
            assert [record.header.type for record in records] == ["process.started", "process.ended", "warning.raised"]
            assert isinstance(records[1].fact, ProcessEnded)
            assert (row.state, records[1].fact.status) == ("lost", "lost")
            assert isinstance(records[2].fact, WarningRaised)
            assert records[2].fact.code == "process_unavailable"


async def test_a_process_ends_with_its_host_and_is_recorded(tmp_path: Path, mark: str) -> None:
    """SAFE-10"""
    played = calls(background_call(f"sleep {mark}"), says("It runs."))
    async with open_runtime(tmp_path, played) as rig:
        turn = await rig.submit("serve", permission_mode="full")
        await rig.until(turn.session_id, "turn.completed")
        await wait_until(lambda: find_processes("sleep", mark))
    assert find_processes(mark) == []

    async with open_runtime(tmp_path, played) as rig:
        (row,) = await list_processes(rig, turn.session_id)
        assert row.state == "session_closed"


async def test_deleting_a_session_ends_its_processes(tmp_path: Path, mark: str) -> None:
    """SAFE-10"""
    async with open_runtime(tmp_path, calls(background_call(f"sleep {mark}"), says("It runs."))) as rig:
        turn = await rig.submit("serve", permission_mode="full")
        await rig.until(turn.session_id, "turn.completed")
        await wait_until(lambda: find_processes("sleep", mark))

        await rig.do(DeleteSession(session_id=turn.session_id, confirm=turn.session_id))

        assert find_processes(mark) == []


async def test_a_session_with_a_process_is_not_closed(tmp_path: Path) -> None:
    """CTL-09: the process keeps running without followers."""
    played = calls(background_call("read line"), says("It runs."))
    async with open_runtime(tmp_path, played, idle=0.0, idle_waiting=0.0) as rig:
        turn = await rig.submit("serve", permission_mode="full")
        process = (await rig.until(turn.session_id, "process.started")).scope.process
        await rig.until(turn.session_id, "turn.completed")

        await rig.runtime.sessions.sweep()

        assert rig.runtime.sessions.open_sessions() == [turn.session_id]
        await rig.do(WriteProcessStdin(session_id=turn.session_id, process_id=process, end=True))
        await rig.until(turn.session_id, "process.ended")
        await rig.wait_closed()


async def test_a_background_command_needs_the_same_approval(tmp_path: Path) -> None:
    """SAFE-07"""
    async with open_runtime(tmp_path, calls(background_call("sleep 600"), says("No."))) as rig:
        turn = await rig.submit("serve")
        await rig.until(turn.session_id, "action.required")

        (row,) = (await rig.read(turn.session_id)).actions

        assert (
            row.prompt
            == "Run sleep 600 in the background? In the sandbox: it can change files of the folder, without network."
        )
        assert await list_processes(rig, turn.session_id) == ()


async def test_the_command_environment_is_readable_for_a_workspace_and_a_session(tmp_path: Path) -> None:
    """CTL-09"""
    async with open_runtime(tmp_path, calls(says("Hello."))) as rig:
        turn = await rig.submit("hello", permission_mode="planning")
        await rig.until(turn.session_id, "turn.completed")

        of_folder = await rig.do(GetExecutionEnvironment(workspace_id=rig.workspace))
        of_session = await rig.do(GetExecutionEnvironment(session_id=turn.session_id))

        assert (of_folder.cwd, of_folder.level, of_folder.writable) == (
            str(rig.folder),
            "bubblewrap",
            (str(rig.folder),),
        )
        assert (of_session.permission_mode, of_session.writable) == ("planning", ())
        for wrong, code in (
            (GetExecutionEnvironment(), "invalid_input"),
            (GetExecutionEnvironment(session_id=turn.session_id, thread_id="thr_none"), "unknown_thread"),
        ):
            with pytest.raises(Refusal) as refused:
                await rig.do(wrong)
            assert refused.value.code == code
