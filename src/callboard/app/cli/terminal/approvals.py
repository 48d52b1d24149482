"""Approvals: asked in the terminal, or given and refused in place of a person as the person said beforehand."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import termios
from collections.abc import Callable, Container
from typing import Literal

from callboard.client.client import Client
from callboard.contracts.commands import ActionAnswered, RespondAction
from callboard.contracts.rows import ActionRow
from callboard.contracts.text.exact import Fold, describe, fold, mark

from .output import Style, mark_hidden, print_err
from .questions import Answer, count_commands, format_choices, parse_answer, preview_notes, read_context
from .wording import format_outcome

#: What is approved without a person: nothing, changes of files by the tools for it, or everything that asks.
Approve = Literal["none", "all-edits", "all"]
EDITING = ("Write", "Edit")
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_LONGEST_LINE = 4096


_NOBODYS = Answer("reject", reason="Nobody was there to approve it.", unattended=True)
_UNANSWERED = Answer("reject", reason="Nobody was there to answer it.", unattended=True)


class Approvals:
    """Answers the actions of a turn, one after another. `refused` counts those that nobody was there to approve."""

    def __init__(
        self,
        client: Client,
        session: str,
        standing: Approve | None,
        line: Callable[[str], None],
        asking: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """`standing` is None where a person is asked in the terminal. `asking` is called with True when a question is put, and
        with False when it is over."""
        self._asking = asking
        self._client = client
        self._session = session
        self._standing: Approve | None = standing
        self._line = line
        self._style = Style(sys.stderr)
        self._open: dict[str, asyncio.Event] = {}
        self._others: set[str] = set()
        self._queue: asyncio.Queue[ActionRow] = asyncio.Queue()
        self.refused = 0
        self._asked: ActionRow | None = None

    def abandon_question(self) -> bool:
        """The person wants to stop: what becomes of the question is no news. Returns whether there was one."""
        asked, self._asked = self._asked, None
        return asked is not None

    def request_answer(self, row: ActionRow) -> None:
        """An action waits for an answer."""
        if row.action_id not in self._open:
            self._open[row.action_id] = asyncio.Event()
            self._queue.put_nowait(row)

    def request_answer_elsewhere(self, row: ActionRow) -> None:
        """An action of a child that has its work from elsewhere. A person is asked; what was said beforehand is not of it."""
        if self._standing is None:
            self.request_answer(row)
        elif row.action_id not in self._others:
            self._others.add(row.action_id)
            self._line(self._style.warn(f"  · {_came_to(row, 'not of this turn, so not answered here')}"))

    def settle(self, action: str) -> None:
        """An action no longer waits: it was answered, here or elsewhere, or withdrawn."""
        if action not in self._open or self._open[action].is_set():
            return
        self._open[action].set()
        if self._asked is not None and self._asked.action_id == action:
            # Told here and not by the task that asks: what follows in the turn may be printed before that runs.
            print_err()
            self._elsewhere(self._asked)
            self._asked = None

    def settle_except(self, actions: Container[str]) -> None:
        """All but these no longer wait."""
        for action in self._open:
            if action not in actions:
                self.settle(action)

    async def run(self) -> None:
        """Answers for ever."""
        while True:
            row = await self._queue.get()
            answer = await self._answer(row)
            if answer is None:
                continue
            given: ActionAnswered = await self._client.submit(
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
            if not given.first:
                self._elsewhere(row)

    async def _answer(self, row: ActionRow) -> Answer | None:
        """The answer, or None where it was settled elsewhere before there was one."""
        if self._open[row.action_id].is_set():
            return None
        if self._standing is not None:
            return self._stands(row, self._standing)
        self._asking(True)
        asking = asyncio.create_task(self._ask(row))
        gone = asyncio.create_task(self._open[row.action_id].wait())
        self._asked = row
        try:
            await asyncio.wait((asking, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._asked = None
            gone.cancel()
            asking.cancel()
            await asyncio.gather(asking, gone, return_exceptions=True)
            self._asking(False)
        return None if self._open[row.action_id].is_set() else asking.result()

    def _elsewhere(self, row: ActionRow) -> None:
        self._line(self._style.dim(f"  · {_came_to(row, 'settled elsewhere')}"))

    def _stands(self, row: ActionRow, standing: Approve) -> Answer:
        # What only a person knows or can do, such as to log in somewhere, is not approved beforehand.
        approvable = "approve" in row.decisions and row.action_type != "credential_request"
        if approvable and (standing == "all" or (standing == "all-edits" and row.tool in EDITING)):
            self._line(self._style.dim(f"  · {_came_to(row, f'approved by --approve {standing}')}"))
            return Answer("approve")
        self.refused += 1
        became = (
            "rejected, since nobody is there to approve it" if approvable else "not answered, since nobody is there"
        )
        self._line(self._style.warn(f"  · {_came_to(row, became)}"))
        return _nobodys(row)

    async def _ask(self, row: ActionRow) -> Answer:
        preview = await self._client.read_text(row.preview) if row.preview is not None else ""
        whole = await self._client.read_text(row.arguments)
        there = read_context(row, whole)
        question = " ".join(mark_hidden(_whose(row)).split())
        if preview:
            # What would run comes first: a question above it could draw the eye from it.
            self._line(f"{self._style.warn('?')} {mark_hidden(row.tool)}  {self._risk(row)}")
        shown = self._show(preview)
        for line in preview_notes(preview, whole, count_commands(row)):
            print_err(self._style.warn(f"  │ {line}"))
        if preview:
            print_err(self._style.bold(question))
        else:
            self._line(f"{self._style.warn('?')} {self._style.bold(question)}  {self._risk(row)}")
        for line in there.lines():
            print_err(f"  │ {line}")
        # What was typed before the question was there is no answer to it.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        while True:
            print_err(f"{format_choices(row, there, more=not shown)} ", end="")
            line = await read_line()
            answer = parse_answer(line, row, there)
            if answer is not None:
                return answer
            if line is None:
                self.refused += 1
                return _nobodys(row)
            if line.strip().lower() == "v":
                shown = self._show(preview, folds=False)

    def _risk(self, row: ActionRow) -> str:
        return self._style.dim(f"risk {row.risk}{f', {row.policy}' if row.policy else ''}")

    def _show(self, preview: str, *, folds: bool = True) -> bool:
        """Print what would be done, with its end; a fold says how much it hides. Return True if that was all of it."""
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


def _whose(row: ActionRow) -> str:
    """The question; that of a child names it."""
    return f"{row.agent_name}: {row.prompt}" if row.parent_agent_id else row.prompt


def _came_to(row: ActionRow, then: str) -> str:
    return format_outcome(_whose(row), then)


def _nobodys(row: ActionRow) -> Answer:
    return _NOBODYS if "approve" in row.decisions else _UNANSWERED


async def read_line() -> str | None:
    """The next line that the person types; None at the end of input. Can be cancelled, and leaves the rest unread."""
    loop = asyncio.get_running_loop()
    terminal = sys.stdin.fileno()
    ready = asyncio.Event()
    loop.add_reader(terminal, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(terminal)
    # A terminal hands out whole lines, one at a time.
    return os.read(terminal, _LONGEST_LINE).decode("utf-8", "replace") or None
