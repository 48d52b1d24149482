"""Run configurations: the definition, prompt layers, tools and route of a run.

Prompts are layered (system, instructions, role, mode, task) and stored as blobs, so that their
hashes identify what the agent received. The role blob holds the whole definition, so that a run
keeps the one it started with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec

from callboard.contracts.content import Blob, make_blob
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.model import Candidate
from callboard.contracts.facts.permission import Rule
from callboard.contracts.facts.turn import Mode, PermissionMode, PromptLayer, PromptRef
from callboard.contracts.ports.agents import Definition, Roster
from callboard.contracts.ports.model import Route, ToolSpec
from callboard.contracts.ports.tools import ToolContext
from callboard.contracts.team_tools import PROPOSE_PLAN
from callboard.control.decision_inputs import EXTERNAL_PROVIDERS, RunConfig, ToolCatalog
from callboard.control.resolved_context import EMPTY_CONTEXT
from callboard.control.state.agent_definitions import build_session_roster
from callboard.control.state.session import Session
from callboard.control.state.turn import OpenRun

from ..dependencies import Dependencies
from ..secrets.append_redactor import redact_value
from ..workspaces.context import WorkspaceContext
from .instructions import read_instructions
from .team_instructions import describe_team, list_team_tools
from .tool_catalog import add_settings, build_catalog

_SYSTEM = """You are an agent in Callboard, which runs agents on real folders and records every step.
You work in one folder. Paths are relative to it. Use the tools to read, search and change files. Text alone changes nothing.
A gate checks every call, and a person may reject it. Then choose another way, or say what you need.
Answer briefly, in Markdown, in the language of the person. Refer to code as path:line."""

_MODES: dict[Mode, str] = {
    "chat": "You talk with a person. Call one tool at a time. Answer when you have what you need.",
    "auto": "You work on the objective autonomously. No person reads your messages. When the objective is met, call "
    "`finalize` with a summary. Text alone does not end your work.",
}
#: Mode `auto` of a subagent or background agent, whose text can become its result.
_DELEGATED = (
    "You work on the objective autonomously. No person reads your messages. When the objective is met, call `finalize` with "
    "a summary. After text alone you receive one reminder. Then your text becomes your result, marked as not finalized."
)

_LAYERS: tuple[PromptLayer, ...] = ("system", "instructions", "role", "mode", "task")
_MARKDOWN = "text/markdown; charset=utf-8"
_PLANNING_ONLY = "You are in planning mode. Read and think. Write only documents."
#: Added if the agent has propose_plan.
_PROPOSE = (
    "When the plan is ready, call propose_plan. It shows the person your plan and waits for their decision. If they accept "
    "it, you carry it out in your next turn. If they request changes, propose a revised plan."
)


@dataclass(frozen=True)
class RunStart:
    """What a run uses until it ends: its definition, the prompt layers as text and the tools.

    `prompts` name the layers in the log.
    """

    definition: Definition
    prompts: tuple[PromptRef, ...]
    system: tuple[str, ...]
    specs: tuple[ToolSpec, ...]


@dataclass(frozen=True)
class _BuiltConfig:
    """A run start with its blobs, the roster's hash, the tool catalog and the folder's instructions."""

    setup: RunStart
    blobs: tuple[Blob, ...]
    roster: str
    catalog: ToolCatalog
    context: ToolContext
    instruction_text: str


class RunConfigBuilder:
    """Builds run configurations for all folders. Equal definitions and modes give equal ones."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._built: dict[tuple[str, str, Mode, PermissionMode], _BuiltConfig] = {}

    def build(
        self,
        workspace: WorkspaceContext,
        definition: str,
        mode: Mode,
        permission_mode: PermissionMode,
        session: Session,
    ) -> RunConfig:
        """Return the configuration of a run that would start now. An empty definition means the lead."""
        folder, definitions = workspace.folder, self._dependencies.definitions
        folder_roster = definitions.read_roster(folder)
        roster = build_session_roster(folder_roster, session)
        lead = folder_roster.find(folder_roster.lead) or definitions.find_lead(folder)
        name = definition or lead.name
        agent = redact_value(roster.find(name) or definitions.get(folder, name), self._dependencies.secrets)
        permitted = workspace.limit_mode(permission_mode, agent)
        external = agent.provider in EXTERNAL_PROVIDERS
        # An external agent reads the folder's files itself.
        resolved, instruction_text = (
            (EMPTY_CONTEXT, "") if external else read_instructions(self._dependencies, workspace)
        )
        built = self._get_built(workspace, agent, mode, permitted, roster, instruction_text)
        route = (
            _build_external_route(agent)
            if agent.provider in EXTERNAL_PROVIDERS
            else self._dependencies.models.choose_route(agent.model)
        )
        return RunConfig(
            agent_name=agent.name,
            kind=agent.kind,
            definition=agent.name,
            definition_hash=agent.hash,
            max_iters=agent.max_iters,
            prompts=built.setup.prompts,
            prompt_blobs=built.blobs,
            tools=() if external else tuple(spec.name for spec in built.setup.specs),
            catalog=None if external else built.catalog,
            servers=() if external else self._dependencies.toolbox.list_servers(built.context),
            candidates=tuple(
                Candidate(provider=provider, model=model, excluded=route.excluded[index] if route.excluded else "")
                for index, (provider, model) in enumerate(route.candidates)
            ),
            fallbacks=route.fallbacks,
            chosen=route.chosen,
            route_reason=route.reason,
            workspace_sequence=workspace.sequence,
            permission_mode=permitted,
            instructions=resolved,
        )

    def build_preview_context(
        self,
        workspace: WorkspaceContext,
        definition: str,
        mode: Mode,
        permission_mode: PermissionMode,
        session: Session,
    ) -> ToolContext:
        """Return the context in which a run would call tools if it started now."""
        definitions = self._dependencies.definitions
        roster = build_session_roster(definitions.read_roster(workspace.folder), session)
        name = definition or definitions.find_lead(workspace.folder).name
        agent = roster.find(name) or definitions.get(workspace.folder, name)
        limited = workspace.limit_mode(permission_mode, agent)
        base = build_tool_context(workspace.folder, agent, mode, limited, teamwork=list_team_tools(agent, roster))
        return add_settings(base, workspace.settings)

    def find_start(self, prompts: tuple[PromptRef, ...]) -> RunStart | None:
        """Return the start with these prompts, if it is the newest of its definition and modes."""
        return next((built.setup for built in self._built.values() if built.setup.prompts == prompts), None)

    async def wait_ready(self, workspace: WorkspaceContext) -> None:
        """Wait for the folder's tool servers, within their time limit."""
        if workspace.settings.servers:
            await self._dependencies.toolbox.prepare(build_folder_context(workspace))

    async def add_loaded_tools(self, workspace: WorkspaceContext, run: OpenRun, start: RunStart) -> RunStart:
        """Return the start with the tools that the run has loaded since, if they are available."""
        await self.wait_ready(workspace)
        base = build_tool_context(workspace.folder, start.definition, run.mode, run.permission_mode, teamwork=run.tools)
        context = msgspec.structs.replace(add_settings(base, workspace.settings), loaded_tools=run.tools)
        names = {spec.name for spec in start.specs}
        more = tuple(
            spec
            for spec in self._dependencies.toolbox.list_specs(context)
            if spec.name in run.tools and spec.name not in names
        )
        return replace(start, specs=(*start.specs, *more)) if more else start

    async def restore_start(self, workspace: WorkspaceContext, run: OpenRun) -> RunStart:
        """Return the start of a run from its blobs."""
        layers: dict[PromptLayer, bytes] = {prompt.layer: await self._read(prompt) for prompt in run.prompts}
        try:
            agent = msgspec.json.decode(layers.pop("role", b""), type=Definition)
        except msgspec.MsgspecError as error:
            raise _build_refusal(f"the definition of {run.definition}") from error
        texts: Mapping[PromptLayer, str] = {layer: data.decode() for layer, data in layers.items()}
        context = build_tool_context(workspace.folder, agent, run.mode, run.permission_mode, teamwork=run.tools)
        specs = self._dependencies.toolbox.list_specs(context)
        return RunStart(
            definition=agent,
            prompts=run.prompts,
            system=_list_system_texts(agent, texts),
            specs=tuple(spec for spec in specs if spec.name in run.tools),
        )

    def _get_built(
        self,
        workspace: WorkspaceContext,
        agent: Definition,
        mode: Mode,
        permission_mode: PermissionMode,
        roster: Roster,
        instruction_text: str,
    ) -> _BuiltConfig:
        key = (workspace.folder, agent.name, mode, permission_mode)
        built = self._built.get(key)
        if (
            built is None
            or built.setup.definition != agent
            or built.roster != roster.hash
            or built.instruction_text != instruction_text
        ):
            built = self._built[key] = self._build(workspace, agent, mode, permission_mode, roster, instruction_text)
        # Servers can add tools while the definition stays the same.
        context = add_settings(built.context, workspace.settings)
        if context != built.context or context.servers:
            specs = self._dependencies.toolbox.list_specs(context)
            tools = build_catalog(self._dependencies.toolbox.list_tools(context))
            built = self._built[key] = replace(
                built, setup=replace(built.setup, specs=specs), catalog=tools, context=context
            )
        return built

    def _build(
        self,
        workspace: WorkspaceContext,
        agent: Definition,
        mode: Mode,
        permission_mode: PermissionMode,
        roster: Roster,
        instruction_text: str,
    ) -> _BuiltConfig:
        base = build_tool_context(
            workspace.folder, agent, mode, permission_mode, teamwork=list_team_tools(agent, roster)
        )
        context = add_settings(base, workspace.settings)
        specs = self._dependencies.toolbox.list_specs(context)
        texts: dict[PromptLayer, str] = {
            "system": _SYSTEM,
            "mode": _describe_mode(agent, mode, permission_mode, specs),
            "task": "\n".join(
                part for part in (f"The folder is {workspace.folder}.", describe_team(agent, roster)) if part
            ),
        }
        if instruction_text:
            texts["instructions"] = instruction_text
        texts = redact_value(texts, self._dependencies.secrets)
        blobs: dict[PromptLayer, Blob] = {layer: make_blob(text.encode(), _MARKDOWN) for layer, text in texts.items()}
        blobs["role"] = make_blob(msgspec.json.encode(agent), "application/json")
        prompts = tuple(
            PromptRef(layer=layer, hash=blobs[layer].ref.hash, size=blobs[layer].ref.size)
            for layer in _LAYERS
            if layer in blobs
        )
        start = RunStart(
            definition=agent,
            prompts=prompts,
            system=_list_system_texts(agent, texts),
            specs=specs,
        )
        tools = self._dependencies.toolbox.list_tools(context)
        return _BuiltConfig(start, tuple(blobs.values()), roster.hash, build_catalog(tools), context, instruction_text)

    async def _read(self, prompt: PromptRef) -> bytes:
        data = await self._dependencies.store.blobs.get(prompt.hash)
        if data is None:
            raise _build_refusal(f"its prompt layer {prompt.layer}")
        return data


