"""Connections, calls and questions of tool servers that run as programs."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import time
from base64 import b64decode
from pathlib import Path
from typing import Any

import msgspec
import pytest

from callboard.contracts.content import make_blob
from callboard.contracts.entities.tool_inventory import ServerState
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.tools import Question, Reply
from callboard.contracts.settings import Hook, Server, StdioServer
from callboard.tools.toolbox import FolderToolbox
from callboard.tools.unsandboxed.reach import Reach
from tests.tools.mcp.scripted_server import PIXEL
from tests.tools.mcp.servers import (
    ASKING,
    NEWEST,
    SCRIPTED,
    answering_reporter,
    call_tool,
    open_agent,
    python_server,
    read_calls,
    scripted_server,
    wait_until,
)
from tests.tools.rigs.calls import Agent, RecordingReporter, call, rule, to_english_checks

DIED = (
    "scripted disconnected during the call (its program ended with exit code 7: the disk is on fire). "
    "Its effect is unknown: check before you retry."
)
#: Maximum silence of a call, in seconds. An immediate answer needs less.
SILENCE = 2.0
EXITS = "import sys; sys.stderr.write('no licence\\n'); sys.exit(3)"


def _state(agent: Agent, name: str = "scripted") -> ServerState:
    return next(state for state in agent.toolbox.list_servers(agent.context) if state.name == name)


def _names(agent: Agent) -> list[str]:
    return [spec.name for spec in agent.toolbox.list_specs(agent.context) if spec.name.startswith("mcp__")]


async def test_a_server_reports_its_identity_and_its_tools_get_our_names(folder: Path, tmp_path: Path) -> None:
    async with open_agent(folder, scripted_server(tmp_path)) as agent:
        state = _state(agent)
        assert (state.condition, state.title, state.version, state.protocol) == (
            "connected",
            "Scripted",
            "1.0",
            "2025-06-18",
        )
        assert (state.tools, state.refused) == (len(_names(agent)), 0)
        assert (await call_tool(agent, "mcp__scripted__echo", text="hello")).output == "hello"


async def test_a_published_server_answers_a_call(folder: Path) -> None:
    """The official time server, from PyPI."""
    server = StdioServer(name="time", command=(sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"))
    async with open_agent(folder, server) as agent:
        assert _names(agent) == ["mcp__time__convert_time", "mcp__time__get_current_time"]
        arguments: dict[str, Any] = {"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "UTC"}
        converted = json.loads((await call_tool(agent, "mcp__time__convert_time", **arguments)).output)
        assert (converted["target"]["datetime"][11:16], converted["time_difference"]) == ("03:00", "-9.0h")
        failed = await call_tool(agent, "mcp__time__get_current_time", timezone="Nowhere")
        assert (failed.code, "Invalid timezone" in failed.output) == ("tool_failed", True)


async def test_a_server_receives_only_the_environment_of_its_settings(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_TEST_TOKEN", "not for servers")
    code = f"import json, os; open({str(tmp_path / 'env')!r}, 'w').write(json.dumps([dict(os.environ), os.getcwd()]))"
    toolbox = FolderToolbox(reveal=lambda _, text: "the key" if text == "secret://key" else text)
    agent = Agent(folder, toolbox, servers=(python_server("shows", code, env={"KEY": "secret://key", "PLAIN": "x"}),))
    await toolbox.prepare(agent.context)
    await toolbox.close()
    environment, place = json.loads((tmp_path / "env").read_text())
    environment.pop("LC_CTYPE", None)
    assert (environment, place) == (
        {"KEY": "the key", "PLAIN": "x", "PATH": os.environ["PATH"], "HOME": os.environ["HOME"]},
        str(folder),
    )


async def test_a_missing_key_is_the_reason_of_a_disconnected_server(folder: Path, tmp_path: Path) -> None:
    def reveal(server: Server | Hook, text: str) -> str:
        raise Refusal("secret_missing", "There is no secret key.")

    toolbox = FolderToolbox(reveal=reveal)
    agent = Agent(folder, toolbox, servers=(scripted_server(tmp_path, env={"KEY": "secret://key"}),))
    await toolbox.prepare(agent.context)
    state = _state(agent)
    await toolbox.close()
    assert (state.condition, state.code, state.message) == ("lost", "secret_missing", "There is no secret key.")


async def test_a_failed_server_reports_its_reason_and_affects_no_other(folder: Path, tmp_path: Path) -> None:
    servers = (
        python_server("exits", EXITS),
        StdioServer(name="missing", command=("no-such-program",)),
        python_server("garbage", "print('hello\\n' * 5000)"),
        scripted_server(tmp_path),
    )
    async with open_agent(folder, *servers) as agent:
        servers_listed = agent.toolbox.list_servers(agent.context)
        states = {state.name: (state.condition, state.code, state.message) for state in servers_listed}
        assert states["exits"] == ("lost", "server_failed", "Its program ended with exit code 3: no licence.")
        assert states["missing"] == ("lost", "server_failed", "Its program no-such-program was not found.")
        assert states["garbage"] == ("lost", "server_failed", "It sent too many invalid lines: hello.")
        assert (await call_tool(agent, "mcp__scripted__echo", text="hello")).output == "hello"
        (row,) = (tool for tool in agent.toolbox.list_tools(agent.context) if tool.source == "mcp:exits")
        assert (row.name, row.availability) == ("mcp__exits__*", "blocked")
        assert "no licence" in row.reason


async def test_a_silent_server_delays_a_run_only_for_the_patience(folder: Path, tmp_path: Path) -> None:
    toolbox = FolderToolbox(patience=0.2)
    agent = Agent(folder, toolbox, servers=(python_server("silent", "import time; time.sleep(600)"),))
    began = time.monotonic()
    await toolbox.prepare(agent.context)
    await toolbox.prepare(agent.context)
    took = time.monotonic() - began
    state = _state(agent, "silent")
    await toolbox.close()
    assert (state.condition, took < 10) == ("connecting", True)


async def test_a_server_that_dies_during_a_call_reconnects(folder: Path, tmp_path: Path) -> None:
    async with open_agent(folder, scripted_server(tmp_path)) as agent:
        died = await call_tool(agent, "mcp__scripted__die")
        assert (died.code, died.message) == (
            "server_failed",
            DIED,
        )
        assert (_state(agent).condition, _names(agent)) == ("lost", [])
        again = await agent.toolbox.reconnect(agent.context, "scripted")
        assert (again.condition, (await call_tool(agent, "mcp__scripted__echo", text="back")).output) == (
            "connected",
            "back",
        )


async def test_a_server_that_closes_its_output_disconnects_at_once(folder: Path, tmp_path: Path) -> None:
    """A9: it cannot answer another call."""
    async with open_agent(folder, scripted_server(tmp_path, timeout=10)) as agent:
        outcome = await call_tool(agent, "mcp__scripted__close")

        assert outcome.code == "server_failed"
        assert "it closed its output" in outcome.message


async def test_a_call_to_a_disconnected_server_is_refused_with_the_reason(folder: Path, tmp_path: Path) -> None:
    server = python_server("exits", EXITS)
    async with open_agent(folder, server) as agent:
        evaluation = await agent.evaluate("mcp__exits__anything")
        assert (evaluation.verdict, evaluation.code) == ("deny", "server_unavailable")
        assert "its program ended with exit code 3: no licence" in evaluation.message


async def test_an_unanswered_call_times_out_and_is_cancelled(folder: Path, tmp_path: Path) -> None:
    async with open_agent(folder, scripted_server(tmp_path, timeout=SILENCE)) as agent:
        outcome = await call_tool(agent, "mcp__scripted__hang")
        assert (outcome.code, f"sent nothing for {SILENCE:g} s" in outcome.message) == ("tool_timeout", True)
        await wait_until(lambda: "cancelled" in read_calls(tmp_path))
        assert (await call_tool(agent, "mcp__scripted__echo", text="still there")).output == "still there"


async def test_a_stopped_call_is_cancelled_at_the_server(folder: Path, tmp_path: Path) -> None:
    async with open_agent(folder, scripted_server(tmp_path)) as agent:
        task = asyncio.create_task(call_tool(agent, "mcp__scripted__hang"))
        await wait_until(lambda: "call hang {}" in read_calls(tmp_path))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await wait_until(lambda: "cancelled" in read_calls(tmp_path))
        assert (await call_tool(agent, "mcp__scripted__echo", text="still there")).output == "still there"


async def test_a_message_that_is_too_large_ends_the_connection(folder: Path, tmp_path: Path) -> None:
    async with open_agent(folder, scripted_server(tmp_path)) as agent:
        outcome = await call_tool(agent, "mcp__scripted__flood")
        assert (outcome.code, "it sent a message of more than" in outcome.message) == ("server_failed", True)


async def test_invalid_lines_are_diagnostics(folder: Path, tmp_path: Path) -> None:
    async with open_agent(folder, scripted_server(tmp_path)) as agent:
        assert (await call_tool(agent, "mcp__scripted__prattle")).output == "done"
        assert _state(agent).said == "this is no message\n{}\n"


async def test_an_answer_with_an_unpaired_surrogate_is_accepted(folder: Path, tmp_path: Path) -> None:
    """A9: a character that a server split arrives as a replacement character."""
    async with open_agent(folder, scripted_server(tmp_path, timeout=10)) as agent:
        outcome = await call_tool(agent, "mcp__scripted__half")

        assert (outcome.code, outcome.output) == (None, 'a\ufffdb\n\n{\n  "\ufffd": [\n    "\U0001f600"\n  ]\n}')


async def test_an_invalid_answer_fails_only_its_call(folder: Path, tmp_path: Path) -> None:
    async with open_agent(folder, scripted_server(tmp_path)) as agent:
        outcome = await call_tool(agent, "mcp__scripted__wrong")
        assert outcome.code == "server_failed"
        assert (await call_tool(agent, "mcp__scripted__echo", text="still there")).output == "still there"


async def test_results_contain_text_data_and_images(folder: Path, tmp_path: Path) -> None:
    async with open_agent(folder, scripted_server(tmp_path)) as agent:
        picture, data, refused = [
            await call_tool(agent, f"mcp__scripted__{name}") for name in ("picture", "data", "refuse")
        ]
        blob = make_blob(b64decode(PIXEL), "image/png")
        assert (picture.output, picture.images, picture.blobs) == ("[done]", (blob.ref,), (blob,))
        assert data.output == '{\n  "n": 1\n}'
        assert (refused.code, refused.output) == ("tool_failed", "there is no such page")


async def test_progress_is_reported_as_it_arrives(folder: Path, tmp_path: Path) -> None:
    async with open_agent(folder, scripted_server(tmp_path)) as agent:
        reporter = RecordingReporter([])
        assert (await call_tool(agent, "mcp__scripted__count", reporter)).output == "counted"
        assert reporter.progress_reports == [(1.0, 3.0, "1 of 3"), (2.0, 3.0, "2 of 3"), (3.0, 3.0, "3 of 3")]


async def test_the_user_answers_a_servers_form(folder: Path, tmp_path: Path) -> None:
    """After an invalid answer, the question is repeated with the problem."""
    async with open_agent(folder, scripted_server(tmp_path)) as agent:
        person = answering_reporter("large", "0", "42")
        outcome = await call_tool(agent, "mcp__scripted__ask", person)
        assert json.loads(outcome.output) == {"action": "accept", "content": {"size": 42}}
        assert [question.message for question in person.questions] == [
            "How large?",
            'How large?\n\nThe answer is invalid. size: the value is not of type "integer". Correct it and answer again.',
            "How large?\n\nThe answer is invalid. size: the value is less than the minimum of 1. Correct it and answer again.",
        ]
        both = answering_reporter('{"a": "x", "b": true}')
        assert json.loads((await call_tool(agent, "mcp__scripted__confirm", both)).output)["content"] == {
            "a": "x",
            "b": True,
        }


@pytest.mark.parametrize(
    ("program", "protocol", "tools"),
    [(ASKING, "2025-11-25", ("look", "go")), (NEWEST, "2026-07-28", ("go",))],
    ids=["handshake", "newest"],
)
async def test_a_server_on_the_reference_package_asks_the_user(
    folder: Path, program: str, protocol: str, tools: tuple[str, ...]
) -> None:
    """Only the handshake allows a question during a call, so it is tried first."""
    async with open_agent(folder, StdioServer(name="asking", command=(sys.executable, program))) as agent:
        state = _state(agent, "asking")
        assert (state.condition, state.protocol, state.message) == ("connected", protocol, "")
        for tool in tools:
            person = answering_reporter("Oslo")
            assert (await call_tool(agent, f"mcp__asking__{tool}", person)).output == "Oslo"
            assert [question.message for question in person.questions] == ["Which city?"]


@pytest.mark.parametrize(
    ("program", "tools"), [(ASKING, ("unlock", "enter")), (NEWEST, ("enter",))], ids=["handshake", "newest"]
)
async def test_a_form_that_asks_for_a_secret_is_refused_and_not_shown(
    folder: Path, program: str, tools: tuple[str, ...]
) -> None:
    """X10: the protocol forbids such a form, and an answer would be a fact."""
    async with open_agent(folder, StdioServer(name="asking", command=(sys.executable, program))) as agent:
        for tool in tools:
            person = answering_reporter('{"user": "ann", "api_key": "hunter2-hunter2"}')
            outcome = await call_tool(agent, f"mcp__asking__{tool}", person)
            assert person.questions == []
            assert "asks for a secret (api_key), so it was not shown" in f"{outcome.output} {outcome.message}"
            assert "hunter2" not in f"{outcome.output} {outcome.message}"


@pytest.mark.parametrize(("reply", "action"), [("reject", "decline"), ("nothing", "cancel")])
async def test_the_server_receives_a_rejection_and_a_missing_answer(
    folder: Path, tmp_path: Path, reply: str, action: str
) -> None:
    async with open_agent(folder, scripted_server(tmp_path)) as agent:
        person = RecordingReporter([], Reply(outcome="reject") if reply == "reject" else Reply(outcome="nothing"))
        assert json.loads((await call_tool(agent, "mcp__scripted__ask", person)).output) == {"action": action}


async def test_an_address_is_shown_and_never_opened(folder: Path, tmp_path: Path) -> None:
    async with open_agent(folder, scripted_server(tmp_path)) as agent:
        person = answering_reporter("done")
        assert json.loads((await call_tool(agent, "mcp__scripted__visit", person)).output) == {"action": "accept"}
        question = Question(server="scripted", message="Log in there.", url="https://example.org/login")
        assert person.questions == [question]


async def test_a_server_cannot_use_our_model(folder: Path, tmp_path: Path) -> None:
    async with open_agent(folder, scripted_server(tmp_path)) as agent:
        assert (
            json.loads((await call_tool(agent, "mcp__scripted__sample")).output)["message"] == "Sampling not supported"
        )


async def test_an_approval_does_not_cover_a_changed_declaration(folder: Path, tmp_path: Path) -> None:
    """CTL-04: only the approved call runs."""
    async with open_agent(folder, scripted_server(tmp_path), permission_mode="ask") as agent:
        wanted = call("mcp__scripted__echo", text="hello")
        approved = await agent.toolbox.evaluate(wanted, agent.context)
        await call_tool(agent.with_context(permission_mode="full"), "mcp__scripted__grow")
        await wait_until(lambda: (_schema(agent) or {}).get("loud") is not None)
        outcome = await agent.toolbox.run(wanted, approved, agent.context, RecordingReporter([]))
        assert (approved.verdict, outcome.code) == ("ask", "file_changed")
        assert [line for line in read_calls(tmp_path) if "echo" in line] == []


async def test_a_lasting_approval_covers_only_its_declaration(folder: Path, tmp_path: Path) -> None:
    """SAFE-08: a server cannot replace an allowed tool with another. A denial still applies."""
    async with open_agent(folder, scripted_server(tmp_path), permission_mode="ask") as agent:
        wanted = call("mcp__scripted__echo", text="hello")
        first = await agent.toolbox.evaluate(wanted, agent.context)
        assert first.binding is not None
        allow = msgspec.structs.replace(rule("allow", "mcp__scripted__echo"), declared=first.binding.declared)
        ruled = agent.with_context(rules=(allow,))
        before = await agent.toolbox.evaluate(wanted, ruled.context)
        await call_tool(agent.with_context(permission_mode="full"), "mcp__scripted__grow")
        await wait_until(lambda: (_schema(agent) or {}).get("loud") is not None)
        grown = call("mcp__scripted__echo", text="hello", loud=True)
        after = await agent.toolbox.evaluate(grown, ruled.context)
        assert (first.verdict, before.verdict, after.verdict) == ("ask", "allow", "ask")
        details = [check.detail for check in to_english_checks(after.checks) if check.name == "rules"]
        assert details == ["mcp__scripted__echo was allowed before its server changed the tool."]
        deny = msgspec.structs.replace(allow, verdict="deny")
        denied = await agent.toolbox.evaluate(grown, agent.with_context(rules=(deny,)).context)
        assert (denied.verdict, denied.code) == ("deny", "rule_denied")


def _schema(agent: Agent) -> dict[str, object] | None:
    specs = agent.toolbox.list_specs(agent.context)
    return next((spec.schema["properties"] for spec in specs if spec.name == "mcp__scripted__echo"), None)


async def test_a_server_removed_from_the_settings_is_disconnected(folder: Path, tmp_path: Path) -> None:
    code = f"import os, sys; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); sys.stdin.read()"
    toolbox = FolderToolbox(patience=0.1)
    agent = Agent(folder, toolbox, servers=(python_server("gone", code),))
    await toolbox.prepare(agent.context)
    await wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
    await toolbox.close()
    assert not _is_alive(int((tmp_path / "pid").read_text()))


async def test_no_server_process_outlives_a_killed_host(folder: Path, tmp_path: Path) -> None:
    """SAFE: a killed host cannot stop its servers."""
    server = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    host = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from callboard.tools.toolbox import FolderToolbox\n"
        "from tests.tools.rigs.calls import Agent\n"
        "from tests.tools.mcp.servers import python_server\n"
        "async def main():\n"
        "    agent = Agent(Path(sys.argv[1]), FolderToolbox(), servers=(python_server('one', sys.argv[2]),))\n"
        "    await agent.toolbox.prepare(agent.context)\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", host, str(folder), server, cwd=str(Path.cwd()))
    await wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    pid = int((tmp_path / "pid").read_text())
    await wait_until(lambda: not _is_alive(pid))


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_a_worktree_uses_the_servers_of_the_trusted_folder(folder: Path, tmp_path: Path) -> None:
    """SAFE-08: an agent's worktree does not decide which server runs."""
    program = folder / "own.py"
    shutil.copy(SCRIPTED, program)
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    (worktree / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    own = StdioServer(name="own", command=(sys.executable, "-I", "-S", "own.py", str(tmp_path / "calls")))
    toolbox = FolderToolbox()
    agent = Agent(worktree, toolbox, servers=(own,), trusted_folder=str(folder))
    await toolbox.prepare(agent.context)
    (state,) = toolbox.list_servers(agent.context)
    await toolbox.close()
    assert (state.condition, (tmp_path / "ran").exists()) == ("connected", False)


async def test_a_server_that_agents_can_change_does_not_start(folder: Path, tmp_path: Path) -> None:
    """SAFE-08: a server of the user settings stops being available when its folder is opened."""
    other, calls = tmp_path / "other", str(tmp_path / "calls")
    other.mkdir()
    shutil.copy(SCRIPTED, other / "own.py")
    server = StdioServer(name="own", command=(sys.executable, "-I", "-S", str(other / "own.py"), calls))
    opened: list[str] = []
    toolbox = FolderToolbox(reach=lambda _, folder: Reach(tuple(opened)))
    agent = Agent(folder, toolbox, servers=(server,))
    await toolbox.prepare(agent.context, whole=True)
    assert _state(agent, "own").condition == "connected"
    opened.append(str(other))
    state = await toolbox.reconnect(agent.context, "own")
    await toolbox.close()
    assert (state.condition, state.code) == ("lost", "server_unavailable")
    assert state.message == (
        f"Agents of {other} can change its program {other}/own.py. Move it to {other}/.callboard/ or "
        "outside of every open folder."
    )


async def test_a_trusted_folders_server_starts_in_it(folder: Path, tmp_path: Path) -> None:
    """SAFE-08: trust covers the current content of its program."""
    shutil.copy(SCRIPTED, folder / "own.py")
    server = StdioServer(name="own", command=(sys.executable, "-I", "-S", "own.py", str(tmp_path / "calls")))
    toolbox = FolderToolbox(reach=lambda _, folder: Reach((folder,), trusted=folder))
    agent = Agent(folder, toolbox, servers=(server,))
    await toolbox.prepare(agent.context, whole=True)
    condition = _state(agent, "own").condition
    await toolbox.close()
    assert condition == "connected"


async def test_any_connection_error_is_the_reason(folder: Path) -> None:
    """A server with an unexpected error does not appear to be idle."""

    def breaks(server: Server | Hook, text: str) -> str:
        raise RuntimeError("the keyring is gone")

    toolbox = FolderToolbox(reveal=breaks)
    agent = Agent(folder, toolbox, servers=(python_server("shows", "pass", env={"KEY": "secret://key"}),))
    try:
        await toolbox.prepare(agent.context)
        assert "the keyring is gone" in _state(agent, "shows").message
    finally:
        await toolbox.close()


async def test_no_connecting_server_outlives_the_toolbox(folder: Path) -> None:
    before = asyncio.all_tasks()
    toolbox = FolderToolbox()
    agent = Agent(folder, toolbox, servers=(python_server("silent", "import time; time.sleep(600)"),))
    waits = asyncio.create_task(toolbox.prepare(agent.context))
    await asyncio.sleep(0)
    await toolbox.close()

    assert asyncio.all_tasks() - before <= {waits}
    await waits
