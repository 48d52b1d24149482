"""What comes in from outside a decision: time, fresh ids, and what only an index or another stream knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from callboard.contracts.content import Blob
from callboard.contracts.entities.tool_inventory import ServerState
from callboard.contracts.facts.routing import Candidate
from callboard.contracts.facts.thread import AgentKind
from callboard.contracts.facts.turn import Mode, PermissionMode, PromptRef
from callboard.contracts.ids import Ids
from callboard.contracts.ports.agents import Definition, Schedule
from callboard.contracts.ports.tools import Evaluation
from callboard.contracts.scope import PERSON, Actor

from .resolved_context import EMPTY_CONTEXT, ResolvedContext
from .state.context import ModelCapabilities


class ToolCatalog(msgspec.Struct, frozen=True, kw_only=True):
    """Which tools an agent has, as a blob, and how many of each availability (`contracts.inventory.ToolInfo`)."""

    blob: Blob
    loaded: int
    deferred: int
    blocked: int
    excluded: int


class RunConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What a run starts with: the agent's definition, its prompt layers, the tools it is told of and the model's route.

    `prompt_blobs` are the layers' bytes; they are stored with the first fact that names them. `permission_mode` is the one that
    was asked for, narrowed by the definition; None where that narrows nothing. `instructions` are what files of the folder say;
    `fallbacks` the indexes of the candidates that are asked, in that order, where the chosen one fails for good.
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


#: What runs an agent that is not of our loop: a program of its own, or one that is elsewhere.
EXTERNAL_PROVIDERS = frozenset({"acp", "a2a"})
_WIDTH: tuple[PermissionMode, ...] = ("planning", "ask", "edits", "full")


def narrow_mode(one: PermissionMode, other: PermissionMode | None) -> PermissionMode:
    """The mode that allows less. A definition and a parent narrow; neither widens."""
    return one if other is None or _WIDTH.index(one) <= _WIDTH.index(other) else other


def _nobody(name: str) -> Definition | None:
    return None


def _no_names() -> tuple[str, ...]:
    return ()


def _unpinned(name: str) -> ResolvedContext:
    return EMPTY_CONTEXT


def _unknown(provider: str, model: str) -> ModelCapabilities:
    return ModelCapabilities()


def _as_asked(definition: str, mode: PermissionMode) -> PermissionMode:
    return mode


def _never(schedule: Schedule, after: int) -> int:
    return 0


class DecisionInputs(msgspec.Struct, frozen=True, kw_only=True):
    """`now` is in microseconds since the epoch. `setup` gives what a run of that definition and modes would start with;
    it raises Refusal where none can start.

    `closed` holds those of the ids that a command names which are terminal. `evaluation` is the gate's fresh verdict on the
    call that an approval is for, `evaluations` its fresh verdicts on calls that wait for others of their answer.
    `context_steps` is how many steps of older turns a model is told of at most. `approval_expiry_us` is how long an action
    waits, 0 for ever. `find` gives the definition that a name or an alias reaches, `names` those that there are. `team_budget`
    is how many children of one parent work at once, `group_budget` how many of one provider. `next_wake` is the first time of
    a schedule after one that is given, 0 where none comes; `archived` says that a person closed the session, so that nothing
    of it wakes by itself. `given` is what the input of the command brings, `pin` what a name that is pinned stands for now;
    `takes` says what a model takes, and `compact_at` at which share of its window the older part of a thread is summarised.
    `usual_mode` is that of a turn for which nobody chose one, by the settings; `permitted` narrows a mode to what the folder
    and a definition allow; `withheld` says that the folder's files ask for more than they have. `actor` is who gives the
    command.
    """

    now: int
    ids: Ids
    configure_run: Callable[[str, Mode, PermissionMode], RunConfig]
    workspace: str = ""
    folder: str = ""
    epoch: int = 0
    closed_ids: frozenset[str] = frozenset()
    evaluation: Evaluation | None = None
    evaluations: Mapping[str, Evaluation] = msgspec.field(default_factory=dict[str, Evaluation])
    context_steps: int = 2000
    approval_expiry_us: int = 0
    find_definition: Callable[[str], Definition | None] = _nobody
    list_definition_names: Callable[[], tuple[str, ...]] = _no_names
    team_budget: int = 8
    group_budget: int = 16
    next_wake: Callable[[Schedule, int], int] = _never
    is_archived: bool = False
    resolved_context: ResolvedContext = EMPTY_CONTEXT
    resolve_pin: Callable[[str], ResolvedContext] = _unpinned
    find_capabilities: Callable[[str, str], ModelCapabilities] = _unknown
    compact_at: float = 0.8
    default_mode: PermissionMode = "ask"
    limit_mode: Callable[[str, PermissionMode], PermissionMode] = _as_asked
    is_trust_withheld: bool = False
    actor: Actor = PERSON


def limit_carried_mode(inputs: DecisionInputs, mode: PermissionMode) -> PermissionMode:
    """A mode that goes on and was not chosen for what begins now. It may have come from the folder's files while they were
    trusted: where those ask for more than they have, nothing wider than the usual one is carried on."""
    return narrow_mode(mode, inputs.default_mode if inputs.is_trust_withheld else None)
