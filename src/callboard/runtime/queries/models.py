"""Queries about models."""

from __future__ import annotations

from callboard.contracts.commands.model import (
    ListModels,
    ModelList,
    ModelTestResult,
    PreviewRoute,
    RoutePreview,
    TryModel,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import ModelCatalogPort
from callboard.control.decide.turn.routing import can_read_images, format_model, has_image_model
from callboard.control.decide.turn.start import require_thread
from callboard.control.decision_inputs import RunConfig
from callboard.control.state.context import ModelCapabilities
from callboard.control.state.session import Session
from callboard.control.state.turn import OpenRun

from ..dependencies import Dependencies
from ..prompts.run_config import RunConfigBuilder
from ..service import Service, answers
from ..session_registry import SessionRegistry
from ..sessions.decision_inputs import find_model_limits
from ..workspaces.context import WorkspaceContext
from ..workspaces.registry import WorkspaceRegistry


class ModelReads(Service):
    """Lists and tests models, and applies the deciders' routing rules to the next input."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        super().__init__(dependencies, sessions, workspaces)
        self._run_configs = RunConfigBuilder(dependencies)

    @answers(ListModels)
    async def list_models(self, _: ListModels) -> ModelList:
        """Return the configured models, and what this machine offers."""
        return await self._require_catalog().list_models()

    @answers(TryModel)
    async def test_model(self, query: TryModel) -> ModelTestResult:
        """Send a short question to a model."""
        return await self._require_catalog().test_model(query.name)

    @answers(PreviewRoute)
    async def preview_route(self, query: PreviewRoute) -> RoutePreview:
        """Return the route."""
        if query.session_id is not None:
            host = (await self._sessions.get(query.session_id)).host
            thread = require_thread(host.state, query.thread_id)
            return self._build_route(host.workspace, thread.definition, host.state, thread.run)
        if query.workspace_id is None:
            raise Refusal(
                "invalid_input",
                "preview_route needs a session or a workspace.",
                field="workspaceId",
                hint="Set sessionId or workspaceId.",
            )
        self._workspaces.get(query.workspace_id)
        return self._build_route(self._workspaces.context(query.workspace_id), "", Session(session=""), None)

    def _build_route(
        self, workspace: WorkspaceContext, definition: str, state: Session, run: OpenRun | None
    ) -> RoutePreview:
        setup: RunConfig = self._run_configs.build(workspace, definition, "chat", "ask", state)
        return RoutePreview(
            model=format_model(setup.candidates[setup.chosen]),
            images=has_image_model(setup, self._read_limits),
            running_model=f"{run.provider}/{run.model}" if run is not None else "",
            running_images=run is not None and can_read_images(run, self._read_limits),
        )

    def _require_catalog(self) -> ModelCatalogPort:
        if self._dependencies.model_catalog is None:
            raise Refusal(
                "model_unconfigured",
                "Model listing is not available in this process.",
                hint="Send it to a server that was started with `callboard`.",
            )
        return self._dependencies.model_catalog

    def _read_limits(self, provider: str, model: str) -> ModelCapabilities:
        return find_model_limits(self._dependencies, provider, model)
