"""What a run starts with. Prompts are layered (system, role, mode, task) and kept as blobs, so that their hashes tell later
what an agent was told. The role is kept as the whole definition, so that a run goes on under what it began with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec

from callboard.contracts.commands.team_tools import PROPOSE_PLAN
from callboard.contracts.content import Blob, blob_of
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Rule
from callboard.contracts.facts.routing import Candidate
from callboard.contracts.facts.turn import Mode, PermissionMode, PromptLayer, PromptRef
from callboard.contracts.ports.agents import Definition, Roster
from callboard.contracts.ports.model import Route, ToolSpec
from callboard.contracts.ports.tools import ToolContext
from callboard.control.decision_inputs import EXTERNAL_PROVIDERS, RunConfig, ToolCatalog
from callboard.control.resolved_context import EMPTY_CONTEXT
from callboard.control.state.agent_definitions import session_roster
from callboard.control.state.session import OpenRun, Session

from ..dependencies import Dependencies
from ..secrets.append_redactor import redact_value
from ..workspaces.context import WorkspaceContext
from .instructions import read_instructions
from .team_instructions import describe_team, team_tools
from .tool_catalog import build_catalog, with_settings

_SYSTEM = """You are an agent in Callboard, which runs agents on real folders and records every step.
You work in one folder; paths are relative to it. Use the tools to read, search and change files: saying that something is
done does not do it. Every call passes a gate and a person may refuse it: then go another way or say what you need.
Answer in the language of the person, in Markdown, briefly, and name files as path:line where that helps."""

_MODES: dict[Mode, str] = {
    "chat": "You talk with a person. Ask for one tool at a time; when you have what you need, answer.",
    "auto": "You work the objective on your own. Nobody reads along. When it is met, call `finalize` with a summary; text "
    "alone ends nothing.",
}
#: In `auto`, of an agent that works for another agent or for a schedule: one that takes its text as its result.
_WORKS_FOR_OTHERS = (
    "You work the objective on your own. No person reads along. When it is met, call `finalize` with a summary. Text alone "
    "gets one reminder; then your text is your result, marked as not finalized."
)

_LAYERS: tuple[PromptLayer, ...] = ("system", "instructions", "role", "mode", "task")
_MARKDOWN = "text/markdown; charset=utf-8"
_PLANNING = "You are planning: read and think, and write nothing but documents."
#: Of an agent that can propose one.
_PROPOSES = (
    "When you know what is to be done, end with propose_plan: it shows the person your plan and waits for their decision. Once "
    "it is accepted it is carried out in your next turn; sent back with changes, propose it anew with them."
)


@dataclass(frozen=True)
class RunStart:
    """What a run needs while it goes on: its agent, the prompt layers as text and the tools as the model is told of them.

    `prompts` name the layers in the log.
    """

    definition: Definition
    prompts: tuple[PromptRef, ...]
    system: tuple[str, ...]
    specs: tuple[ToolSpec, ...]


@dataclass(frozen=True)
class _BuiltConfig:
    """A setup with the bytes of its layers, the hash of the roster that it tells of, all tools as its agent has them, and what
    files of the folder say."""

    setup: RunStart
    blobs: tuple[Blob, ...]
    roster: str
    catalog: ToolCatalog
    context: ToolContext
    said: str


class RunConfigBuilder:
    """Makes what runs start with, for all folders; the same definition and modes give the same."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._made: dict[tuple[str, str, Mode, PermissionMode], _BuiltConfig] = {}

    def build(
        self,
        workspace: WorkspaceContext,
        definition: str,
        mode: Mode,
        permission_mode: PermissionMode,
        session: Session,
    ) -> RunConfig:
        """What a run of this session would start with now. An empty definition is the lead's. Raises Refusal
        `unknown_agent`."""
        folder, definitions = workspace.folder, self._dependencies.definitions
        roster = session_roster(definitions.roster(folder), session)
        name = definition or definitions.lead(folder).name
        agent = redact_value(roster.find(name) or definitions.get(folder, name), self._dependencies.secrets)
        permitted = workspace.limit_mode(permission_mode, agent)
        external = agent.provider in EXTERNAL_PROVIDERS
        # A program of its own reads what it wants of a folder by itself.
        given, said = (EMPTY_CONTEXT, "") if external else read_instructions(self._dependencies, workspace)
        made = self._of(workspace, agent, mode, permitted, roster, said)
        route = (
            _elsewhere(agent) if agent.provider in EXTERNAL_PROVIDERS else self._dependencies.models.route(agent.model)
        )
        return RunConfig(
            agent_name=agent.name,
            kind=agent.kind,
            definition=agent.name,
            definition_hash=agent.hash,
            max_iters=agent.max_iters,
            prompts=made.setup.prompts,
            prompt_blobs=made.blobs,
            tools=() if external else tuple(spec.name for spec in made.setup.specs),
            catalog=None if external else made.catalog,
            servers=() if external else self._dependencies.toolbox.list_servers(made.context),
            candidates=tuple(
                Candidate(provider=provider, model=model, excluded=route.excluded[index] if route.excluded else "")
                for index, (provider, model) in enumerate(route.candidates)
            ),
            fallbacks=route.fallbacks,
            chosen=route.chosen,
            route_reason=route.reason,
            workspace_sequence=workspace.sequence,
            permission_mode=permitted,
            instructions=given,
        )

    def preview_context(
        self,
        workspace: WorkspaceContext,
        definition: str,
        mode: Mode,
        permission_mode: PermissionMode,
        session: Session,
    ) -> ToolContext:
        """On whose behalf a run of this session would call tools if it began now. Raises Refusal `unknown_agent`."""
        definitions = self._dependencies.definitions
        roster = session_roster(definitions.roster(workspace.folder), session)
        name = definition or definitions.lead(workspace.folder).name
        agent = roster.find(name) or definitions.get(workspace.folder, name)
        mode_of = workspace.limit_mode(permission_mode, agent)
        told = build_tool_context(workspace.folder, agent, mode, mode_of, teamwork=team_tools(agent, roster))
        return with_settings(told, workspace.settings)

    def find_start(self, prompts: tuple[PromptRef, ...]) -> RunStart | None:
        """The setup with these layers, where it is the newest of its definition and modes."""
        return next((made.setup for made in self._made.values() if made.setup.prompts == prompts), None)

    async def wait_ready(self, workspace: WorkspaceContext) -> None:
        """Waits for the servers of the folder, within their bound."""
        if workspace.settings.servers:
            await self._dependencies.toolbox.prepare(folder_context(workspace))

    async def with_loaded_tools(self, workspace: WorkspaceContext, run: OpenRun, setup: RunStart) -> RunStart:
        """The setup with the tools that the run looked for since it began, as far as they are there."""
        await self.wait_ready(workspace)
        told = build_tool_context(workspace.folder, setup.definition, run.mode, run.permission_mode, teamwork=run.tools)
        context = msgspec.structs.replace(with_settings(told, workspace.settings), loaded_tools=run.tools)
        known = {spec.name for spec in setup.specs}
        more = tuple(
            spec
            for spec in self._dependencies.toolbox.list_specs(context)
            if spec.name in run.tools and spec.name not in known
        )
        return replace(setup, specs=(*setup.specs, *more)) if more else setup

    async def restore_start(self, workspace: WorkspaceContext, run: OpenRun) -> RunStart:
        """What the run was told when it began, as the log has it. Raises Refusal `store_unusable` where it has it no more."""
        layers: dict[PromptLayer, bytes] = {prompt.layer: await self._read(prompt) for prompt in run.prompts}
        try:
            agent = msgspec.json.decode(layers.pop("role", b""), type=Definition)
        except msgspec.MsgspecError as error:
            raise _unreadable(f"the definition of {run.definition}") from error
        texts: Mapping[PromptLayer, str] = {layer: data.decode() for layer, data in layers.items()}
        context = build_tool_context(workspace.folder, agent, run.mode, run.permission_mode, teamwork=run.tools)
        specs = self._dependencies.toolbox.list_specs(context)
        return RunStart(
            definition=agent,
            prompts=run.prompts,
            system=_system(agent, texts),
            specs=tuple(spec for spec in specs if spec.name in run.tools),
        )

    def _of(
        self,
        workspace: WorkspaceContext,
        agent: Definition,
        mode: Mode,
        permission_mode: PermissionMode,
        roster: Roster,
        said: str,
    ) -> _BuiltConfig:
        key = (workspace.folder, agent.name, mode, permission_mode)
        made = self._made.get(key)
        if made is None or made.setup.definition != agent or made.roster != roster.hash or made.said != said:
            made = self._made[key] = self._make(workspace, agent, mode, permission_mode, roster, said)
        # What servers bring changes while the definition stays.
        context = with_settings(made.context, workspace.settings)
        if context != made.context or context.servers:
            specs = self._dependencies.toolbox.list_specs(context)
            told = build_catalog(self._dependencies.toolbox.list_tools(context))
            made = self._made[key] = replace(
                made, setup=replace(made.setup, specs=specs), catalog=told, context=context
            )
        return made

    def _make(
        self,
        workspace: WorkspaceContext,
        agent: Definition,
        mode: Mode,
        permission_mode: PermissionMode,
        roster: Roster,
        said: str,
    ) -> _BuiltConfig:
        told = build_tool_context(workspace.folder, agent, mode, permission_mode, teamwork=team_tools(agent, roster))
        context = with_settings(told, workspace.settings)
        specs = self._dependencies.toolbox.list_specs(context)
        texts: dict[PromptLayer, str] = {
            "system": _SYSTEM,
            "mode": _told_of_mode(agent, mode, permission_mode, specs),
            "task": "\n".join(
                part for part in (f"The folder is {workspace.folder}.", describe_team(agent, roster)) if part
            ),
        }
        if said:
            texts["instructions"] = said
        texts = redact_value(texts, self._dependencies.secrets)
        blobs: dict[PromptLayer, Blob] = {layer: blob_of(text.encode(), _MARKDOWN) for layer, text in texts.items()}
        blobs["role"] = blob_of(msgspec.json.encode(agent), "application/json")
        prompts = tuple(
            PromptRef(layer=layer, hash=blobs[layer].ref.hash, size=blobs[layer].ref.size)
            for layer in _LAYERS
            if layer in blobs
        )
        setup = RunStart(
            definition=agent,
            prompts=prompts,
            system=_system(agent, texts),
            specs=specs,
        )
        tools = self._dependencies.toolbox.list_tools(context)
        return _BuiltConfig(setup, tuple(blobs.values()), roster.hash, build_catalog(tools), context, said)

    async def _read(self, prompt: PromptRef) -> bytes:
        data = await self._dependencies.store.blobs.get(prompt.hash)
        if data is None:
            raise _unreadable(f"the prompt's layer {prompt.layer}")
        return data


