"""Inputs of a decision from outside of its stream: time, fresh ids, settings and other streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from callboard.contracts.content import Blob
from callboard.contracts.entities.tool_inventory import ServerState
from callboard.contracts.facts.model import Candidate
from callboard.contracts.facts.session import AgentKind
from callboard.contracts.facts.turn import Mode, PermissionMode, PromptRef
from callboard.contracts.ids import Ids
from callboard.contracts.ports.agents import Definition, Schedule
from callboard.contracts.ports.tools import Evaluation
from callboard.contracts.scope import PERSON, Actor

from .resolved_context import EMPTY_CONTEXT, ResolvedContext
from .state.context import ModelCapabilities


class ToolCatalog(msgspec.Struct, frozen=True, kw_only=True):
    """The tools of an agent as a blob, with the number in each state of availability
    (`contracts.inventory.ToolInfo`)."""

    blob: Blob
    loaded: int
    deferred: int
    blocked: int
    excluded: int


class RunConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of a run: the agent's definition, its prompt layers, its tools and the
    model's route.

    `prompt_blobs` are the bytes of the layers; the first fact that names them stores them.
    `permission_mode` is the requested mode, narrowed by the definition; None if the definition does
    not narrow it. `instructions` come from files of the folder. `fallbacks` are indexes of
    `candidates`, in the order in which they replace a chosen model that failed.
    """

    agent_name: str
    kind: AgentKind
    definition: str
    definition_hash: str
    max_iters: int
    prompts: tuple[PromptRef, ...]
    prompt_blobs: tuple[Blob, ...]
    tools: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    chosen: int
    route_reason: str
    workspace_sequence: int
    permission_mode: PermissionMode | None = None
    catalog: ToolCatalog | None = None
    servers: tuple[ServerState, ...] = ()
    instructions: ResolvedContext = EMPTY_CONTEXT
    fallbacks: tuple[int, ...] = ()


#: Providers of agents with their own loop: external agents and remote agents.
EXTERNAL_PROVIDERS = frozenset({"acp", "a2a"})
_WIDTH: tuple[PermissionMode, ...] = ("planning", "ask", "edits", "full")


def narrow_mode(mode: PermissionMode, other: PermissionMode | None) -> PermissionMode:
    """Return the mode that allows less. A definition or a parent can narrow a mode, never widen it."""
    return mode if other is None or _WIDTH.index(mode) <= _WIDTH.index(other) else other


def _find_no_definition(name: str) -> Definition | None:
    return None


def _list_no_names() -> tuple[str, ...]:
    return ()


def _resolve_nothing(name: str) -> ResolvedContext:
    return EMPTY_CONTEXT


def _find_no_capabilities(provider: str, model: str) -> ModelCapabilities:
    return ModelCapabilities()


def _accept_mode(definition: str, mode: PermissionMode) -> PermissionMode:
    return mode


def _find_no_wake(schedule: Schedule, after: int) -> int:
    return 0


class DecisionInputs(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs of a decision besides the state of its session.

    - `now`: time in microseconds since the epoch. `actor`: who sent the command.
    - `configure_run`: the configuration of a run with this definition and these modes; raises
      Refusal if no run can start.
    - `closed_ids`: the ended ones among the ids that a command names.
    - `evaluation`: the gate's fresh evaluation of the call that an approval is for. `evaluations`:
      those of queued calls.
    - `context_steps`: the maximum number of steps of older turns that a model receives.
    - `approval_expiry_us`: how long an action waits, 0 for no limit.
    - `find_definition`: the definition with a name or an alias. `list_definition_names`: all of
      them.
    - `team_budget`: the maximum number of running children per parent. `group_budget`: the same per
      provider.
    - `next_wake`: the first time of a schedule after the given one, 0 for none. `is_archived`: True
      prevents automatic wakes.
    - `resolved_context`: the context that came with the input of the command. `resolve_pin`: the
      present context of a pinned name.
    - `find_capabilities`: the capabilities of a model. `compact_at`: the share of its window at
      which a thread is compacted.
    - `default_mode`: the permission mode of the settings, for a turn that names none. `limit_mode`:
      a mode narrowed to what the folder and a definition allow. `is_trust_withheld`: the folder's
      files ask for permissions that it does not have.
    """

    now: int
    ids: Ids
    configure_run: Callable[[str, Mode, PermissionMode], RunConfig]
    workspace: str = ""
    folder: str = ""
    epoch: int = 0
    closed_ids: frozenset[str] = frozenset()
    evaluation: Evaluation | None = None
    evaluations: Mapping[str, Evaluation] = {}
    context_steps: int = 2000
    approval_expiry_us: int = 0
    find_definition: Callable[[str], Definition | None] = _find_no_definition
    list_definition_names: Callable[[], tuple[str, ...]] = _list_no_names
    team_budget: int = 8
    group_budget: int = 16
    next_wake: Callable[[Schedule, int], int] = _find_no_wake
    is_archived: bool = False
    resolved_context: ResolvedContext = EMPTY_CONTEXT
    resolve_pin: Callable[[str], ResolvedContext] = _resolve_nothing
    find_capabilities: Callable[[str, str], ModelCapabilities] = _find_no_capabilities
    compact_at: float = 0.8
    default_mode: PermissionMode = "ask"
    limit_mode: Callable[[str, PermissionMode], PermissionMode] = _accept_mode
    is_trust_withheld: bool = False
    actor: Actor = PERSON


def limit_carried_mode(inputs: DecisionInputs, mode: PermissionMode) -> PermissionMode:
    """Return a mode that an earlier turn chose, as it applies now. The mode may come from the
    folder's files while they were trusted. If the folder now lacks trust, it is not wider than the
    default mode."""
    return narrow_mode(mode, inputs.default_mode if inputs.is_trust_withheld else None)
