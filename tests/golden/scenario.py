"""Agents of a golden store, and the answers of their scripted model."""

from __future__ import annotations

from typing import Any

from tests.prove.driver import scenes
from tests.prove.driver.crew import agent, lead, plays, worker
from tests.prove.driver.product import Place

from . import additions

#: Larger than an inline text, so that it becomes a blob.
LONG = 9_000
#: A file that never exists. Turns that wait for it run until they are stopped.
NEVER = "never"


def write(at: Place) -> None:
    """Write the agents and the scenario of the folder."""
    lead(at, edges=[{"to": "partner", "direction": "both", "confirm": True}])
    worker(at)
    agent(at, "watcher", kind="background", tools=["Read"], policy=["Finalize"], schedule={"every": "12h"})
    (at.folder / ".callboard").mkdir()
    (at.folder / ".callboard" / "settings.toml").write_text('permission_mode = "full"\n')
    (at.folder / "long.txt").write_text(scenes.prose(2 * LONG, "long"))
    (at.folder / "notes.md").write_text("# Notes\n\nThe first line.\n")
    plays(at, [*_chats(), *_team(), *additions.scenario(NEVER), *_unfinished()])
    additions.write(at)


def _chats() -> list[tuple[str, str, list[scenes.Call]]]:
    read = scenes.calls("read", file_path="long.txt")
    bash = scenes.calls("bash", command="cat long.txt | tee copy.txt")
    edit = scenes.calls("edit", file_path="notes.md", old_string="first", new_string="second")
    return [
        ("lead", "read the file", [[_thinks("I look."), read], [scenes.says("I have read it."), scenes.usage(20)]]),
        ("lead", "print the file", [[bash], [scenes.says("It is printed.")]]),
        ("lead", "change the notes", [[edit], [scenes.says("They are changed.")]]),
        ("lead", "write a long story", [[_thinks(scenes.prose(LONG, "r")), scenes.says(scenes.prose(LONG, "s"))]]),
        ("lead", "read what is missing", [[scenes.calls("read", file_path="missing.txt")], _done()]),
        ("lead", "start and stop", [[scenes.calls("bash", command="sleep 60 | tee slept.txt")], _done()]),
        ("lead", "send a message", [[scenes.calls("send_message", to=["watcher"], text="Good morning.")], _done()]),
        ("lead", "break", [[{"fail": {"code": "model_refused_request", "message": "the scenario fails here"}}]]),
        ("lead", "ask me", [[scenes.calls("ask_person", question="Which one?", options=["this", "that"])], _done()]),
        ("lead", "make a plan", [[_plan()], _done()]),
        ("lead", "take your time", [[scenes.says("I begin.", chunk=2), scenes.waits(NEVER)]]),
        ("lead", "queued", [[scenes.says("It was in the queue.")]]),
        ("lead", "write the report", [[_report()], _done()]),
        ("compaction", "", [[scenes.says("There was much talk about a file.")]]),
    ]


def _team() -> list[tuple[str, str, list[scenes.Call]]]:
    delegates = [
        [scenes.calls("spawn_subagent", agent="worker", objective="write the note", title="The note", review=True)],
        [scenes.calls("spawn_subagent", agent="worker", objective="look around", role="researcher")],
        [scenes.calls("create_task", title="Read it again", assignee="lead")],
        [scenes.calls("wait_subagents", agents=["worker-1"])],
        [scenes.calls("submit_verdict", agent="worker-1", verdict="passed", summary="It is right.", refs=[])],
        [scenes.calls("wait_subagents")],
        [scenes.calls("finalize", summary="The note is there.")],
    ]
    note = scenes.calls("write", file_path="note.md", content="# A note\n")
    report = scenes.calls("send_handoff", to="lead", message="note.md is written", status={"ok": True})
    return [
        ("lead", "have a note written", delegates),
        ("worker", "write the note", [[_thinks("I write."), note], [report], [scenes.says("It is written.")]]),
        ("worker", "look around", [[scenes.calls("glob", pattern="*.md")], [scenes.says("Seen.")]]),
        ("worker", "alpha", [[scenes.says("Alpha is done.")]]),
        ("worker", "beta", [[{"fail": {"code": "model_refused_request", "message": "beta fails"}}]]),
    ]


def _unfinished() -> list[tuple[str, str, list[scenes.Call]]]:
    bash = scenes.calls("bash", command="echo one > one.txt")
    wait = [[scenes.says("Half of an answer is here.", chunk=4), scenes.waits(NEVER)]]
    return [
        ("lead", "leave open", wait),
        ("lead", "wait for me", [[bash], [scenes.says("It is done.")]]),
        (
            "lead",
            "delegate and leave",
            [[scenes.calls("spawn_subagent", agent="worker", objective="stay")], [scenes.calls("wait_subagents")]],
        ),
        ("worker", "stay", wait),
        ("worker", "gamma", wait),
        ("lead", "", [[scenes.says("I have read it.")]]),
        ("worker", "", [[scenes.says("Done.")]]),
    ]


def _thinks(text: str) -> scenes.Part:
    return scenes.says(text, kind="reasoning")


def _done() -> list[scenes.Part]:
    return [scenes.says("Done.")]


def _plan() -> scenes.Part:
    return scenes.calls("propose_plan", summary="A report.", steps=["Read.", "Write."])


def _report() -> scenes.Part:
    return scenes.calls("write", file_path="report.md", content=f"# Report\n\n{scenes.prose(LONG, 'w')}\n")


def past_turn(workspace: str) -> dict[str, Any]:
    """Return the body of a command that imports a turn of another product."""
    part = {
        "kind": "tool",
        "text": '{"path":"a.py"}',
        "tool": "read",
        "callId": "c1",
        "ended": "completed",
        "output": "x",
    }
    return {
        "workspaceId": workspace,
        "source": "claude_code",
        "sourceId": "past-1",
        "title": "A past session",
        "turnId": "past-turn-1",
        "at": 1_700_000_000_000_000,
        "input": "What is in a.py?",
        "calls": [{"model": "other-1", "parts": [part, {"kind": "text", "text": "An x."}], "outputTokens": 3}],
        "ended": "completed",
    }
