"""What a session's decisions know from outside: time, ids, the workspace, closed ids, the gate's present word."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import msgspec

from callboard.contracts.commands import ImportTurn, RespondAction
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.scope import Actor
from callboard.control.decide import SessionCommand
from callboard.control.decision_inputs import DecisionInputs, narrow_mode
from callboard.control.resolved_context import EMPTY_CONTEXT
from callboard.control.state.agent_definitions import session_roster

from ..dependencies import Dependencies
from ..prompts.context_resolver import ContextResolver
from ..session_state import SessionState
from ..workspaces.context import WorkspaceContext
from .gate_decisions import GateDecisions
from .model_limits import model_limits
from .run_context import RunContexts
from .schedules import next_wake

#: The fields of a command that name something which may be over.
_NAMING = ("turn_id", "action_id", "handoff_id", "task_id", "review_id", "process_id", "artifact_id", "item_id")


class DecisionInputsBuilder:
    """Gathers it for one session."""

    def __init__(
        self,
        dependencies: Dependencies,
        session_state: SessionState,
        workspace: Callable[[], WorkspaceContext],
        *,
        runs: RunContexts,
        verdicts: GateDecisions,
    ) -> None:
        self._dependencies = dependencies
        self._session_state = session_state
        self._workspace = workspace
        self._runs = runs
        self._verdicts = verdicts
        self._context_resolver = ContextResolver(dependencies, session_state, workspace)

    async def for_command(self, request: SessionCommand, epoch: int, actor: Actor) -> DecisionInputs:
        """When a command comes: also whose it is, which of the ids that it names are closed, and what the gate says of what it
        approves."""
        state = self._session_state.state
        known = msgspec.structs.replace(await self.for_outcome(epoch), actor=actor)
        if isinstance(request, ImportTurn):
            # What is taken over from elsewhere bears its own time.
            known = msgspec.structs.replace(known, now=request.at)
        named = [getattr(request, name, None) for name in _NAMING]
        ids = [one for one in named if isinstance(one, str)]
        if ids:
            closed_ids = await self._dependencies.store.facts.closed(state.session, ids)
            known = msgspec.structs.replace(known, closed_ids=closed_ids)
        resolved_context = await self._context_resolver.resolve(request)
        if resolved_context is not EMPTY_CONTEXT:
            known = msgspec.structs.replace(known, resolved_context=resolved_context)
        if isinstance(request, RespondAction) and request.decision == "approve":
            known = msgspec.structs.replace(known, evaluation=await self._verdicts.reevaluate(request.action_id))
        return known

    async def for_outcome(self, epoch: int) -> DecisionInputs:
        """When something is decided: also what the gate says of calls whose turn may come by that."""
        known = self.current(epoch)
        looks = await self._verdicts.evaluate_waiting()
        return msgspec.structs.replace(known, evaluations=looks) if looks else known

    def current(self, epoch: int) -> DecisionInputs:
        """At any time."""
        workspace = self._workspace()
        state = self._session_state.state
        listed = workspace.sessions.get(self._session_state.state.session)
        # One look at the folder's files is enough for a decision, and it sees one roster.
        roster = cache(lambda: session_roster(self._dependencies.definitions.roster(workspace.folder), state))

        def permitted(definition: str, mode: PermissionMode) -> PermissionMode:
            # A definition that is gone starts no run: what the folder allows is all that can be said of it.
            agent = roster().find(definition)
            return (
                narrow_mode(mode, workspace.settings.permission_mode)
                if agent is None
                else workspace.limit_mode(mode, agent)
            )

        return DecisionInputs(
            now=self._dependencies.clock.now(),
            ids=self._dependencies.ids,
            configure_run=self._runs.build_config,
            workspace=workspace.workspace,
            folder=workspace.folder,
            epoch=epoch,
            context_steps=self._dependencies.limits.context_steps,
            find_capabilities=partial(model_limits, self._dependencies),
            resolve_pin=self._context_resolver.resolve_pinned,
            compact_at=workspace.settings.context.compact_at,
            default_mode=workspace.settings.usual_mode,
            limit_mode=permitted,
            is_trust_withheld=workspace.settings.withheld,
            approval_expiry_us=int(self._dependencies.limits.approval_expiry * 1_000_000),
            find_definition=lambda name: roster().find(name),
            list_definition_names=lambda: tuple(one.name for one in roster().definitions),
            team_budget=self._dependencies.limits.team_budget,
            group_budget=self._dependencies.limits.group_budget,
            next_wake=next_wake,
            is_archived=listed is not None and listed.archived,
        )
