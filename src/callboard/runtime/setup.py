"""What a run starts with. Prompts are layered (system, role, mode, task) and kept as blobs, so that their hashes tell later
what an agent was told."""

from __future__ import annotations

from dataclasses import dataclass

from callboard.contracts.content import Blob, blob_of
from callboard.contracts.facts.permission import Rule
from callboard.contracts.facts.routing import Candidate
from callboard.contracts.facts.turn import Mode, PermissionMode, PromptLayer, PromptRef
from callboard.contracts.ports.agents import Definition
from callboard.contracts.ports.model import ToolSpec
from callboard.contracts.ports.tools import ToolContext
from callboard.control.known import Setup

from .parts import Parts

_SYSTEM = """You are an agent in Callboard, which runs agents on real folders and records every step.
You work in one folder; paths are relative to it. Use the tools to read, search and change files: saying that something is
done does not do it. Every call passes a gate and a person may refuse it: then go another way or say what you need.
Answer in the language of the person, in Markdown, briefly, and name files as path:line where that helps."""

_MODES: dict[Mode, str] = {
    "chat": "You talk with a person. Ask for one tool at a time; when you have what you need, answer.",
    "auto": "You work the objective on your own. Nobody reads along. When it is met, call Finalize with a summary; text alone "
    "ends nothing.",
}

_PLANNING = "You are planning: read and think, and write nothing but documents."


@dataclass(frozen=True)
class RunSetup:
    """What a run needs while it goes on: the prompt layers as text and the tools as the model is told of them."""

    setup: Setup
    definition: Definition
    system: tuple[str, ...]
    specs: tuple[ToolSpec, ...]


class Setups:
    """Makes the setups of a workspace's runs; the same definition and modes give the same one."""

    def __init__(self, parts: Parts, folder: str) -> None:
        self._parts = parts
        self._folder = folder
        self._made: dict[tuple[str, str, str], RunSetup] = {}

    def of(self, definition: str, mode: Mode, permission_mode: PermissionMode, workspace_sequence: int) -> RunSetup:
        """The setup of a run. An empty definition is the lead's. Raises Refusal `unknown_agent`, `model_unconfigured`."""
        definitions = self._parts.definitions
        agent = definitions.get(self._folder, definition) if definition else definitions.lead(self._folder)
        key = (agent.hash, mode, permission_mode)
        made = self._made.get(key)
        if made is None or made.setup.workspace_sequence != workspace_sequence:
            made = self._make(agent, mode, permission_mode, workspace_sequence)
            self._made[key] = made
        return made

    def context(
        self, agent: Definition, mode: Mode, permission_mode: PermissionMode, rules: tuple[Rule, ...]
    ) -> ToolContext:
        """On whose behalf tools are evaluated and run."""
        return ToolContext(
            folder=self._folder,
            agent=agent.name,
            definition_hash=agent.hash,
            tools=agent.tools,
            policy=agent.policy,
            mode=mode,
            permission_mode=permission_mode,
            rules=rules,
        )

    def _make(
        self, agent: Definition, mode: Mode, permission_mode: PermissionMode, workspace_sequence: int
    ) -> RunSetup:
        layers: list[tuple[PromptLayer, str]] = [("system", _SYSTEM), ("role", agent.prompt)]
        layers.append(("mode", f"{_MODES[mode]}\n{_PLANNING}" if permission_mode == "planning" else _MODES[mode]))
        layers.append(("task", f"The folder is {self._folder}."))
        kept: list[tuple[PromptLayer, Blob]] = [
            (layer, blob_of(text.encode(), "text/markdown; charset=utf-8")) for layer, text in layers if text
        ]
        route = self._parts.models.route(agent.model)
        specs = self._parts.toolbox.specs(self.context(agent, mode, permission_mode, ()))
        setup = Setup(
            agent_name=agent.name,
            kind=agent.kind,
            definition=agent.name,
            definition_hash=agent.hash,
            max_iters=agent.max_iters,
            prompts=tuple(PromptRef(layer=layer, hash=blob.ref.hash, size=blob.ref.size) for layer, blob in kept),
            prompt_blobs=tuple(blob for _, blob in kept),
            tools=tuple(spec.name for spec in specs),
            candidates=tuple(Candidate(provider=provider, model=model) for provider, model in route.candidates),
            chosen=route.chosen,
            route_reason=route.reason,
            workspace_sequence=workspace_sequence,
        )
        return RunSetup(setup=setup, definition=agent, system=tuple(text for _, text in layers if text), specs=specs)
