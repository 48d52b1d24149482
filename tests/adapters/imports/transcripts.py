"""Transcripts as Claude Code and Codex write them, made for a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def claude_code(home: Path, folder: Path, session: str = "11111111-2222-3333-4444-555555555555") -> Path:
    """A session with two turns: one that reads and edits, one that is interrupted; with a sidechain and a line cut short."""
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
    """A session with two turns: one that runs a command and applies a patch, one that only answers."""
    file = home / "sessions" / "2026" / "11" / "20" / f"rollout-2026-11-20T10-00-00-{session}.jsonl"
    patch = (
        "*** Begin Patch\n*** Update File: hello.py\n@@\n-helo\n+hello\n*** Add File: notes.md\n+# Notes\n*** End Patch"
    )
    written = [
        _codex(0, "session_meta", {"id": session, "cwd": str(folder), "cli_version": "0.60.0"}),
        _codex(1, "response_item", _said("user", f"<environment_context><cwd>{folder}</cwd></environment_context>")),
        _codex(2, "turn_context", {"cwd": str(folder), "model": "gpt-5.1-codex", "approval_policy": "on-request"}),
        _codex(2, "response_item", _said("user", "Fix the greeting")),
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
        _codex(9, "response_item", _said("assistant", "It says hello now.", "output_text")),
        _codex(10, "response_item", _said("user", "Thanks")),
        _codex(11, "response_item", _said("assistant", "Gladly.", "output_text")),
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


def _use(identity: str, name: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": name, "input": given}


def _result(identity: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": content, **more}


def _codex(second: int, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": f"2026-11-20T10:00:{second:02}.000Z", "type": kind, "payload": payload}


def _said(role: str, text: str, kind: str = "input_text") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
