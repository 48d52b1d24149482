"""Decisions of hooks and their effect in the gate."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
import uvloop

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Check, Reason
from callboard.contracts.ports.tools import HookResult, ToolCall
from callboard.contracts.settings import Hook
from callboard.secrets.named_secret import NamedSecret
from callboard.secrets.redaction import Redaction
from callboard.tools.hooks.hook_process import MAX_RESPONSE_BYTES
from callboard.tools.toolbox import FolderToolbox
from tests.tools.rigs.calls import Agent, call, rule, to_english_checks
from tests.tools.rigs.hooks import Scripts, evaluate_with_hooks, run_hooks
from tests.tools.rigs.processes import find_processes, wait_until


@pytest.fixture
def scripts(tmp_path: Path) -> Scripts:
    return Scripts(tmp_path / "hooks")


async def test_a_hook_receives_the_call_and_its_agent(agent: Agent, scripts: Scripts) -> None:
    result = await run_hooks(agent, call("Bash", command="ls"), scripts.hook("look"))
    assert result is None
    assert scripts.read_inputs("look") == [
        {
            "tool": "Bash",
            "arguments": {"command": "ls"},
            "agent": "solo",
            "thread": "thr_1",
            "session": "ses_1",
            "folder": str(agent.folder),
            "mode": "auto",
            "permissionMode": "full",
        }
    ]


async def test_a_hook_denies_a_call_with_its_reason(agent: Agent, scripts: Scripts) -> None:
    """SAFE-01: no later hook and no station of the gate runs."""
    deny = scripts.hook("guard", "answer(decision='deny', reason='not on Fridays')")
    evaluation = await evaluate_with_hooks(
        agent, deny, scripts.hook("later"), tool="Write", file_path="a.txt", content="x"
    )
    message = "The hook guard denies it: not on Fridays."
    assert (evaluation.verdict, evaluation.code, evaluation.message) == ("deny", "hook_denied", message)
    assert evaluation.summary == "Write a.txt"
    assert to_english_checks(evaluation.checks) == (Check(name="hooks", verdict="deny", detail=message),)
    assert scripts.read_inputs("later") == []


async def test_a_hook_requires_approval_in_every_mode_and_under_every_rule(agent: Agent, scripts: Scripts) -> None:
    """SAFE-01: an approval covers only this call, because no rule replaces the next question."""
    allowed = agent.with_context(rules=(rule("allow", "Write(**)"),))
    ask = scripts.hook("guard", "answer(decision='ask', reason='it is large.')")
    evaluation = await evaluate_with_hooks(allowed, ask, tool="Write", file_path="a.txt", content="x")
    reason = "The hook guard asks for approval: it is large."
    assert (evaluation.verdict, evaluation.scopes, evaluation.matchers) == ("ask", ("once",), {})
    assert evaluation.prompt.endswith("The hook guard asks for approval: it is large.")
    assert to_english_checks(evaluation.checks) == (
        Check(name="hooks", verdict="ask", detail=reason),
        Check(name="policy", verdict="allow", detail="Patch"),
        Check(name="rules", verdict="allow", detail="Write(**) (session)."),
        Check(name="approval", verdict="ask", detail=reason),
    )


async def test_rewritten_arguments_are_checked_and_run(agent: Agent, scripts: Scripts) -> None:
    """SAFE-01: later hooks, the rules, the binding and the card have the new arguments."""
    rewrite = scripts.hook("tidy", "answer(arguments={'file_path': 'b.txt', 'content': 'tidy\\n'})")
    asking = agent.with_context(permission_mode="ask")
    evaluation = await evaluate_with_hooks(
        asking, rewrite, scripts.hook("later"), tool="Write", file_path="a.txt", content="x"
    )
    assert scripts.read_inputs("later")[0]["arguments"] == {"file_path": "b.txt", "content": "tidy\n"}
    assert (evaluation.verdict, evaluation.arguments) == ("ask", '{"content":"tidy\\n","file_path":"b.txt"}')
    assert evaluation.binding is not None
    assert (evaluation.binding.file, evaluation.binding.arguments_hash) == ("b.txt", evaluation.arguments_hash)
    assert evaluation.prompt == "Create b.txt (+1 −0)? The hook tidy changed the arguments."
    assert "+tidy" in evaluation.preview
    assert evaluation.matchers == {"session": "Edit(b.txt)", "workspace": "Edit(b.txt)"}


async def test_a_rewrite_reports_its_reason(agent: Agent, scripts: Scripts) -> None:
    """SAFE-01: once, also if the hook requires approval for the same reason."""
    body = "answer(decision={!r}, arguments={{'command': 'pnpm test'}}, reason='we use pnpm')"
    results = [
        await run_hooks(agent, call("Bash", command="npm test"), scripts.hook(name, body.format(decision)))
        for name, decision in (("a", "pass"), ("b", "ask"))
    ]
    assert [result.detail for result in results if result is not None] == [
        "The hook a changed the arguments: we use pnpm.",
        "The hook b changed the arguments. The hook b asks for approval: we use pnpm.",
    ]


async def test_the_same_arguments_are_not_a_rewrite(agent: Agent, scripts: Scripts) -> None:
    echo = "answer(arguments=request['arguments'])"
    assert await run_hooks(agent, call("Bash", command="ls"), scripts.hook("a", echo), scripts.hook("b", echo)) is None


async def test_rewritten_arguments_pass_the_path_and_rule_stations(agent: Agent, scripts: Scripts) -> None:
    """SAFE-01, SAFE-02: rewritten arguments are checked like a model's."""
    out = scripts.hook("out", "answer(arguments={'file_path': '../outside/secret.txt'})")
    assert (await evaluate_with_hooks(agent, out, tool="Read", file_path="README.md")).code == "path_denied"
    guarded = scripts.hook("agents", "answer(arguments={'file_path': 'agents/a.md', 'content': 'x'})")
    assert (await evaluate_with_hooks(agent, guarded, tool="Write", file_path="a.txt", content="x")).verdict == "ask"
    ruled = agent.with_context(rules=(rule("deny", "Bash(git push *)"),))
    push = scripts.hook("push", "answer(arguments={'command': 'git push origin'})")
    assert (await evaluate_with_hooks(ruled, push, tool="Bash", command="ls")).code == "rule_denied"
    wrong = scripts.hook("wrong", "answer(arguments={'cmd': 'ls'})")
    assert (await evaluate_with_hooks(agent, wrong, tool="Bash", command="ls")).code == "tool_arguments"


