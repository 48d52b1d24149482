"""Hooks in a session: run once per call, recorded with it, and kept over a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from msgspec import to_builtins

from callboard.agents.folder import FolderDefinitions
from callboard.app.settings.settings_files import SettingsFiles
from callboard.app.state_folder import StateFolder
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.evidence import ExportEvidence
from callboard.contracts.commands.permission import (
    DryRunResult,
    DryRunRules,
    EvaluatePermission,
    PermissionEvaluation,
    RevokeTrust,
)
from callboard.contracts.commands.turn import InterruptTurn
from callboard.contracts.content import Text
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.permission import Check, HookOutcome, PermissionEvaluated, Reason
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused, ToolRequested
from callboard.contracts.rows.tool import ToolPart
from callboard.contracts.settings import Hook, RuleEntry
from callboard.models.registry import ConfiguredModels, ModelSettings, ProviderSettings
from callboard.tools.hooks.runner import MAX_CONCURRENT
from tests.runtime.rigs.acp_agent import answer, list_facts, open_coder, start_session
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says, use_tool
from tests.runtime.rigs.trusted_folder import open_with_settings, read_trust, trust_folder, write_folder_settings
from tests.runtime.secrets.test_secrets import VALUE, secrets
from tests.runtime.sessions.test_recovery import copy_as_killed
from tests.runtime.turns.test_stored_output import results
from tests.tools.rigs.hooks import Scripts
from tests.tools.rigs.processes import find_processes, wait_until

TIDY = "answer(arguments={**request['arguments'], 'content': 'tidy\\n'})"
WRITE = use_tool("Write", file_path="a.txt", content="x\n")
DONE = says("Done.")


@pytest.fixture
def scripts(tmp_path: Path) -> Scripts:
    return Scripts(tmp_path / "hooks")


@pytest.fixture
def mark(tmp_path: Path) -> str:
    """Return a sleep duration that identifies a process in the process list."""
    return f"9{abs(hash(str(tmp_path))) % 10**8:08d}"


def write_hooks(*hooks: Hook) -> str:
    """Return settings with these hooks."""
    return tomlkit.dumps({"hooks": [to_builtins(hook) for hook in hooks]})


async def find_facts(rig: RuntimeRig, session: str, kind: type[Fact]) -> list[Any]:
    return [record.fact for record in await rig.facts(session) if isinstance(record.fact, kind)]


async def approve_action(rig: RuntimeRig, session: str, count: int = 1) -> ActionRequired:
    action = await rig.until(session, "action.required", count)
    await rig.do(RespondAction(session_id=session, action_id=action.scope.action, decision="approve"))
    assert isinstance(action.fact, ActionRequired)
    return action.fact


async def test_a_rewrite_is_in_the_facts_and_the_model_is_informed(tmp_path: Path, scripts: Scripts) -> None:
    """SAFE-01"""
    async with open_with_settings(tmp_path, calls(WRITE, DONE), user=write_hooks(scripts.hook("tidy", TIDY))) as rig:
        turn = await rig.submit("go", permission_mode="edits")
        await rig.until(turn.session_id, "turn.completed")
        (requested,) = await find_facts(rig, turn.session_id, ToolRequested)
        (evaluated,) = await find_facts(rig, turn.session_id, PermissionEvaluated)
        (result,) = await results(rig, turn.session_id, turn.thread_id)
        (row,) = [part for part in await rig.parts(turn.session_id, turn.turn_id) if isinstance(part, ToolPart)]

        final = '{"content":"tidy\\n","file_path":"a.txt"}'
        notice = "The hook tidy changed the arguments."
        assert (rig.folder / "a.txt").read_text() == "tidy\n"
        assert json.loads(requested.arguments.text) == {"file_path": "a.txt", "content": "x\n"}
        why = (Reason(code="hook_rewrote", parameters={"hook": "tidy"}),)
        hook_result = HookOutcome(verdict="allow", detail=notice, arguments=Text(text=final), by="tidy", reasons=why)
        assert requested.hooked == hook_result
        assert evaluated.checks[0] == Check(name="hooks", verdict="allow", reasons=why)
        assert (row.arguments.text, row.asked) == (final, requested.arguments)
        assert result.text == (
            f"[A hook changed your arguments. {notice} Arguments used: {final}]\n\nCreated a.txt: +1 −0."
        )
        assert scripts.read_inputs("tidy") == [
            {
                "tool": "Write",
                "arguments": {"content": "x\n", "file_path": "a.txt"},
                "agent": "solo",
                "thread": turn.thread_id,
                "session": turn.session_id,
                "folder": str(rig.folder),
                "mode": "chat",
                "permissionMode": "edits",
            }
        ]


async def test_the_model_reads_no_rewrite_of_a_rejected_call(tmp_path: Path, scripts: Scripts) -> None:
    """SAFE-01, CTL-05"""
    async with open_with_settings(tmp_path, calls(WRITE, DONE), user=write_hooks(scripts.hook("tidy", TIDY))) as rig:
        turn = await rig.submit("go")
        action = await rig.until(turn.session_id, "action.required")
        no = RespondAction(session_id=turn.session_id, action_id=action.scope.action, decision="reject")
        await rig.do(no)
        await rig.until(turn.session_id, "turn.completed")
        (result,) = await results(rig, turn.session_id, turn.thread_id)
        assert result.text == (
            "[A hook changed your arguments. The hook tidy changed the arguments. Arguments used: "
            '{"content":"tidy\\n","file_path":"a.txt"}]\n\nRefused: The person rejected the call.'
        )
        assert not (rig.folder / "a.txt").exists()


async def test_a_hooks_denial_has_no_effect_and_names_the_hook(tmp_path: Path, scripts: Scripts) -> None:
    """SAFE-01, CTL-05"""
    guard = scripts.hook("guard", "answer(decision='deny', reason='not here')", tools=("Write(*.txt)",))
    read = use_tool("Read", file_path="b.md")
    async with open_with_settings(tmp_path, calls(WRITE, read, DONE), user=write_hooks(guard)) as rig:
        (rig.folder / "b.md").write_text("b\n")
        turn = await rig.submit("go", permission_mode="full")
        await rig.until(turn.session_id, "turn.completed")
        (refused,) = await find_facts(rig, turn.session_id, ToolRefused)
        assert refused == ToolRefused(code="hook_denied", message="The hook guard denies it: not here.")
        assert not (rig.folder / "a.txt").exists()
        assert len(await find_facts(rig, turn.session_id, ToolCompleted)) == len(scripts.read_inputs("guard")) == 1


async def test_an_approval_after_a_restart_runs_the_approved_call_without_its_hooks(
    tmp_path: Path, scripts: Scripts
) -> None:
    """SAFE-07, CTL-05: also if the settings no longer have the hook."""
    ask = scripts.hook("tidy", "answer(decision='ask', arguments={'file_path': 'b.txt', 'content': 'tidy\\n'})")
    async with open_with_settings(tmp_path, calls(WRITE, DONE), user=write_hooks(ask)) as rig:
        turn = await rig.submit("go", permission_mode="full")
        first = await rig.until(turn.session_id, "action.required")
        async with open_runtime(copy_as_killed(rig, tmp_path), calls(WRITE, DONE)) as after:
            action = await approve_action(after, turn.session_id)
            await after.until(turn.session_id, "turn.completed")
            assert action == first.fact
            assert json.loads(action.arguments.text) == {"file_path": "b.txt", "content": "tidy\n"}
            assert action.prompt.endswith("The hook tidy changed the arguments. The hook tidy asks for approval.")
            assert action.hooked == "The hook tidy changed the arguments. The hook tidy asks for approval."
            assert action.asked is not None
            assert json.loads(action.asked.text) == {"file_path": "a.txt", "content": "x\n"}
            assert (rig.folder / "b.txt").read_text() == "tidy\n"
            assert not (rig.folder / "a.txt").exists()
            assert len(scripts.read_inputs("tidy")) == 1
            (result,) = await results(after, turn.session_id, turn.thread_id)
            assert result.text.startswith("[A hook changed your arguments. The hook tidy changed")


async def test_hooks_run_once_for_waiting_calls_also_over_a_restart(tmp_path: Path, scripts: Scripts) -> None:
    """CTL-05: every decision evaluates the calls again without running hooks."""
    several = [use for name in "abc" for use in use_tool("Write", file_path=f"{name}.txt", content=name)]
    plays = calls(several, use_tool("Finalize", summary="Done."))
    user = write_hooks(scripts.hook("tidy", TIDY, tools=("Write",)))
    async with open_with_settings(tmp_path, plays, user=user) as rig:
        turn = await rig.submit("go", mode="auto")
        await approve_action(rig, turn.session_id)
        await rig.until(turn.session_id, "action.required", count=2)
        async with open_runtime(copy_as_killed(rig, tmp_path), plays) as after:
            await approve_action(after, turn.session_id, 2)
            await approve_action(after, turn.session_id, 3)
            await after.until(turn.session_id, "turn.completed")
            assert [(rig.folder / f"{name}.txt").read_text() for name in "abc"] == ["tidy\n"] * 3
            hooked_paths = sorted(entry["arguments"]["file_path"] for entry in scripts.read_inputs("tidy"))
            assert hooked_paths == ["a.txt", "b.txt", "c.txt"]


async def test_hooks_run_for_each_of_several_parallel_calls(tmp_path: Path, scripts: Scripts) -> None:
    """SAFE-01"""
    look = scripts.hook(
        "look", "if request['arguments']['file_path'] == 'b.md': answer(decision='deny')", tools=("Read",)
    )
    both = [*use_tool("Read", file_path="a.md"), *use_tool("Read", file_path="b.md")]
    async with open_with_settings(
        tmp_path, calls(both, use_tool("Finalize", summary="Done.")), user=write_hooks(look)
    ) as rig:
        (rig.folder / "a.md").write_text("a\n")
        (rig.folder / "b.md").write_text("b\n")
        turn = await rig.submit("go", mode="auto")
        await rig.until(turn.session_id, "turn.completed")
        hooked_paths = sorted(entry["arguments"]["file_path"] for entry in scripts.read_inputs("look"))
        assert hooked_paths == ["a.md", "b.md"]
        assert len(await find_facts(rig, turn.session_id, ToolRefused)) == 1


async def test_a_large_rewrite_is_stored_by_reference_and_runs_whole(tmp_path: Path, scripts: Scripts) -> None:
    large = scripts.hook("large", "answer(arguments={**request['arguments'], 'content': 'x' * 200_000})")
    async with open_with_settings(tmp_path, calls(WRITE, DONE), user=write_hooks(large)) as rig:
        turn = await rig.submit("go")
        await approve_action(rig, turn.session_id)
        await rig.until(turn.session_id, "turn.completed")
        (requested,) = await find_facts(rig, turn.session_id, ToolRequested)
        assert requested.hooked.arguments.ref is not None
        assert (rig.folder / "a.txt").read_text() == "x" * 200_000
        (result,) = await results(rig, turn.session_id, turn.thread_id)
        assert len(result.text) < 3000


async def test_a_run_with_hooks_replays_if_their_results_are_the_same(tmp_path: Path, scripts: Scripts) -> None:
    """The replayed model receives the same results. Without the hook, the run leaves its recording."""
    user = write_hooks(scripts.hook("tidy", TIDY))
    places = [tmp_path / name for name in ("first", "again", "without")]
    for place in places:
        place.mkdir()
    async with open_with_settings(places[0], calls(WRITE, DONE), user=user) as rig:
        turn = await rig.submit("go", permission_mode="edits")
        await rig.until(turn.session_id, "turn.completed")
        packed = await rig.do(ExportEvidence(session_id=turn.session_id))
        (tmp_path / "former.zip").write_bytes(await rig.runtime.dependencies.store.blobs.get(packed.pack.hash) or b"")
    replay = ProviderSettings(name="replay", kind="recorded", recording=str(tmp_path / "former.zip"))
    for place, hooks, end in ((places[1], user, "turn.completed"), (places[2], "", "turn.failed")):
        models = ConfiguredModels(ModelSettings(providers=(replay,)))
        async with open_with_settings(place, calls(), user=hooks, models=models) as rig:
            turn = await rig.submit("go", permission_mode="edits")
            await rig.until(turn.session_id, end)


async def test_a_secret_in_a_hooks_result_is_redacted_in_facts_and_used_in_the_call(
    tmp_path: Path, scripts: Scripts
) -> None:
    """SAFE-03: a person is asked, as for any call that uses a secret."""
    body = f"answer(reason='{VALUE}', arguments={{'file_path': 'a.txt', 'content': '{VALUE}'}})"
    reveals = scripts.hook("reveals", f"if request['tool'] == 'Read': sys.exit('{VALUE}')\n{body}")
    plays = calls(WRITE, use_tool("Read", file_path="a.txt"), DONE)
    async with open_with_settings(tmp_path, plays, user=write_hooks(reveals), secrets=secrets()) as rig:
        turn = await rig.submit("go", permission_mode="full")
        action = await approve_action(rig, turn.session_id)
        await rig.until(turn.session_id, "turn.completed")
        facts = json.dumps([to_builtins(record.fact) for record in await rig.facts(turn.session_id)])
        assert (rig.folder / "a.txt").read_text() == VALUE
        notice = "The hook reveals changed the arguments: secret://deploy. It receives the secret: deploy."
        assert action.prompt.endswith(notice)
        assert (VALUE in facts, "ended with exit code 1: secret://deploy" in facts) == (False, True)
        assert rig.runtime.dependencies.append_redactor.redacted_count == 0


async def test_an_interrupt_ends_the_running_hook(tmp_path: Path, scripts: Scripts, mark: str) -> None:
    """CTL-16"""
    slow = scripts.hook("slow", f"import subprocess; subprocess.run(['sleep', '{mark}'])")
    async with open_with_settings(tmp_path, calls(WRITE), user=write_hooks(slow)) as rig:
        turn = await rig.submit("go", permission_mode="full")
        await wait_until(lambda: find_processes("sleep", mark))
        await rig.do(InterruptTurn(session_id=turn.session_id))
        await rig.until(turn.session_id, "turn.interrupted")
        assert find_processes(mark) == []
        assert "tool.requested" not in await rig.types(turn.session_id)


async def test_an_interrupt_ends_the_hooks_of_all_parallel_calls(tmp_path: Path, scripts: Scripts, mark: str) -> None:
    """CTL-16: also if some calls still wait for a slot."""
    slow = scripts.hook("slow", f"import subprocess; subprocess.run(['sleep', '{mark}'])")
    writes = [call for n in range(6) for call in use_tool("Write", file_path=f"{n}.txt", content="x\n")]
    async with open_with_settings(tmp_path, calls(writes), user=write_hooks(slow)) as rig:
        turn = await rig.submit("go", permission_mode="full")
        await wait_until(lambda: len(find_processes("sleep", mark)) == MAX_CONCURRENT)
        await rig.do(InterruptTurn(session_id=turn.session_id))
        await rig.until(turn.session_id, "turn.interrupted")
        assert find_processes(mark) == find_processes(str(scripts.place)) == []


async def test_an_untrusted_folders_hook_does_not_run_or_restrict(tmp_path: Path, scripts: Scripts) -> None:
    """SAFE-08: it is reported, its script is part of the trusted content, and revoked trust ends
    it."""
    deny = scripts.hook("guard", "answer(decision='deny')", tools=("Write",), env={"KEY": "secret://deploy"})
    plays = calls(WRITE, DONE, WRITE, DONE, WRITE, DONE)
    async with open_with_settings(tmp_path, plays, write_hooks(deny)) as rig:
        turn = await rig.submit("go", permission_mode="edits")
        await rig.until(turn.session_id, "turn.completed")
        assert scripts.read_inputs("guard") == []
        assert (rig.folder / "a.txt").exists()
        read = await read_trust(rig)
        permission = read.widenings[0]
        assert (read.state, permission.what, permission.file) == ("untrusted", "hook", ".callboard/settings.toml")
        assert permission.detail == (
            f"the hook guard is asked about Write: starts {' '.join(deny.command)}, with KEY=secret://deploy, and gives it the "
            "secret deploy"
        )
        write_folder_settings(
            rig.folder, write_hooks(scripts.hook("guard", "answer(decision='deny')", tools=("Write",)))
        )
        await trust_folder(rig)
        await rig.submit("go", turn.session_id, permission_mode="edits")
        await rig.until(turn.session_id, "turn.completed", count=2)
        assert len(await find_facts(rig, turn.session_id, ToolRefused)) == len(scripts.read_inputs("guard")) == 1
        await rig.do(RevokeTrust(workspace_id=rig.workspace))
        await rig.submit("go", turn.session_id, permission_mode="edits")
        await rig.until(turn.session_id, "turn.completed", count=3)
        assert len(scripts.read_inputs("guard")) == 1


async def test_changing_a_folders_hook_does_not_disable_it(tmp_path: Path) -> None:
    """SAFE-08: a changed script does not run, and its calls need a person. An agent's change of it
    needs approval."""
    place = Scripts(tmp_path / "work" / ".callboard" / "hooks")
    hook = place.hook("guard", tools=("Write",))
    own = write_hooks(Hook(name="guard", command=(hook.command[0], ".callboard/hooks/guard.py"), tools=("Write",)))
    mine = ".callboard/hooks/guard.py"
    plays = calls(WRITE, use_tool("Edit", file_path=mine, old_string="def answer", new_string="def say"), WRITE, DONE)
    async with open_with_settings(tmp_path, plays, own) as rig:
        before = (await read_trust(rig)).digest
        assert {permission.file: permission.what for permission in (await read_trust(rig)).widenings} == {
            ".callboard/settings.toml": "hook",
            mine: "hook",
        }
        await trust_folder(rig)
        turn = await rig.submit("go", permission_mode="full")
        first = await approve_action(rig, turn.session_id)
        second = await rig.until(turn.session_id, "action.required", count=2)
        read = await read_trust(rig)
        assert first.prompt.endswith("Changes in .callboard always require approval.")
        assert isinstance(second.fact, ActionRequired)
        assert second.fact.prompt.endswith("The folder changed since you trusted it, so these hooks do not run: guard.")
        assert (read.state, read.digest != before, [entry["tool"] for entry in place.read_inputs("guard")]) == (
            "changed",
            True,
            ["Write", "Edit"],
        )


async def test_a_permission_preview_runs_no_hook_and_reports_that(tmp_path: Path, scripts: Scripts) -> None:
    look = scripts.hook("look", "answer(decision='ask')", tools=("Write",))
    async with open_with_settings(tmp_path, calls(WRITE, DONE), user=write_hooks(look)) as rig:
        query = EvaluatePermission(
            workspace_id=rig.workspace, tool="Write", arguments='{"file_path":"a.txt","content":"x"}'
        )
        preview: PermissionEvaluation = await rig.do(query)
        assert preview.checks[0] == Check(
            name="hooks",
            verdict="allow",
            reasons=(Reason(code="hooks_unasked", parameters={"hooks": "look"}),),
        )
        assert scripts.read_inputs("look") == []
        turn = await rig.submit("go", permission_mode="full")
        await approve_action(rig, turn.session_id)
        rules = (RuleEntry(matcher="Edit(**)", verdict="allow"),)
        tried: DryRunResult = await rig.do(DryRunRules(workspace_id=rig.workspace, rules=rules))
        assert (tried.calls, tried.turned) == (1, {"allowed": 0, "asked": 0, "denied": 0})


async def test_an_external_agents_permission_request_passes_the_hooks(tmp_path: Path, scripts: Scripts) -> None:
    """SAFE-01: a rewrite denies, because the agent runs its own call."""
    rewrites = scripts.hook("rewrites", "answer(arguments={'title': 'x'})", tools=("Bash(git *)",))
    asks = scripts.hook("asks", "answer(decision='ask', reason='look')", tools=("Read",))
    denies = scripts.hook("denies", "answer(decision='deny')", tools=("Edit",))
    home_of = tmp_path / "user"
    home_of.mkdir()
    (home_of / "settings.toml").write_text(write_hooks(rewrites, asks, denies))
    book = SettingsFiles(StateFolder(home_of), {}, FolderDefinitions())
    steps: list[dict[str, Any]] = [
        {"permit": {"id": "a", "title": "Read it", "kind": "read", "path": "a.py"}},
        {"permit": {"id": "b", "title": "Edit it", "kind": "edit", "path": "a.py"}},
        {"permit": {"id": "c", "title": "git push", "kind": "execute"}},
    ]
    async with open_coder(tmp_path, steps, settings=book) as rig:
        session = await start_session(rig, permission_mode="full")
        action = await answer(rig, session, count=2)
        await rig.until(session, "tool.refused", count=2)
        await rig.until(session, "turn.completed")
        refused = await list_facts(rig, session, ToolRefused)
    assert action.prompt == "Read it? The hook asks asks for approval: look."
    assert (action.scopes, action.matchers) == (("once",), {})
    assert [(fact.code, fact.message) for fact in refused] == [
        ("hook_denied", "The hook denies denies it."),
        (
            "hook_failed",
            "The hook rewrites would change the arguments of a call that the agent runs itself. It does not run.",
        ),
    ]
