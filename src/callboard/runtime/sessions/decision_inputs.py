"""The inputs of a session's decisions: time, ids, workspace, closed ids and gate results."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.session_import import ImportTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.ports.agents import Roster
from callboard.contracts.scope import Actor
from callboard.control.decide import SessionCommand
from callboard.control.decision_inputs import EXTERNAL_PROVIDERS, DecisionInputs, RunConfig, narrow_mode
from callboard.control.resolved_context import EMPTY_CONTEXT
from callboard.control.state.agent_definitions import build_session_roster
from callboard.control.state.context import ModelCapabilities

from ..dependencies import Dependencies
from ..prompts.context_resolver import ContextResolver
from ..session_state import SessionState
from ..workspaces.context import WorkspaceContext
from .gate_decisions import GateDecisions
from .run_context import RunContexts
from .schedules import find_next_wake

#: Fields of commands that name an entity which may be closed.
_ID_FIELDS = ("turn_id", "action_id", "handoff_id", "task_id", "review_id", "process_id", "artifact_id", "item_id")


class DecisionInputsBuilder:
    """Builds the decision inputs of one session."""

    def __init__(
        self,
        dependencies: Dependencies,
        session_state: SessionState,
        workspace: Callable[[], WorkspaceContext],
        *,
        runs: RunContexts,
        gate_decisions: GateDecisions,
    ) -> None:
        self._dependencies = dependencies
        self._session_state = session_state
        self._workspace = workspace
        self._runs = runs
        self._gate_decisions = gate_decisions
        self._context_resolver = ContextResolver(dependencies, session_state, workspace)

    async def build_for_command(self, request: SessionCommand, epoch: int, actor: Actor) -> DecisionInputs:
        """Return the inputs for a command.

        They include its actor, the closed ids that it names, and the gate's result on
        the call that it approves.
        """
        state = self._session_state.state
        inputs = msgspec.structs.replace(await self.build_for_outcome(epoch), actor=actor)
        if isinstance(request, ImportTurn):
            # An imported turn keeps its own time.
            inputs = msgspec.structs.replace(inputs, now=request.at)
        values = [getattr(request, name, None) for name in _ID_FIELDS]
        ids = [value for value in values if isinstance(value, str)]
        if ids:
            closed_ids = await self._dependencies.store.facts.find_closed(state.session, ids)
            inputs = msgspec.structs.replace(inputs, closed_ids=closed_ids)
        resolved_context = await self._context_resolver.resolve(request)
        if resolved_context is not EMPTY_CONTEXT:
            inputs = msgspec.structs.replace(inputs, resolved_context=resolved_context)
        if isinstance(request, RespondAction) and request.decision == "approve":
            inputs = msgspec.structs.replace(
                inputs, evaluation=await self._gate_decisions.reevaluate(request.action_id)
            )
        return inputs

    async def build_for_outcome(self, epoch: int) -> DecisionInputs:
        """Return the inputs for an outcome. They include the gate's results on calls that may run next."""
        inputs = self.build_current(epoch)
        evaluations = await self._gate_decisions.evaluate_waiting()
        return msgspec.structs.replace(inputs, evaluations=evaluations) if evaluations else inputs

    def build_current(self, epoch: int) -> DecisionInputs:
        """Return the inputs that every decision needs."""
        workspace = self._workspace()
        state = self._session_state.state
        listed = workspace.sessions.get(self._session_state.state.session)
        # Read the roster once per decision, so that the decision sees one version.
        rosters: list[Roster] = []

        def roster() -> Roster:
            if not rosters:
                folder_roster = self._dependencies.definitions.read_roster(workspace.folder)
                rosters.append(build_session_roster(folder_roster, state))
            return rosters[0]

        def permitted(definition: str, mode: PermissionMode) -> PermissionMode:
            # A deleted definition starts no run, so only the folder's limit applies.
            agent = roster().find(definition)
            return (
                narrow_mode(mode, workspace.settings.permission_mode)
                if agent is None
                else workspace.limit_mode(mode, agent)
            )

        # Build each configuration once per decision: its instructions and definition are read from files.
        built: dict[tuple[str, Mode, PermissionMode], RunConfig] = {}

        def configure_run(definition: str, mode: Mode, permission_mode: PermissionMode) -> RunConfig:
            key = definition, mode, permission_mode
            if key not in built:
                config = self._runs.build_config(definition, mode, permission_mode)
                # An empty definition means the lead, whose turn starts in the same decision.
                built[key] = built[config.definition, mode, permission_mode] = config
            return built[key]

        return DecisionInputs(
            now=self._dependencies.clock.now(),
            ids=self._dependencies.ids,
            configure_run=configure_run,
            workspace=workspace.workspace,
            folder=workspace.folder,
            epoch=epoch,
            context_steps=self._dependencies.limits.context_steps,
            find_capabilities=partial(find_model_limits, self._dependencies),
            resolve_pin=self._context_resolver.resolve_pinned,
            compact_at=workspace.settings.context.compact_at,
            default_mode=workspace.settings.usual_mode,
            limit_mode=permitted,
            is_trust_withheld=workspace.settings.withheld,
            approval_expiry_us=int(self._dependencies.limits.approval_expiry * 1_000_000),
            find_definition=lambda name: roster().find(name),
            list_definition_names=lambda: tuple(
                definition_of_agent.name for definition_of_agent in roster().definitions
            ),
            team_budget=self._dependencies.limits.team_budget,
            group_budget=self._dependencies.limits.group_budget,
            next_wake=find_next_wake,
            is_archived=listed is not None and listed.archived,
        )


def find_model_limits(dependencies: Dependencies, provider: str, model: str) -> ModelCapabilities:
    """Return the limits of a model.

    They are unknown for an external agent and for a model that is no longer configured.
    """
    if provider in EXTERNAL_PROVIDERS:
        return ModelCapabilities()
    try:
        configured = dependencies.models.get_model(provider, model)
    except Refusal:
        return ModelCapabilities()
    return ModelCapabilities(window=configured.window, images=configured.images)