async def test_a_hook_cannot_allow_a_call(agent: Agent, scripts: Scripts) -> None:
    """SAFE-01: a hook decides deny, ask or pass. A pass keeps the decisions of others."""
    passes = scripts.hook("fine", "answer(decision='pass', reason='all is well')")
    asking = agent.with_context(permission_mode="ask")
    assert (await evaluate_with_hooks(asking, passes, tool="Bash", command="ls")).verdict == "ask"
    allow = scripts.hook("allow", "answer(decision='allow')")
    assert (await evaluate_with_hooks(asking, allow, tool="Bash", command="ls")).code == "hook_failed"


async def test_a_second_rewrite_denies_the_call(agent: Agent, scripts: Scripts) -> None:
    """SAFE-01: arguments are rewritten once."""
    first = scripts.hook("one", "answer(arguments={'command': 'ls -l'})")
    second = scripts.hook("two", "answer(arguments={'command': 'ls -a'})")
    result = await run_hooks(agent, call("Bash", command="ls"), first, second)
    assert result == HookResult(
        verdict="deny",
        code="hook_failed",
        detail=(
            "The hook two failed, so the call does not run: would rewrite the arguments, which one already rewrote."
        ),
        arguments='{"command":"ls -l"}',
        rewritten_by="one",
        reasons=(
            Reason(
                code="hook_failed",
                parameters={"hook": "two", "how": "would rewrite the arguments, which one already rewrote"},
            ),
        ),
    )


FAILS = {
    "raise SystemExit('no network')": "ended with exit code 1: no network",
    "sys.stderr.write('first\\n\\x1b[31mlast\\n\\n'); sys.exit(3)": "ended with exit code 3: ⟨U+001B⟩[31mlast",
    "import os; os.kill(os.getpid(), 9)": "ended with exit code 137",
    'print(\'{"decision": "deny"\')': "returned an invalid response: ",
    "print('[]')": "returned an invalid response: Expected `object`, got `array`",
    "answer(decison='deny')": "returned an invalid response: Object contains unknown field `decison`",
    "answer(arguments=['ls'])": "returned an invalid response: Expected `object | null`, got `array` - at `$.arguments`",
    'sys.stdout.buffer.write(b\'{"reason": "\\xff"}\')': "returned an invalid response: ",
    "print('{\"arguments\":' + '[' * 100000)": "returned an invalid response: ",
    f"print('x' * {MAX_RESPONSE_BYTES + 1})": f"sent more than {MAX_RESPONSE_BYTES:,} bytes",
}


