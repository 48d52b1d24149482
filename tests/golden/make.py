"""Writer of a golden store: `python -m tests.golden.make [VERSION]`.

The real product runs with a scripted model and produces everything that a store can have: a chat
with tools, approvals, rules, a team, jobs, artifacts, a summary, an import, evidence, an
interrupted turn, and what `additions` adds. It is stopped and started again. Then it is killed with
SIGKILL while turns, children, a job and an approval are open. The next process takes over and is
killed in the same way.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable
from typing import Any

from callboard import __version__
from callboard.contracts.facts import FACTS
from tests.prove.driver import store
from tests.prove.driver.crew import Followed, begin
from tests.prove.driver.product import Place, Server
from tests.prove.driver.session_driver import do

from . import additions, scenario
from .stores import ROOT, expected, pack

PATIENCE_S = 20.0
TURN_ENDS = ("turn.completed", "turn.failed", "turn.interrupted")


async def make(version: str) -> None:
    """Write the store in `ROOT`, and pack it as the golden store of a version."""
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir(mode=0o700)
    at = Place(ROOT)
    scenario.write(at)
    server = await Server.start(at)
    try:
        await _run_all(server)
        await additions.run(server, _until)
        await server.stop()
        server = await Server.start(at)
        left = await _leave_open(server)
        await server.kill()
        server = await Server.start(at)
        await additions.resume(server, left, _until)
        await _leave_open(server)
    finally:
        await server.kill()
    pack(at.home, version)
    types = {name for stream in expected(version)["streams"].values() for name in stream["types"]}
    print(f"{version}: {len(types)} of {len(FACTS)} types of facts; without {', '.join(sorted(set(FACTS) - types))}")


async def _run_all(server: Server) -> None:
    """Run everything that ends."""
    await _run_chat(server)
    await _run_interrupt(server)
    await _run_teams(server)
    await _run_artifacts(server)
    await do(server, "import_turn", **scenario.past_turn(server.workspace))
    for name in ("archived", "deleted"):
        chat = await _turns(server, "queued")
        await do(server, "update_session", sessionId=chat.session, title=f"An {name} one", pinned=True)
        await chat.close()
        if name == "archived":
            await do(server, "update_session", sessionId=chat.session, archived=True)
        else:
            await do(server, "delete_session", sessionId=chat.session, confirm=chat.session)


async def _run_chat(server: Server) -> None:
    """Run tools, approvals, rejections, rules, questions, plans, a failure, a summary and an
    export.
    """
    wanted = (await server.wire.get(f"/queries/get_trust?workspaceId={server.workspace}")).body
    await do(server, "trust_workspace", workspaceId=server.workspace, digest=wanted["digest"])
    await do(server, "revoke_trust", workspaceId=server.workspace)
    rule = await do(server, "add_rule", matcher="Bash(git status *)", verdict="allow", workspaceId=server.workspace)
    await do(server, "revoke_rule", ruleId=rule["ruleId"], workspaceId=server.workspace)
    await do(server, "add_rule", matcher="Bash(rm *)", verdict="deny", workspaceId=server.workspace)
    chat = await _turns(server, "read the file", approves=False, permissionMode="ask")
    who = {"sessionId": chat.session}
    await do(server, "update_session", **who, title="A chat")
    await _run_answered(server, chat, "print the file", decision="approve")
    await _run_answered(server, chat, "change the notes", decision="approve", scope="workspace")
    await _run_answered(server, chat, "print the file", decision="reject", reason="not now")
    await _run_answered(server, chat, "ask me", decision="answer", answer="this")
    await _run_answered(server, chat, "make a plan", decision="approve")
    for text in ("write a long story", "break", "read what is missing"):
        await _next(server, chat, text)
    await do(server, "set_context", **who, pinned=["notes.md"])
    await _next(server, chat, "with the notes")
    await do(server, "compact_thread", **who)
    await _until(chat, lambda: chat.count("context.compaction.completed", "context.compaction.failed") == 1)
    await do(server, "export_evidence", **who)
    await chat.close()


async def _run_interrupt(server: Server) -> None:
    """Interrupt a turn with a queue behind it."""
    chat = await begin(server, "take your time")
    await _until(chat, lambda: chat.count("model.requested") == 1)
    who = {"sessionId": chat.session}
    for text in ("queued one", "queued two", "queued three"):
        await do(server, "submit_turn", **who, text=text)
    first, second, third = [
        fact["turnId"] for fact in chat.facts if fact["type"] == "queue.added"
    ] or await _list_queued(chat)
    await do(server, "edit_queued_turn", **who, turnId=first, text="queued and edited")
    await do(server, "promote_queued_turn", **who, turnId=second)
    await do(server, "remove_queued_turn", **who, turnId=third)
    await do(server, "steer_turn", **who, text="be quick")
    await do(server, "interrupt_turn", **who, reason="enough")
    await _until(chat, lambda: not chat.open_runs and chat.count("turn.interrupted", "turn.completed") == 3)
    await chat.close()


async def _list_queued(chat: Followed) -> list[str]:
    await _until(chat, lambda: chat.count("queue.added") == 3)
    return [fact["turnId"] for fact in chat.facts if fact["type"] == "queue.added"]


async def _run_teams(server: Server) -> None:
    """Run a team with a review and handoffs, a board, and a job with one failed item."""
    team = await begin(server, "have a note written", mode="auto", permissionMode="edits")
    who = {"sessionId": team.session}
    await do(server, "add_agent", **who, agent="watcher")
    board: tuple[tuple[str, dict[str, Any]], ...] = (
        ("create_task", {"title": "On the board"}),
        ("append_task_progress", {"phase": "reading", "counters": {"pages": 3}, "progress": "half of it"}),
        ("pause_task", {}),
        ("resume_task", {}),
        ("complete_task", {"summary": "It reads well."}),
    )
    for command, more in board:
        await do(server, command, **who, taskId="tsk_board", **more)
    quiet = lambda: not team.open_runs and team.open_children <= 0
    await _until(team, lambda: quiet() and team.count("subagent.completed") == 2)
    items = [{"input": name} for name in ("alpha", "beta")]
    job = await do(server, "create_job", **who, title="A job", items=items, agent="worker", instructions="Do it.")
    await _until(team, lambda: quiet() and team.count("subagent.spawned") >= 4)
    read = (await server.wire.get(f"/queries/get_job?sessionId={team.session}&jobId={job['jobId']}")).body
    failed = next(item["itemId"] for item in read["items"] if item["status"] == "failed")
    await do(server, "retry_job_item", **who, jobId=job["jobId"], itemId=failed)
    await _until(team, lambda: quiet() and team.count("subagent.failed") == 2)
    await _next(server, team, "send a message")
    await _until(team, quiet)
    job = await do(server, "create_job", **who, title="A cancelled job", items=[{"input": "gamma"}], agent="worker")
    await _until(team, lambda: bool(team.open_runs))
    await do(server, "cancel_job", **who, jobId=job["jobId"])
    await _until(team, quiet)
    await team.close()


async def _run_artifacts(server: Server) -> None:
    """Write versions of an artifact. Roll one back, delete one, and export one."""
    chat = await _turns(server, "write the report", permissionMode="edits")
    who = {"sessionId": chat.session}
    created = await do(server, "create_artifact", **who, title="A plan", content="one\n")
    target = {**who, "artifactId": created["artifactId"]}
    await do(server, "edit_artifact", **target, baseVersion=1, content="two\n" * 4000)
    await do(server, "rollback_artifact", **target, version=1, baseVersion=2)
    await do(server, "export_artifact", **who, artifactIds=[created["artifactId"]], form="html")
    await _until(chat, lambda: chat.count("artifact.export.completed") == 1)
    other = await do(server, "create_artifact", **who, title="Another", content="gone\n")
    await do(server, "delete_artifact", **who, artifactId=other["artifactId"], confirm=other["artifactId"])
    await chat.close()


async def _leave_open(server: Server) -> str:
    """Leave open what a crash finds: a partial answer, a queue, an approval, a child at work, a
    job.

    Returns:
        The session with a queue.
    """
    half = await begin(server, "leave open")
    await _until(half, lambda: half.count("model.requested") == 1)
    await do(server, "submit_turn", sessionId=half.session, text="queued")
    asks = await _begin(server, "wait for me", permissionMode="ask")
    runs = await begin(server, "start and stop")
    await _until(runs, lambda: runs.count("tool.started") == 1)
    stopped = await begin(server, "start and stop")
    await _until(stopped, lambda: stopped.count("tool.started") == 1)
    await do(server, "submit_turn", sessionId=stopped.session, text="queued")
    await do(server, "interrupt_turn", sessionId=stopped.session)
    await _until(stopped, lambda: stopped.count("turn.interrupted") == 1)
    team = await begin(server, "delegate and leave", mode="auto", permissionMode="edits")
    job = await do(
        server, "create_job", workspaceId=server.workspace, title="Open", items=[{"input": "gamma"}], agent="worker"
    )
    work = Followed(server.wire, job["sessionId"])
    await _until(team, lambda: team.count("model.requested") == 3)
    await _until(work, lambda: work.count("model.requested") == 1)
    await _until(asks, lambda: asks.count("action.required") == 1)
    await _wait_stored(server)
    for followed in (half, asks, runs, stopped, team, work):
        await followed.close()
    return half.session


async def _wait_stored(server: Server) -> None:
    """Wait until the partial answers are stored."""
    until = asyncio.get_running_loop().time() + 20
    while len(store.read(ROOT / "home" / "store").partials) < 3:
        assert asyncio.get_running_loop().time() < until, "no half of an answer is kept"
        await asyncio.sleep(0.05)


async def _until(chat: Followed, condition: Callable[[], bool]) -> None:
    """Wait until the facts of a session fulfil a condition."""
    if not await chat.until(condition, PATIENCE_S):
        raise AssertionError(f"{chat.session} stays at {[fact['type'] for fact in chat.facts[-12:]]}")


async def _begin(server: Server, text: str, **more: str) -> Followed:
    """Begin a session whose requests stay open."""
    answer = await do(server, "submit_turn", workspaceId=server.workspace, text=text, **more)
    return Followed(server.wire, answer["sessionId"], approves=False)


async def _turns(server: Server, text: str, *, approves: bool = True, **more: str) -> Followed:
    """Begin a session, and wait for the end of its first turn."""
    followed = await (begin if approves else _begin)(server, text, **more)
    await _until(followed, lambda: followed.count(*TURN_ENDS) == 1)
    return followed


async def _next(server: Server, chat: Followed, text: str) -> None:
    before = chat.count(*TURN_ENDS)
    await do(server, "submit_turn", sessionId=chat.session, text=text)
    await _until(chat, lambda: chat.count(*TURN_ENDS) > before)


async def _run_answered(server: Server, chat: Followed, text: str, **answer: str) -> None:
    """Run a turn that asks once, and give this answer."""
    before, ends = chat.count("action.required"), chat.count(*TURN_ENDS)
    await do(server, "submit_turn", sessionId=chat.session, text=text)
    await _until(chat, lambda: chat.count("action.required") > before)
    action = [fact for fact in chat.facts if fact["type"] == "action.required"][-1]["actionId"]
    await do(server, "respond_action", sessionId=chat.session, actionId=action, **answer)
    await _until(chat, lambda: chat.count(*TURN_ENDS) > ends)


if __name__ == "__main__":
    asyncio.run(make(sys.argv[1] if len(sys.argv) > 1 else __version__))
