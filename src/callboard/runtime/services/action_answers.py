"""Answers to pending actions."""

from __future__ import annotations

from callboard.contracts.commands.action import ActionAnswered, RespondAction
from callboard.contracts.commands.base import Answer
from callboard.contracts.commands.permission import ResolvePermission
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.rows.action import ActionPart
from callboard.contracts.scope import Actor

from ..service import Service, carries_out


class ActionAnswers(Service):
    """Answers actions. If an action is settled, the first decision is the answer."""

    @carries_out(RespondAction)
    async def respond(self, command: RespondAction, actor: Actor, stored_answer: StoredAnswer | None) -> Answer:
        """Record a person's answer."""
        opened = await self._sessions.get(command.session_id)
        try:
            return await opened.host.run_command(command, actor, stored_answer)
        except Refusal as refusal:
            if refusal.code != "unknown_action":
                raise
            settled = await self._find_settled(command.session_id, command.action_id)
            if settled is None:
                raise
            return settled

    @carries_out(ResolvePermission)
    async def resolve(self, command: ResolvePermission, _: Actor, stored_answer: StoredAnswer | None) -> Answer:
        """Record a policy's answer, with the same checks as a person's."""
        response = RespondAction(
            session_id=command.session_id,
            action_id=command.action_id,
            decision=command.decision,
            scope=command.scope,
            reason=command.reason,
            expires_at=command.expires_at,
        )
        return await self.respond(response, Actor(kind="policy", id=command.policy), stored_answer)

    async def _find_settled(self, session: str, action: str) -> ActionAnswered | None:
        opened = await self._sessions.get(session)
        sequence = opened.host.state.sequence
        await opened.views.wait_for(sequence)
        await opened.views.flush()
        part = await self._dependencies.store.rows.read_row(session, "parts", action)
        if not isinstance(part, ActionPart) or part.outcome == "pending":
            return None
        return ActionAnswered(
            session_id=session, action_id=action, outcome=part.outcome, first=False, sequence=sequence
        )