@pytest.mark.parametrize("body", FAILS, ids=range(len(FAILS)))
async def test_a_failed_hook_denies_the_call_with_the_failure(agent: Agent, scripts: Scripts, body: str) -> None:
    """SAFE-01"""
    evaluation = await evaluate_with_hooks(agent, scripts.hook("guard", body), tool="Read", file_path="README.md")
    assert (evaluation.verdict, evaluation.code) == ("deny", "hook_failed")
    assert evaluation.message.startswith(f"The hook guard failed, so the call does not run: {FAILS[body]}")
    assert evaluation.message.endswith(".")


async def test_a_hook_without_its_program_denies_the_call(agent: Agent, tmp_path: Path) -> None:
    gone = Hook(name="gone", command=(str(tmp_path / "gone"),))
    evaluation = await evaluate_with_hooks(agent, gone, tool="Read", file_path="README.md")
    message = (
        f"The hook gone failed, so the call does not run: cannot start: {tmp_path}/gone: No such file or directory."
    )
    assert (evaluation.code, evaluation.message.startswith(message)) == ("hook_failed", True)
    toolbox = FolderToolbox(start_folder=lambda hook, folder: str(tmp_path / "away"))
    away = await evaluate_with_hooks(
        Agent(agent.folder, toolbox), Hook(name="away", command=("true",)), tool="Read", file_path="x"
    )
    assert away.message.startswith(
        "The hook away failed, so the call does not run: cannot start: No such file or directory."
    )


async def test_a_hook_timeout_denies_the_call_and_ends_all_processes(agent: Agent, scripts: Scripts, mark: str) -> None:
    """SAFE-01: processes in another session end too."""
    body = f"import subprocess, time\nsubprocess.Popen(['sleep', '{mark}'], start_new_session=True)\ntime.sleep(600)"
    evaluation = await evaluate_with_hooks(
        agent, scripts.hook("slow", body, timeout=1.5), tool="Read", file_path="README.md"
    )
    message = "The hook slow failed, so the call does not run: did not respond within 1.5 seconds."
    assert (evaluation.code, evaluation.message) == ("hook_failed", message)
    assert find_processes(mark) == find_processes(str(scripts.place)) == []


async def test_an_ended_hook_leaves_no_process(agent: Agent, scripts: Scripts, mark: str) -> None:
    body = f"import subprocess\nsubprocess.Popen(['sleep', '{mark}'], start_new_session=True)"
    assert await run_hooks(agent, call("Read", file_path="README.md"), scripts.hook("busy", body)) is None
    assert find_processes(mark) == []


async def test_a_stopped_turn_ends_its_hook(agent: Agent, scripts: Scripts, mark: str) -> None:
    body = f"import subprocess\nsubprocess.run(['sleep', '{mark}'])"
    asking = asyncio.create_task(run_hooks(agent, call("Read", file_path="README.md"), scripts.hook("slow", body)))
    await wait_until(lambda: find_processes("sleep", mark))
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert find_processes(mark) == []


async def test_a_hook_may_ignore_its_input(agent: Agent) -> None:
    deaf = Hook(name="deaf", command=("true",))
    large = call("Write", file_path="a.txt", content="x" * 1_000_000)
    assert await run_hooks(agent, large, deaf) is None


def test_hooks_run_on_the_products_event_loop(folder: Path, scripts: Scripts) -> None:
    """The hooks ignore their input, print too much, time out, or answer."""
    deaf = Hook(name="deaf", command=("true",))
    loud = scripts.hook("loud", f"print('x' * {MAX_RESPONSE_BYTES * 8})")
    slow = scripts.hook("slow", "import time\ntime.sleep(600)", timeout=0.5)
    fine = scripts.hook("fine", "answer(decision='ask')")
    large = call("Write", file_path="a.txt", content="x" * 1_000_000)

    async def run_all() -> list[HookResult | None]:
        agent = Agent(folder)
        return await asyncio.gather(*(run_hooks(agent, large, hook) for hook in (deaf, loud, slow, fine, deaf, deaf)))

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        details = [result.detail if result is not None else "" for result in runner.run(run_all())]
    failed = "failed, so the call does not run:"
    assert details == [
        "",
        f"The hook loud {failed} sent more than {MAX_RESPONSE_BYTES:,} bytes.",
        f"The hook slow {failed} did not respond within 0.5 seconds.",
        "The hook fine asks for approval.",
        "",
        "",
    ]


