"""The ports that the runtime uses, and its limits."""

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
from callboard.contracts.ports.settings import SettingsStore
from callboard.contracts.ports.store import Store
from callboard.contracts.ports.tools import Toolbox
from callboard.contracts.ports.uploads import Uploads
from callboard.contracts.settings import RetrySettings
from callboard.secrets.redaction import Redaction

from .clock import Clock, UuidIds
from .secrets.append_redactor import AppendRedactor


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a runtime. Times are in seconds, sizes in bytes.

    Attributes:
        context_steps: Number of steps of a thread's older turns that its model receives.
        frame_interval: Longest time that text waits to share a frame.
        partial_interval: Longest time between two writes of a partial.
        partial_bytes: Size of unwritten text at which a partial is written immediately.
        fold_behind: Longest time until facts are folded into rows without a reader.
        write_behind: Delay before rows are written.
        retry_interval: Delay before a write is retried that a full disk refused.
        approval_expiry: Time after which a pending action expires. 0 never expires it.
        model_retry: Retry settings that replace those of the settings files.
        idle: Time after which an unused session is closed.
        idle_waiting: The same for a session that waits for a person or sleeps.
        snapshot_turns: Number of newest turns in a snapshot.
        snapshot_bytes: Largest size of a snapshot.
        ring_bytes: Largest size of the operations kept for clients that come back.
        replay: How long those operations are kept. An older client receives a snapshot.
        rebuild_wait: How long a list waits for rows that are being rebuilt.
        team_budget: Number of children of one agent that work in parallel.
        group_budget: Number of children of one provider that work in parallel.
        clock_interval: Longest time between two looks at the clock. It may be set, and a machine
            may sleep.
        external_silence: Longest silence of an external agent that is working.
        external_stop: Time that an external agent has to stop.
        external_grace: Time after which a call that an external agent reports as running counts as
            run without a question.
        plan_interval: Shortest time between two records of a plan.
        remote_interval: Shortest time between two records of a remote task in one state.
        export_interval: Shortest time between two records of an export's progress.
    """

    context_steps: int = 2000
    frame_interval: float = 0.02
    partial_interval: float = 1.0
    partial_bytes: int = 2048
    fold_behind: float = 5.0
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
    """The packages below the runtime, behind their ports.

    A feature without its port is refused. `on_folder_served` receives the path of each folder
    that this process serves. No workspace may be opened in `closed_folders`, where Callboard keeps
    its state and keys. `secrets` redacts what enters the runtime; `append_redactor` redacts what is
    appended to the log.
    """

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
    settings: SettingsStore | None = None
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
        """Return the id of this writer: the id of the store and the writer's epoch."""
        return f"{self.store.id}.{self.store.epoch}"
