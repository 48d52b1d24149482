"""Calls of tools as in the runtime: through the gate, then run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from callboard.contracts.facts.permission import Check, Rule, RuleScope, Verdict
from callboard.contracts.ports.tools import Evaluation, Question, Reply, ToolCall, ToolContext, ToolOutcome
from callboard.contracts.text.reasons import to_english
from callboard.tools.toolbox import FolderToolbox

DEFINITION = "d" * 64


def rule(verdict: Verdict, matcher: str, scope: RuleScope = "session") -> Rule:
    return Rule(rule_id="rul_1", matcher=matcher, verdict=verdict, scope=scope)


def call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(call_id="cal_1", tool=tool, arguments=json.dumps(arguments))


class RecordingReporter:
    """Records the reports of a call, and answers its questions with the `ready` replies."""

    def __init__(self, live_output: list[str], *replies: Reply) -> None:
        self.live_output = live_output
        self.progress_reports: list[tuple[float, float | None, str]] = []
        self.questions: list[Question] = []
        self._replies = list(replies)

    def report_output(self, text: str) -> None:
        self.live_output.append(text)

    def report_progress(self, done: float, total: float | None, message: str) -> None:
        self.progress_reports.append((done, total, message))

    async def ask(self, question: Question) -> Reply:
        self.questions.append(question)
        return self._replies.pop(0) if self._replies else Reply(outcome="nothing")


class Agent:
    """An agent in a folder. By default everything is allowed."""

    def __init__(self, folder: Path, toolbox: FolderToolbox | None = None, **context: Any) -> None:
        self.folder = folder
        self.toolbox = toolbox or FolderToolbox()
        defaults: dict[str, Any] = {
            "folder": str(folder),
            "agent": "solo",
            "definition_hash": DEFINITION,
            "tools": ("*",),
            "policy": ("Patch", "Finalize"),
            "mode": "auto",
            "permission_mode": "full",
        }
        self.context = ToolContext(**{**defaults, **context})
        self.live_output: list[str] = []

    def with_context(self, **context: Any) -> Agent:
        """Return the agent with another context."""
        other = Agent(self.folder, self.toolbox)
        other.context = msgspec.structs.replace(self.context, **context)
        return other

    async def evaluate(self, tool: str, **arguments: Any) -> Evaluation:
        return await self.toolbox.evaluate(call(tool, **arguments), self.context)

    async def run(self, wanted: ToolCall, evaluation: Evaluation) -> ToolOutcome:
        outcome = await self.toolbox.run(wanted, evaluation, self.context, RecordingReporter(self.live_output))
        return msgspec.structs.replace(outcome, duration_ms=0)

    async def call(self, tool: str, **arguments: Any) -> ToolOutcome:
        """Evaluate and run a call, with approval if required."""
        wanted = call(tool, **arguments)
        return await self.run(wanted, await self.toolbox.evaluate(wanted, self.context))

    async def output(self, tool: str, **arguments: Any) -> str:
        """Return the output of a call that must succeed."""
        outcome = await self.call(tool, **arguments)
        assert outcome.code is None, outcome
        return outcome.output


def read_tree(folder: Path) -> dict[str, bytes | str]:
    """Return the folder's content: contents of files, and kinds of other entries."""
    return {str(path.relative_to(folder)): _describe_entry(path) for path in sorted(folder.rglob("*"))}


def _describe_entry(path: Path) -> bytes | str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    if path.is_dir():
        return "folder"
    return path.read_bytes() if path.is_file() else "special"


def to_english_checks(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return the checks as their English texts have them, without the codes for clients."""
    return tuple(
        msgspec.structs.replace(check, detail=check.detail or to_english(check.reasons), reasons=()) for check in checks
    )
