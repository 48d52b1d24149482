"""Generated transcripts of Claude Code and Codex."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def claude_code(home: Path, folder: Path, session: str = "11111111-2222-3333-4444-555555555555") -> Path:
    """Write a session with two turns, one interrupted, with a sidechain and a truncated line."""
    file = home / "projects" / str(folder).replace("/", "-") / f"{session}.jsonl"
    written = [
        {"type": "summary", "summary": "Fix the greeting", "leafUuid": "u9"},
        _claude(folder, "user", "u0", 0, {"role": "user", "content": "Caveat: The messages below"}, isMeta=True),
        _claude(folder, "user", "u1", 1, {"role": "user", "content": "Fix the greeting\nin hello.py"}),
        _claude(folder, "assistant", "a1", 2, _answer("m1", [{"type": "thinking", "thinking": "Look first."}])),
        _claude(folder, "assistant", "a2", 3, _answer("m1", [{"type": "text", "text": "I read it."}])),
        _claude(
            folder,
            "assistant",
            "a3",
            3,
            _answer("m1", [_use("t1", "Read", {"file_path": f"{folder}/hello.py"})], stop="tool_use"),
        ),
        _claude(folder, "user", "u2", 4, {"role": "user", "content": [_result("t1", "print('helo')")]}),
        _claude(
            folder,
            "assistant",
            "a4",
            5,
            _answer(
                "m2",
                [
                    _use(
                        "t2",
                        "Edit",
                        {"file_path": f"{folder}/hello.py", "old_string": "helo", "new_string": "hello"},
                    )
                ],
                stop="tool_use",
            ),
        ),
        _claude(
            folder, "user", "s1", 5, {"role": "user", "content": "Look for more"}, isSidechain=True, agentId="ab12"
        ),
        _claude(
            folder,
            "assistant",
            "s2",
            5,
            _answer("m9", [{"type": "text", "text": "No more."}]),
            isSidechain=True,
            agentId="ab12",
        ),
        _claude(
            folder, "user", "u3", 6, {"role": "user", "content": [_result("t2", [{"type": "text", "text": "done"}])]}
        ),
        _claude(folder, "assistant", "a5", 7, _answer("m3", [{"type": "text", "text": "It says hello now."}])),
        _claude(folder, "user", "u4", 8, {"role": "user", "content": "Now delete everything"}),
        _claude(
            folder,
            "assistant",
            "a6",
            9,
            _answer("m4", [_use("t3", "Bash", {"command": "rm -rf ."})], stop="tool_use"),
        ),
        _claude(
            folder,
            "user",
            "u5",
            10,
            {
                "role": "user",
                "content": [
                    _result("t3", "The user doesn't want to proceed with this tool use.", is_error=True),
                ],
            },
        ),
        _claude(folder, "user", "u6", 11, {"role": "user", "content": "[Request interrupted by user for tool use]"}),
    ]
    return _write(file, written, cut='{"type":"assistant","uuid":"a7","mess')


def codex(home: Path, folder: Path, session: str = "0199aaaa-bbbb-cccc-dddd-eeeeeeeeeeee") -> Path:
    """Write a session with two turns: one with a command and a patch, one with an answer only."""
    file = home / "sessions" / "2026" / "11" / "20" / f"rollout-2026-11-20T10-00-00-{session}.jsonl"
    patch = (
        "*** Begin Patch\n*** Update File: hello.py\n@@\n-helo\n+hello\n*** Add File: notes.md\n+# Notes\n*** End Patch"
    )
    written = [
        _codex(0, "session_meta", {"id": session, "cwd": str(folder), "cli_version": "0.60.0"}),
        _codex(1, "response_item", _message("user", f"<environment_context><cwd>{folder}</cwd></environment_context>")),
        _codex(2, "turn_context", {"cwd": str(folder), "model": "gpt-5.1-codex", "approval_policy": "on-request"}),
        _codex(2, "response_item", _message("user", "Fix the greeting")),
        _codex(3, "response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look first."}]}),
        _codex(
            4,
            "response_item",
            {
                "type": "function_call",
                "name": "shell",
                "call_id": "c1",
                "arguments": json.dumps({"command": ["bash", "-lc", "cat hello.py"]}),
            },
        ),
        _codex(
            5,
            "event_msg",
            {
                "type": "token_count",
                "info": {
                    "last_token_usage": {
                        "input_tokens": 1000,
                        "cached_input_tokens": 800,
                        "output_tokens": 50,
                        "reasoning_output_tokens": 20,
                    }
                },
            },
        ),
        _codex(
            6,
            "response_item",
            {
                "type": "function_call_output",
                "call_id": "c1",
                "output": json.dumps({"output": "helo\n", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}),
            },
        ),
        _codex(
            7,
            "response_item",
            {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": patch, "status": "completed"},
        ),
        _codex(
            8,
            "response_item",
            {"type": "custom_tool_call_output", "call_id": "c2", "output": json.dumps({"output": "Success"})},
        ),
        _codex(9, "response_item", _message("assistant", "It says hello now.", "output_text")),
        _codex(10, "response_item", _message("user", "Thanks")),
        _codex(11, "response_item", _message("assistant", "Gladly.", "output_text")),
    ]
    return _write(file, written)


def claude_code_2(home: Path, folder: Path, session: str = "22222222-2222-3333-4444-555555555555") -> Path:
    """Write a session of Claude Code 2.1.

    It has a subagent that starts another one, an agent without a known parent, an internal agent, a compaction during a turn, a
    requested compaction, and a task notification.
    """
    file = home / "projects" / str(folder).replace("/", "-") / f"{session}.jsonl"
    human: dict[str, Any] = {"origin": {"kind": "human"}, "promptSource": "typed"}
    notice = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>"
    fields = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
    written = [
        {"type": "mode", "mode": "default", "sessionId": session},
        _claude(folder, "user", "u1", 1, {"role": "user", "content": "Find the callers"}, **human),
        _claude(
            folder,
            "assistant",
            "a1",
            2,
            _answer("m1", [_use("t1", "Agent", {"subagent_type": "Explore", "prompt": "Search"})], stop="tool_use"),
        ),
        _claude(
            folder,
            "user",
            "u2",
            20,
            {"role": "user", "content": [_result("t1", [{"type": "text", "text": "Two callers."}])]},
            toolUseResult={"status": "completed", "agentId": "ae267a1", "totalTokens": 9},
        ),
        {**_boundary(folder, 21), "compactMetadata": {"trigger": "auto", "preTokens": 155000, "postTokens": 9000}},
        _claude(folder, "user", "c1", 22, {"role": "user", "content": "This session is being continued."}, **fields),
        _claude(folder, "assistant", "a2", 23, _answer("m2", [{"type": "text", "text": "There are two."}])),
        _claude(
            folder,
            "user",
            "n1",
            30,
            {"role": "user", "content": notice},
            origin={"kind": "task-notification"},
            promptSource="system",
        ),
        _claude(folder, "assistant", "a3", 31, _answer("m3", [{"type": "text", "text": "The task ended."}])),
        {**_boundary(folder, 40), "compactMetadata": {"trigger": "manual", "preTokens": 12000}},
        _claude(folder, "user", "c2", 41, {"role": "user", "content": "All that was done."}, **fields),
        _claude(folder, "user", "k1", 42, {"role": "user", "content": "<command-name>/compact</command-name>"}),
        _claude(folder, "user", "k2", 42, {"role": "user", "content": "<local-command-stdout>Compacted"}),
        _claude(folder, "user", "u3", 50, {"role": "user", "content": "Write it down"}, **human),
        _claude(
            folder,
            "assistant",
            "a4",
            51,
            _answer("m4", [_use("t4", "Write", {"file_path": f"{folder}/n.md", "content": "new\n"})], stop="tool_use"),
        ),
        _claude(
            folder,
            "user",
            "u4",
            52,
            {"role": "user", "content": [_result("t4", "The file was updated.")]},
            toolUseResult={"type": "update", "filePath": f"{folder}/n.md", "originalFile": "old\n"},
        ),
    ]
    _write(file, written)
    subagents = file.with_suffix("") / "subagents"
    _subagent(subagents, folder, "ae267a1", 3, "Search", {"agentType": "Explore", "description": "Find callers"})
    inner = _use("t9", "Agent", {"subagent_type": "general-purpose", "prompt": "Look in lib"})
    _subagent(subagents, folder, "ae267a1", 4, "", {}, [inner])
    _subagent(
        subagents, folder, "b0c0ffee0123456789", 5, "Look in lib", {"agentType": "general-purpose", "toolUseId": "t9"}
    )
    _subagent(subagents, folder, "adeadbeef", 6, "Something", None)
    _subagent(subagents, folder, "acompact-83efcb", 7, "Summarise", None)
    return file


def _subagent(
    subagents: Path,
    folder: Path,
    agent: str,
    second: int,
    prompt: str,
    meta: dict[str, Any] | None,
    more: list[dict[str, Any]] | None = None,
) -> None:
    """Append lines of a subagent."""
    of = {"isSidechain": True, "agentId": agent}
    name = f"{agent}-{second}"
    written = [_claude(folder, "user", f"p{name}", second, {"role": "user", "content": prompt}, **of)] if prompt else []
    content = more or [{"type": "text", "text": f"Done by {agent}."}]
    written.append(_claude(folder, "assistant", f"q{name}", second, _answer(f"x{name}", content), **of))
    subagents.mkdir(parents=True, exist_ok=True)
    with (subagents / f"agent-{agent}.jsonl").open("a") as opened:
        opened.write("".join(json.dumps(line) + "\n" for line in written))
    if meta:
        (subagents / f"agent-{agent}.meta.json").write_text(json.dumps(meta))


def _boundary(folder: Path, second: int) -> dict[str, Any]:
    line = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "cwd": str(folder)}
    return {**line, "uuid": f"b{second}", "timestamp": f"2026-11-20T10:00:{second:02}.000Z"}


def codex_patches(home: Path, folder: Path, session: str = "0199cccc-bbbb-cccc-dddd-eeeeeeeeeeee") -> Path:
    """Write a session with seven patches of different outcomes, and a summary in place of the conversation."""
    file = home / "sessions" / "2026" / "11" / "21" / f"rollout-2026-11-21T10-00-00-{session}.jsonl"
    success = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM done.py\n"
    ends: dict[str, tuple[Any, dict[str, Any] | None]] = {
        "done": (success, None),
        "declined": ({"content": "patch rejected by user", "success": False}, {"success": False, "status": "declined"}),
        "rejected": ("patch rejected: writing outside of the project; rejected by user approval settings", None),
        "unfit": ("apply_patch verification failed: Failed to find expected lines in /x.py", None),
        "broken": ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nNo such file", {"success": False}),
        "unclear": ("Something else was written here.", None),
        "proved": ("Something else was written here.", {"success": True, "status": "completed"}),
    }
    written = [
        _codex(0, "session_meta", {"id": session, "cwd": str(folder), "cli_version": "0.128.0", "source": "cli"}),
        _codex(1, "turn_context", {"cwd": str(folder), "model": "gpt-5.4-codex"}),
        _codex(2, "response_item", _message("user", "Fix the greeting")),
    ]
    for second, (name, (output, event)) in enumerate(ends.items(), start=3):
        patch = f"*** Begin Patch\n*** Update File: {name}.py\n@@\n-helo\n+hello\n*** End Patch"
        call = {
            "type": "custom_tool_call",
            "status": "completed",
            "name": "apply_patch",
            "call_id": name,
            "input": patch,
        }
        written.append(_codex(second, "response_item", call))
        if event is not None:
            written.append(_codex(second, "event_msg", {"type": "patch_apply_end", "call_id": name, **event}))
        answer = {"type": "custom_tool_call_output", "call_id": name, "output": output}
        written.append(_codex(second, "response_item", answer))
    written += [
        _codex(20, "compacted", {"message": "The greeting is fixed.", "replacement_history": []}),
        _codex(21, "event_msg", {"type": "context_compacted"}),
        _codex(22, "response_item", _message("user", "<subagent_notification>{}</subagent_notification>")),
        _codex(23, "response_item", _message("assistant", "It is fixed.", "output_text")),
    ]
    return _write(file, written)


def codex_subagent(home: Path, folder: Path, parent: str) -> Path:
    """Write a rollout of a subagent, which begins with its parent's lines."""
    session = "0199dddd-bbbb-cccc-dddd-eeeeeeeeeeee"
    file = home / "sessions" / "2026" / "11" / "22" / f"rollout-2026-11-22T10-00-00-{session}.jsonl"
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}
    written = [
        _codex(0, "session_meta", {"id": session, "cwd": str(folder), "source": spawned, "agent_role": "worker"}),
        _codex(0, "session_meta", {"id": parent, "cwd": str(folder), "source": "cli"}),
        _codex(0, "response_item", _message("user", "Fix the greeting")),
        _codex(1, "response_item", _message("user", "Look for callers")),
    ]
    return _write(file, written)


def _write(file: Path, written: list[dict[str, Any]], cut: str = "") -> Path:
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in written) + cut)
    return file


def _claude(folder: Path, kind: str, uuid: str, second: int, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    line = {"type": kind, "uuid": uuid, "cwd": str(folder), "timestamp": f"2026-11-20T10:00:{second:02}.000Z"}
    return {**line, "message": message, **more}


def _answer(identity: str, content: list[dict[str, Any]], stop: str = "end_turn") -> dict[str, Any]:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5}
    answer = {"id": identity, "role": "assistant", "model": "claude-opus-4-5", "content": content}
    return {**answer, "stop_reason": stop, "usage": usage}


def _use(identity: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": name, "input": arguments}


def _result(identity: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": content, **more}


def _codex(second: int, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": f"2026-11-20T10:00:{second:02}.000Z", "type": kind, "payload": payload}


def _message(role: str, text: str, kind: str = "input_text") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