def build_tool_context(
    folder: str,
    agent: Definition,
    mode: Mode,
    permission_mode: PermissionMode,
    rules: tuple[Rule, ...] = (),
    teamwork: tuple[str, ...] = (),
) -> ToolContext:
    """Return the context in which an agent evaluates and runs tools."""
    return ToolContext(
        folder=folder,
        agent=agent.name,
        definition_hash=agent.hash,
        tools=agent.tools,
        policy=agent.policy,
        mode=mode,
        permission_mode=permission_mode,
        rules=rules,
        teamwork=teamwork,
        work_globs=agent.work_globs,
    )


def build_folder_context(workspace: WorkspaceContext) -> ToolContext:
    """Return a context without an agent, for the folder's tool servers."""
    context = ToolContext(
        folder=workspace.folder,
        agent="",
        definition_hash="",
        tools=(),
        policy=(),
        mode="chat",
        permission_mode="planning",
    )
    return add_settings(context, workspace.settings)


def _build_external_route(agent: Definition) -> Route:
    """Return the route to an external agent: nothing is chosen, and its version is unknown until it starts."""
    if agent.provider == "a2a":
        return Route(candidates=((agent.provider, agent.name),), chosen=0, reason="the agent is remote")
    # `env NAME=value program` starts that program.
    words = [word for word in agent.command if word != "env" and "=" not in word]
    name = words[0].rpartition("/")[2] if words else agent.name
    return Route(candidates=((agent.provider, name),), chosen=0, reason="the agent is an external program")


def _describe_mode(agent: Definition, mode: Mode, permission_mode: PermissionMode, specs: tuple[ToolSpec, ...]) -> str:
    works_for_others = mode == "auto" and agent.kind in {"subagent", "background"}
    text = _DELEGATED if works_for_others else _MODES[mode]
    if permission_mode != "planning":
        return text
    proposes = any(spec.name == PROPOSE_PLAN for spec in specs)
    return "\n".join((text, _PLANNING_ONLY, *((_PROPOSE,) if proposes else ())))


def _list_system_texts(agent: Definition, texts: Mapping[PromptLayer, str]) -> tuple[str, ...]:
    layers = (agent.prompt if layer == "role" else texts.get(layer, "") for layer in _LAYERS)
    return tuple(text for text in layers if text)


def _build_refusal(subject: str) -> Refusal:
    return Refusal(
        "store_unusable",
        f"The run cannot continue: {subject} is missing or damaged.",
        hint="Interrupt the turn and submit it again.",
    )