async def test_a_hooks_output_is_redacted_before_truncation(folder: Path, scripts: Scripts) -> None:
    """SAFE-03"""
    value = "s3cret-" + "Zx9wVu8tSr7q" * 4
    redaction = Redaction([NamedSecret("deploy", value, "environment")])
    agent = Agent(folder, FolderToolbox(new_redactor=redaction.redact_stream))
    says = scripts.hook("says", f"answer(decision='ask', reason='x' * 480 + '{value}')")
    dies = scripts.hook("dies", f"sys.exit('y' * 280 + '{value}')")
    for hook in (says, dies):
        result = await run_hooks(agent, call("Read", file_path="README.md"), hook)
        assert result is not None
        assert ("secret://dep" in result.detail, value[:12] in result.detail) == (True, False)


async def test_a_hook_receives_only_the_environment_of_its_settings(
    folder: Path, scripts: Scripts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAFE-03: the values of handles, and nothing else of Callboard's environment."""
    monkeypatch.setenv("CALLBOARD_SECRET_X", "mine")
    toolbox = FolderToolbox(reveal=lambda _, text: text.replace("secret://lint", "the value"))
    body = "import os\nopen(__file__ + '.env', 'w').write(json.dumps(sorted(os.environ.items())))"
    hook = scripts.hook("env", body, env={"TOKEN": "secret://lint"})
    await run_hooks(Agent(folder, toolbox), call("Bash", command="ls"), hook)
    environment = dict(json.loads((scripts.place / "env.py.env").read_text()))
    assert environment["TOKEN"] == "the value"
    assert not environment.keys() - {"TOKEN", "PATH", "HOME", "LC_CTYPE"}


async def test_a_hook_without_its_secret_denies_the_call(folder: Path, scripts: Scripts) -> None:
    def missing(_: object, text: str) -> str:
        raise Refusal("secret_missing", "There is no secret lint.")

    hook = scripts.hook("env", env={"TOKEN": "secret://lint"})
    evaluation = await evaluate_with_hooks(
        Agent(folder, FolderToolbox(reveal=missing)), hook, tool="Read", file_path="README.md"
    )
    assert evaluation.message.startswith(
        "The hook env failed, so the call does not run: cannot start: There is no secret lint."
    )
    assert scripts.read_inputs("env") == []


MATCHERS = [
    ("*", "Read", {"file_path": "README.md"}, True),
    ("Bash", "Read", {"file_path": "README.md"}, False),
    ("Edit", "Write", {"file_path": "a.txt", "content": ""}, True),
    ("Edit(docs/**)", "Write", {"file_path": "a.txt", "content": ""}, False),
    ("Edit(docs/**)", "Write", {"file_path": "docs/a.txt", "content": ""}, True),
    ("Edit(docs/**)", "Write", {"file_path": "../docs/a.txt", "content": ""}, True),
    ("Bash(git push *)", "Bash", {"command": "git status"}, False),
    ("Bash(git push *)", "Bash", {"command": "cd . && git push origin"}, True),
    ("Bash(git push *)", "Bash", {"title": "whatever"}, True),
    ("mcp__git__*", "mcp__git__log", {}, True),
]


@pytest.mark.parametrize(("matcher", "tool", "arguments", "is_match"), MATCHERS)
async def test_a_hooks_matchers_are_broad(
    agent: Agent, scripts: Scripts, matcher: str, tool: str, arguments: dict[str, str], is_match: bool
) -> None:
    hook = scripts.hook("look", tools=("NoSuch", matcher))
    asking = agent.with_context(hooks=(hook,))
    preview = asking.toolbox.preview_hooks(call(tool, **arguments), asking.context)
    reason = Reason(code="hooks_unasked", parameters={"hooks": "look"})
    expected = HookResult(verdict="allow", detail="Hooks do not run here. These would decide: look.", reasons=(reason,))
    assert preview == (expected if is_match else None)
    changed = asking.with_context(hooks=(), changed_hooks=(hook,))
    away = changed.toolbox.preview_hooks(call(tool, **arguments), changed.context)
    assert (away.verdict if away is not None else "") == ("ask" if is_match else "")


async def test_hooks_do_not_run_for_invalid_arguments(agent: Agent, scripts: Scripts) -> None:
    for text in ("[1]", "{", "nul", '"x"', "[" * 100_000):
        wanted = ToolCall(call_id="cal_1", tool="Read", arguments=text)
        assert await run_hooks(agent, wanted, scripts.hook("look")) is None
        assert (await agent.toolbox.evaluate(wanted, agent.context)).code == "tool_arguments"
    assert scripts.read_inputs("look") == []


async def test_a_hook_that_agents_can_change_does_not_run(
    agent: Agent, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAFE-08: it would run an agent's code outside the sandbox, also through the search path or a
    link. A change in a protected folder needs approval."""
    monkeypatch.setenv("PATH", f"{folder}/bin:{os.environ['PATH']}")
    (folder / "check.py").write_text("open('ran', 'w')\n")
    (folder / ".callboard" / "hooks").mkdir(parents=True)
    (folder / ".callboard" / "hooks" / "check.py").write_text("open('ran', 'w')\n")
    (folder / ".callboard" / "hooks" / "link.py").symlink_to(folder / "check.py")
    (tmp_path / "there.py").symlink_to(folder / "check.py")
    message = (
        f"The hook check failed, so the call does not run: agents of {folder} can change its program {folder}/check.py. "
        f"Move it to {folder}/.callboard/ or outside of every open folder."
    )
    for path in ("check.py", str(folder / "check.py"), ".callboard/hooks/link.py", str(tmp_path / "there.py")):
        evaluation = await evaluate_with_hooks(
            agent, Hook(name="check", command=(sys.executable, path)), tool="Read", file_path="x"
        )
        assert (evaluation.code, evaluation.message.startswith(message)) == ("hook_failed", True)
    (folder / "bin").mkdir()
    (folder / "bin" / "checker").symlink_to("/bin/true")
    (tmp_path / "link.py").symlink_to(folder / "bin" / "checker")
    for command in (("checker",), (str(tmp_path / "link.py"),)):
        evaluation = await evaluate_with_hooks(agent, Hook(name="check", command=command), tool="Read", file_path="x")
        assert f"agents of {folder} can change its program {folder}/bin/checker" in evaluation.message
    assert not (folder / "ran").exists()
    protected = Hook(name="check", command=(sys.executable, ".callboard/hooks/check.py"))
    assert await run_hooks(agent, call("Read", file_path="README.md"), protected) is None
    assert (folder / "ran").exists()


@pytest.mark.parametrize(("place", "program"), [("bin", "bin/checker"), (".", "checker"), ("", "checker")])
async def test_a_hooks_program_is_found_from_its_start_folder(
    agent: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, program: str
) -> None:
    """SAFE-08: a search path may have folders relative to it."""
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    (folder / "bin").mkdir()
    (folder / program).write_text("#!/bin/sh\ntouch ran\n")
    (folder / program).chmod(0o755)
    evaluation = await evaluate_with_hooks(agent, Hook(name="check", command=("checker",)), tool="Read", file_path="x")
    assert f"agents of {folder} can change its program {folder}/{program}" in evaluation.message
    assert not (folder / "ran").exists()


async def test_a_hooks_program_is_found_on_its_own_search_path(agent: Agent, folder: Path) -> None:
    """SAFE-08"""
    (folder / "bin").mkdir()
    (folder / "bin" / "checker").write_text("#!/bin/sh\ntouch ran\n")
    (folder / "bin" / "checker").chmod(0o755)
    hook = Hook(name="check", command=("checker",), env={"PATH": f"{folder}/bin:/usr/bin:/bin"})
    evaluation = await evaluate_with_hooks(agent, hook, tool="Read", file_path="x")
    assert f"agents of {folder} can change its program {folder}/bin/checker" in evaluation.message
    assert not (folder / "ran").exists()
    gone = Hook(name="gone", command=("no-such-program",))
    message = (
        "The hook gone failed, so the call does not run: cannot start: no-such-program: No such file or directory."
    )
    assert (await evaluate_with_hooks(agent, gone, tool="Read", file_path="x")).message.startswith(message)


async def test_a_changed_hook_requires_approval_instead_of_running(agent: Agent, scripts: Scripts) -> None:
    """SAFE-08: ending a folder's trust does not disable its hooks."""
    changed = agent.with_context(changed_hooks=(scripts.hook("look", tools=("Bash",)),))
    result = await run_hooks(changed, call("Bash", command="ls"))
    assert result == HookResult(
        verdict="ask",
        detail="The folder changed since you trusted it, so these hooks do not run: look.",
        reasons=(Reason(code="hooks_changed", parameters={"hooks": "look"}),),
    )
    assert await run_hooks(changed, call("Read", file_path="README.md")) is None
    assert scripts.read_inputs("look") == []


@pytest.mark.parametrize("matcher", ["bash", "Bash", "bash(ls)", "BASH(ls)"])
async def test_m2_a_matcher_accepts_any_spelling_and_the_hook_receives_the_stored_name(
    agent: Agent, scripts: Scripts, matcher: str
) -> None:
    await run_hooks(agent, call("Bash", command="ls"), scripts.hook("look", tools=(matcher,)))
    assert [received["tool"] for received in scripts.read_inputs("look")] == ["Bash"]
