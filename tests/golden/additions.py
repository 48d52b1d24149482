"""Contents of golden stores since 0.1.1: processes, worktrees, messages, stored answers, a
takeover.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.prove.driver import scenes
from tests.prove.driver.crew import Followed, agent, begin
from tests.prove.driver.product import Place, Server
from tests.prove.driver.session_driver import do

Until = Callable[[Followed, Callable[[], bool]], Any]
_ENDS = ("turn.completed", "turn.failed", "turn.interrupted")


def write(at: Place) -> None:
    """Write one more agent, and make the folder a repository, so that children get worktrees."""
    agent(at, "partner", role="reviewer", tools=["*"], policy=["Patch"])
    _git(at.folder, "init", "--quiet")
    _git(at.folder, "add", "--all")
    _git(at.folder, "commit", "--quiet", "-m", "As it was")


def scenario(never: str) -> list[tuple[str, str, list[scenes.Call]]]:
    """Return the agents' answers. The file `never` does not exist, so its turns wait."""
    listens = scenes.calls("bash", command="cat", background=True)
    apart = scenes.calls("spawn_subagent", agent="worker", objective="work apart", isolation="worktree")
    hands = scenes.calls("send_handoff", to="partner", message="Take the notes.")
    file = scenes.calls("write", file_path="apart.md", content="# Apart\n")
    return [
        ("lead", "listen", [[listens], [scenes.says("It listens.")]]),
        ("lead", "have it done apart", [[apart], [scenes.calls("wait_subagents")], [scenes.says("It is done.")]]),
        ("worker", "work apart", [[file], [scenes.says("It is written apart.")]]),
        ("lead", "hand it over", [[hands], [scenes.says("It is handed over.")]]),
        ("lead", "work on", [[scenes.calls("bash", command="sleep 3")], [scenes.says("I was steered.")]]),
        ("lead", "think", [[scenes.says("On the one hand", kind="reasoning", chunk=3), scenes.waits(never)]]),
        ("partner", "", [[scenes.says("I see.")]]),
        ("watcher", "", [[scenes.says("I have looked.")]]),
    ]


async def run(server: Server, until: Until) -> None:
    """Run everything that ends."""
    await _processes(server, until)
    await _worktree(server, until)
    await _handoff(server, until)
    await _interrupt(server, until)


async def _processes(server: Server, until: Until) -> None:
    """Write to a background command and end it."""
    chat = await begin(server, "listen", permissionMode="full")
    await until(chat, lambda: chat.count("process.started", *_ENDS) == 2)
    process = next(fact["processId"] for fact in chat.facts if fact["type"] == "process.started")
    target = {"sessionId": chat.session, "processId": process}
    # With keys, so that the answers are stored.
    await do(server, "write_process_stdin", key="golden-write", **target, text="a line\n")
    await do(server, "terminate_process", key="golden-end", **target)
    await until(chat, lambda: chat.count("process.ended") == 1)
    await chat.close()


async def _worktree(server: Server, until: Until) -> None:
    """Merge the worktree of a child, as a person."""
    team = await begin(server, "have it done apart", permissionMode="full")
    await until(team, lambda: team.count("subagent.completed") == 1 and not team.open_runs)
    await do(server, "merge_subagent", key="golden-merge", sessionId=team.session, agent="worker-1")
    await until(team, lambda: team.count("subagent.merged") == 1)
    await team.close()


async def _handoff(server: Server, until: Until) -> None:
    """Send a handoff that its receiver rejects."""
    team = await begin(server, "good day", permissionMode="full")
    await until(team, lambda: team.count("turn.completed") == 1)
    await do(server, "add_agent", key="golden-add", sessionId=team.session, agent="partner")
    await do(server, "submit_turn", key="golden-hand", sessionId=team.session, text="hand it over")
    await until(team, lambda: team.count("handoff.requested") == 1 and not team.open_runs)
    handoff = next(fact["handoffId"] for fact in team.facts if fact["type"] == "handoff.requested")
    answer = {"sessionId": team.session, "handoffId": handoff, "decision": "reject", "reason": "not mine"}
    await do(server, "respond_handoff", key="golden-reject", **answer)
    await until(team, lambda: team.count("handoff.rejected") == 1 and not team.open_runs)
    await team.close()


async def _interrupt(server: Server, until: Until) -> None:
    """Record a steer, interrupted reasoning, and a request whose turn ends before its answer."""
    chat = await begin(server, "work on", permissionMode="full")
    await until(chat, lambda: chat.count("tool.started") == 1)
    await do(server, "steer_turn", key="golden-steer", sessionId=chat.session, text="be quick")
    await until(chat, lambda: chat.count("queue.steer.accepted") == 1 and chat.count(*_ENDS) == 1)
    await chat.close()
    for text, last_fact, mode in (("think", "model.requested", "full"), ("print the file", "action.required", "ask")):
        answer = await do(server, "submit_turn", workspaceId=server.workspace, text=text, permissionMode=mode)
        cut = Followed(server.wire, answer["sessionId"], approves=False)
        await until(cut, lambda cut=cut, last_fact=last_fact: cut.count(last_fact) == 1)
        await do(server, "interrupt_turn", sessionId=cut.session, reason="enough")
        await until(cut, lambda cut=cut: cut.count("turn.interrupted") == 1)
        await cut.close()


async def resume(server: Server, session: str, until: Until) -> None:
    """Resume the paused session that a killed process left with a queue."""
    left = Followed(server.wire, session)
    await until(left, lambda: left.count("session.taken_over") == 1 and left.count("thread.paused") >= 1)
    await do(server, "resume_thread", key="golden-resume", sessionId=session)
    await until(left, lambda: left.count("thread.resumed") == 1 and not left.open_runs)
    await left.close()


def _git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=golden", "-c", "user.email=golden@localhost")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)