def build_tool_context(
    folder: str,
    agent: Definition,
    mode: Mode,
    permission_mode: PermissionMode,
    rules: tuple[Rule, ...] = (),
    teamwork: tuple[str, ...] = (),
) -> ToolContext:
    """On whose behalf tools are evaluated and run."""
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


def folder_context(workspace: WorkspaceContext) -> ToolContext:
    """On behalf of nobody: as far as servers are concerned."""
    nobody = ToolContext(
        folder=workspace.folder,
        agent="",
        definition_hash="",
        tools=(),
        policy=(),
        mode="chat",
        permission_mode="planning",
    )
    return with_settings(nobody, workspace.settings)


def _elsewhere(agent: Definition) -> Route:
    """The route to an agent that is not of our loop: nothing is chosen. Its version is known once it is there."""
    if agent.provider == "a2a":
        return Route(candidates=((agent.provider, agent.name),), chosen=0, reason="the agent is elsewhere")
    # `env NAME=value program` starts that program.
    words = [word for word in agent.command if word != "env" and "=" not in word]
    name = words[0].rpartition("/")[2] if words else agent.name
    return Route(candidates=((agent.provider, name),), chosen=0, reason="the agent is a program of its own")


def _told_of_mode(agent: Definition, mode: Mode, permission_mode: PermissionMode, specs: tuple[ToolSpec, ...]) -> str:
    works_for_others = mode == "auto" and agent.kind in {"subagent", "background"}
    text = _WORKS_FOR_OTHERS if works_for_others else _MODES[mode]
    if permission_mode != "planning":
        return text
    proposes = any(spec.name == PROPOSE_PLAN for spec in specs)
    return "\n".join((text, _PLANNING, *((_PROPOSES,) if proposes else ())))


def _system(agent: Definition, texts: Mapping[PromptLayer, str]) -> tuple[str, ...]:
    told = (agent.prompt if layer == "role" else texts.get(layer, "") for layer in _LAYERS)
    return tuple(text for text in told if text)


def _unreadable(what: str) -> Refusal:
    return Refusal(
        "store_unusable",
        f"What the run was told when it began cannot be read: {what} is missing or damaged.",
        hint="Stop the turn and send it again.",
    )
