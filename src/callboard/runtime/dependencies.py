"""What the rooms below give the runtime, and its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from callboard.contracts.ids import Ids
from callboard.contracts.ports.agents import Definitions
from callboard.contracts.ports.demos import Demos
from callboard.contracts.ports.external import ExternalAgents, RemoteAgents
from callboard.contracts.ports.live import LiveFeed
from callboard.contracts.ports.model import ModelCatalogPort, Models
from callboard.contracts.ports.past import PastSessions
from callboard.contracts.ports.processes import Shells
from callboard.contracts.ports.secrets import Secrets
from callboard.contracts.ports.settings import SettingsBook
from callboard.contracts.ports.store import Store
from callboard.contracts.ports.tools import Toolbox
from callboard.contracts.ports.uploads import Uploads
from callboard.contracts.settings import RetrySettings
from callboard.secrets.redaction import Redaction

from .clock import Clock, UuidIds
from .secrets.append_redactor import AppendRedactor


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What may be set. Times are in seconds unless the name says otherwise.

    `model_retry` stands in place of what the settings say.
    `context_steps` is how many steps of a thread's older turns its model is told of. `frame_interval` is the longest that a
    piece of text waits for others to share its frame; a partial is stored at least every `partial_interval` or `partial_bytes`.
    What a full disk refused is tried again every `try_again`. `idle` is how long a session that nobody uses stays in memory,
    `idle_waiting` how long one does that waits for a person, or sleeps. A client that was away for at most `replay` gets what
    it missed, as long as that is within `ring_bytes`; after that a snapshot, which is smaller. The clock is looked at for what
    is due at least every `look`, since it may be set and a machine may sleep. A list waits `rebuild_wait` for rows that are
    being made anew. `team_budget` is how many children of one agent work at once, `group_budget` how many of one provider. An
    agent that is a program of its own may say nothing for `external_silence` while it works, and take `external_stop` to stop;
    a call that it reports to go on counts as run without a question after `external_grace`; what changes in its plan is told
    at most every `plan_interval`, what one elsewhere says without another state of its task at most every `remote_interval`,
    and how far an export is at most every `export_interval`.
    """

    context_steps: int = 2000
    frame_interval: float = 0.02
    partial_interval: float = 1.0
    partial_bytes: int = 2048
    write_behind: float = 0.25
    retry_interval: float = 5.0
    approval_expiry: float = 0.0
    model_retry: RetrySettings | None = None
    idle: float = 60.0
    idle_waiting: float = 5.0
    snapshot_turns: int = 20
    snapshot_bytes: int = 200_000
    ring_bytes: int = 500_000
    replay: float = 30.0
    rebuild_wait: float = 1.0
    team_budget: int = 8
    group_budget: int = 16
    clock_interval: float = 60.0
    external_silence: float = 1800.0
    external_stop: float = 5.0
    external_grace: float = 10.0
    plan_interval: float = 0.25
    remote_interval: float = 1.0
    export_interval: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """The rooms below, behind their ports. In `closed_folders` no workspace is opened: the state and its keys.
    Without `external` no agent that is a program of its own can be started, without `remotes` none elsewhere is contacted,
    without `demos` there are none, without `desk` nobody is told of models, without `past` of past sessions of other products.
    Without `shells` nothing goes on in the background and nobody is told where commands run.
    Without `settings` nothing is set, and no folder is asked about. `folder_served` is called with the path of each folder that
    this process serves, at its start and as folders are opened. `secrets` redacts what comes in, and `last_look` what is
    appended."""

    store: Store
    feed: LiveFeed
    models: Models
    toolbox: Toolbox
    definitions: Definitions
    closed_folders: tuple[str, ...] = ()
    external_agents: ExternalAgents | None = None
    remote_agents: RemoteAgents | None = None
    demos: Demos | None = None
    uploads: Uploads | None = None
    settings: SettingsBook | None = None
    shells: Shells | None = None
    model_catalog: ModelCatalogPort | None = None
    past_sessions: PastSessions | None = None
    on_folder_served: Callable[[str], None] = lambda _: None
    secrets: Secrets = field(default_factory=Redaction)
    append_redactor: AppendRedactor = field(init=False)
    clock: Clock = field(default_factory=Clock)
    ids: Ids = field(default_factory=UuidIds)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        object.__setattr__(self, "append_redactor", AppendRedactor(self.secrets))

    @property
    def runtime_id(self) -> str:
        """Which process wrote a fact: the store and its writer's epoch."""
        return f"{self.store.id}.{self.store.epoch}"
