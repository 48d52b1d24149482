"""Approvals, answered in the terminal or by the policy of `--approve`."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import termios
from collections.abc import Callable, Container
from typing import Literal

from callboard.client import Client
from callboard.contracts.commands.action import ActionAnswered, RespondAction
from callboard.contracts.rows.action import ActionRow
from callboard.contracts.text.exact import Fold, describe, fold, mark

from .output import Style, mark_hidden, print_err
from .questions import Answer, count_commands, format_choices, list_preview_notes, parse_answer, read_context
from .wording import format_outcome

#: What is approved without a person: nothing, file changes by the editing tools, or every request.
Approve = Literal["none", "all-edits", "all"]
EDITING = ("Write", "Edit")
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_MAX_LINE_BYTES = 4096


_UNAPPROVED = Answer("reject", reason="No person was present to approve it.", unattended=True)
_UNANSWERED = Answer("reject", reason="No person was present to answer it.", unattended=True)


class Approvals:
    """Answers to the actions of a turn, one after another. `refused` counts the requests that no person could approve."""

    def __init__(
        self,
        client: Client,
        session: str,
        policy: Approve | None,
        print_line: Callable[[str], None],
        on_question: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """Start without requests.

        Args:
            policy: None if the person in the terminal answers.
            print_line: Prints a line between other output.
            on_question: Receives True when a question is shown, and False when it ends.
        """
        self._on_question = on_question
        self._client = client
        self._session = session
        self._build_policy: Approve | None = policy
        self._print_line = print_line
        self._style = Style(sys.stderr)
        self._open: dict[str, asyncio.Event] = {}
        self._reported: set[str] = set()
        self._queue: asyncio.Queue[ActionRow] = asyncio.Queue()
        self.refused = 0
        self._shown_row: ActionRow | None = None

    def abandon_question(self) -> bool:
        """Stop reporting the outcome of the current question; return True if there is one."""
        row, self._shown_row = self._shown_row, None
        return row is not None

    def request_answer(self, row: ActionRow) -> None:
        """Queue an action for an answer."""
        if row.action_id not in self._open:
            self._open[row.action_id] = asyncio.Event()
            self._queue.put_nowait(row)

    def request_answer_elsewhere(self, row: ActionRow) -> None:
        """Queue an action of a child with work of another turn. Only a person answers it; the policy does not apply."""
        if self._build_policy is None:
            self.request_answer(row)
        elif row.action_id not in self._reported:
            self._reported.add(row.action_id)
            self._print_line(self._style.warn(f"  · {_format_outcome(row, 'not of this turn, so not answered here')}"))

    def settle(self, action: str) -> None:
        """Mark an action as answered, here or in another client, or as withdrawn."""
        if action not in self._open or self._open[action].is_set():
            return
        self._open[action].set()
        if self._shown_row is not None and self._shown_row.action_id == action:
            # Report it here: the asking task may run only after later output of the turn.
            print_err()
            self._report_settled(self._shown_row)
            self._shown_row = None

    def settle_except(self, actions: Container[str]) -> None:
        """Mark all other actions as answered."""
        for action in self._open:
            if action not in actions:
                self.settle(action)

    async def run(self) -> None:
        """Answer queued actions until cancelled."""
        while True:
            row = await self._queue.get()
            answer = await self._answer(row)
            if answer is None:
                continue
            answered: ActionAnswered = await self._client.submit(
                RespondAction(
                    session_id=self._session,
                    action_id=row.action_id,
                    decision=answer.decision,
                    scope=answer.scope,
                    reason=answer.reason,
                    answer=answer.text,
                    unattended=answer.unattended,
                    permission_mode=answer.permission_mode,
                )
            )
            if not answered.first:
                self._report_settled(row)

    async def _answer(self, row: ActionRow) -> Answer | None:
        """Return the answer; None if the action was settled in another client first."""
        if self._open[row.action_id].is_set():
            return None
        if self._build_policy is not None:
            return self._apply_policy(row, self._build_policy)
        self._on_question(True)
        asking = asyncio.create_task(self._ask(row))
        settled = asyncio.create_task(self._open[row.action_id].wait())
        self._shown_row = row
        try:
            await asyncio.wait((asking, settled), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._shown_row = None
            settled.cancel()
            asking.cancel()
            await asyncio.gather(asking, settled, return_exceptions=True)
            self._on_question(False)
        return None if self._open[row.action_id].is_set() else asking.result()

    def _report_settled(self, row: ActionRow) -> None:
        self._print_line(self._style.dim(f"  · {_format_outcome(row, 'settled in another client')}"))

    def _apply_policy(self, row: ActionRow, policy: Approve) -> Answer:
        # Only a person can provide credentials.
        approvable = "approve" in row.decisions and row.action_type != "credential_request"
        if approvable and (policy == "all" or (policy == "all-edits" and row.tool in EDITING)):
            self._print_line(self._style.dim(f"  · {_format_outcome(row, f'approved by --approve {policy}')}"))
            return Answer("approve")
        self.refused += 1
        outcome = "rejected: no person is present to approve it" if approvable else "not answered: no person is present"
        self._print_line(self._style.warn(f"  · {_format_outcome(row, outcome)}"))
        return _reject(row)

    async def _ask(self, row: ActionRow) -> Answer:
        preview = await self._client.read_text(row.preview) if row.preview is not None else ""
        arguments = await self._client.read_text(row.arguments)
        context = read_context(row, arguments)
        question = " ".join(mark_hidden(_format_question(row)).split())
        if preview:
            # The preview comes first: a question above it could distract from it.
            self._print_line(f"{self._style.warn('?')} {mark_hidden(row.tool)}  {self._format_risk(row)}")
        is_complete = self._show(preview)
        for line in list_preview_notes(preview, arguments, count_commands(row)):
            print_err(self._style.warn(f"  │ {line}"))
        if preview:
            print_err(self._style.bold(question))
        else:
            self._print_line(f"{self._style.warn('?')} {self._style.bold(question)}  {self._format_risk(row)}")
        for line in context.format_lines():
            print_err(f"  │ {line}")
        # Input typed before the question is not an answer to it.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        while True:
            print_err(f"{format_choices(row, context, is_folded=not is_complete)} ", end="")
            line = await read_line()
            answer = parse_answer(line, row, context)
            if answer is not None:
                return answer
            if line is None:
                self.refused += 1
                return _reject(row)
            if line.strip().lower() == "v":
                is_complete = self._show(preview, folds=False)

    def _format_risk(self, row: ActionRow) -> str:
        return self._style.dim(f"risk {row.risk}{f', {row.policy}' if row.policy else ''}")

    def _show(self, preview: str, *, folds: bool = True) -> bool:
        """Print the preview, with its end; a fold shows how much it hides. Return True if nothing was folded."""
        if not preview:
            return True
        marked = mark(preview.removesuffix("\n")).split("\n")
        parts = fold(preview.removesuffix("\n"), is_diff=_HUNK.search(preview) is not None) if folds else marked
        for part in parts:
            if isinstance(part, Fold):
                print_err(self._style.warn(f"  │ {describe(part)}"))
                continue
            colour = self._style.good if part.startswith("+") else self._style.bad if part.startswith("-") else str
            print_err(f"  │ {colour(part)}")
        return not any(isinstance(part, Fold) for part in parts)


def _format_question(row: ActionRow) -> str:
    """Return the question; for a child, with its name."""
    return f"{row.agent_name}: {row.prompt}" if row.parent_agent_id else row.prompt


def _format_outcome(row: ActionRow, outcome: str) -> str:
    return format_outcome(_format_question(row), outcome)


def _reject(row: ActionRow) -> Answer:
    return _UNAPPROVED if "approve" in row.decisions else _UNANSWERED


async def read_line() -> str | None:
    """Read the next typed line; None at the end of input. Cancelling it leaves the input unread."""
    loop = asyncio.get_running_loop()
    terminal = sys.stdin.fileno()
    ready = asyncio.Event()
    loop.add_reader(terminal, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(terminal)
    # A terminal delivers whole lines, one at a time.
    return os.read(terminal, _MAX_LINE_BYTES).decode("utf-8", "replace") or None
