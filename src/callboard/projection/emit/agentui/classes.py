"""Which of Agent UI's event classes a fact is told as, and with which owner, scope, phase, surface and persistence.

Every type of fact has one row here. A row is what the fact is told as, or a function of the fact where that depends on what
it says. A fact with an empty row is told by others: the row says which.
"""

from __future__ import annotations

from callboard.contracts.facts import Fact
from callboard.contracts.live import FrameKind

from . import artifacts
from .artifacts import artifact
from .emission import (
    Emission,
    Row,
    answered,
    archived,
    diagnostic,
    failed_attempt,
    granted,
    interrupted,
    metric,
    permission,
    plan,
    queue,
    queued,
    reasoning,
    resolved,
    run,
    session,
    steer,
    text,
    tool,
)
from .team import (
    accepted,
    agent,
    completed,
    delivered,
    job,
    judged,
    lane,
    opened,
    remote,
    required,
    review,
    slept,
    task,
    team,
    told,
    updated,
)

_BY_OTHERS: tuple[Emission, ...] = ()

#: Every type of fact, by its tag.
CLASSES: dict[str, Row] = {
    "session.created": session("session.opened", "accepted"),
    "session.taken_over": (diagnostic("interrupted"),),
    "thread.opened": opened,
    "agent.connected": (agent("agent.changed", "accepted", "idle", connection="idle"),),
    "agent.mode.changed": (Emission("team.changed", "agent", "team", "accepted", "team_policy", "snapshot"),),
    "agent.disconnected": (agent("agent.changed", "waiting", "waiting", connection="disconnected"),),
    "agent.slept": slept,
    "agent.woke": job("waking"),
    "agent.defined": (Emission("team.changed", "agent", "team", "accepted", "team_policy", "snapshot"),),
    "agent.edge.added": (Emission("team.changed", "agent", "team", "accepted", "delegation_graph", "snapshot"),),
    "remote.task": remote,
    "remote.artifact": delivered,
    "plan.updated": plan,
    "thread.paused": (run("run.status", "waiting", "blocked", scope="thread"),),
    "thread.resumed": (run("run.status", "accepted", "accepted", scope="thread"),),
    "turn.submitted": (run("run.status", "submitted", "accepted", scope="turn", control="send"),),
    "turn.started": (run("run.started", "accepted", "accepted"),),
    "turn.interrupt.requested": (run("run.status", "acting", "streaming", control="interrupt"),),
    "turn.completed": (run("run.finished", "completed", "done"),),
    "turn.failed": (run("run.failed", "failed", "failed"),),
    "turn.interrupted": interrupted,
    "queue.added": queued,
    "queue.promoted": queue("promoted"),
    "queue.edited": queue("queued"),
    "queue.removed": queue("removed"),
    "queue.steer.requested": steer("submitted", "pending", "steer"),
    "queue.steer.accepted": steer("accepted", "accepted"),
    "queue.steer.rejected": steer("cancelled", "rejected"),
    "routing.resolved": (run("run.status", "routing", "routing"),),
    "model.requested": (
        run("run.status", "preparing", "preparing"),
        Emission("context.changed", "context", "run", "preparing", "diagnostics", "archive"),
    ),
    "model.completed": (metric(),),
    "model.failed": failed_attempt,
    "model.interrupted": (diagnostic("interrupted"),),
    "reasoning.completed": reasoning("reasoning"),
    "reasoning.interrupted": reasoning("interrupted"),
    "message.text": text("reconciling"),
    "message.interrupted": text("interrupted"),
    "output.final": (run("run.status", "reconciling", "streaming", scope="message"),),
    "cost.recorded": (metric(),),
    "tool.requested": tool("tool.args", "acting", "input-available", "model"),
    "permission.evaluated": permission("tool_call"),
    "sandbox.applied": permission("tool_call"),
    "tool.started": (*tool("tool.started", "acting", "running"), run("run.status", "acting", "streaming")),
    "tool.completed": tool("tool.result", "completed", "output-available"),
    "tool.failed": tool("tool.failed", "failed", "output-error"),
    "tool.refused": tool("tool.failed", "failed", "output-error"),
    "tool.lost": tool("tool.failed", "failed", "output-error"),
    "tool.cancelled": tool("tool.failed", "cancelled", "cancelled"),
    "action.required": required,
    "action.resolved": resolved,
    "action.expired": answered("cancelled", "expired"),
    "action.withdrawn": answered("cancelled", "withdrawn"),
    "permission.rule.added": granted,
    "permission.rule.revoked": permission("session"),
    "subagent.spawned": (agent("agent.changed", "accepted", "spawning", "delegation_graph", "delegate"),),
    "subagent.queued": (agent("agent.changed", "waiting", "waiting"),),
    "subagent.merge.requested": (
        Emission("agent.changed", "agent", "agent", "reconciling", "delegation_graph", "archive"),
    ),
    "subagent.merged": (Emission("agent.changed", "agent", "agent", "reconciling", "delegation_graph", "archive"),),
    "subagent.isolated": (agent("agent.changed", "preparing", "spawning"),),
    "subagent.started": (agent("agent.spawned", "acting", "running"), *task("acting", "running")),
    "subagent.continued": (agent("agent.changed", "accepted", "waiting", control="continue_agent"),),
    "subagent.completed": (agent("agent.completed", "completed", "completed"),),
    "subagent.failed": (agent("agent.completed", "failed", "failed"),),
    "subagent.cancelled": (agent("agent.completed", "cancelled", "killed", control="stop"),),
    "subagent.closed": (agent("agent.changed", "archived", "closed", control="close"),),
    "subagent.awaited": (agent("agent.changed", "waiting", "waiting", "delegation_graph", "wait"),),
    "worker.notification": told,
    "team.changed": team,
    "handoff.requested": lane("agent.changed", "submitted", "handoff_requested"),
    "handoff.accepted": accepted,
    "handoff.rejected": lane("agent.changed", "cancelled", "rejected"),
    "handoff.completed": completed,
    "handoff.reply.ended": lane("agent.changed", "completed", "returned"),
    "channel.opened": (Emission("agent.changed", "agent", "agent", "accepted", "teammate_transcript", "archive"),),
    "channel.message": (Emission("agent.changed", "agent", "agent", "acting", "teammate_transcript", "archive"),),
    "channel.closed": (Emission("agent.changed", "agent", "agent", "completed", "teammate_transcript", "archive"),),
    "inbox.reserved": _BY_OTHERS,  # told as agent.changed by what was sent and by its acceptance
    "inbox.consumed": _BY_OTHERS,
    "job.created": task("accepted", "open"),
    "job.item.retried": task("accepted", "open", "retry"),
    "task.created": task("accepted", "open"),
    "task.started": task("acting", "running"),
    "task.paused": task("waiting", "blocked"),
    "task.resumed": task("accepted", "running"),
    "task.cancel.requested": task("acting", "running", "stop"),
    "task.updated": updated,
    "task.completed": task("completed", "done"),
    "task.failed": task("failed", "blocked"),
    "task.cancelled": task("cancelled", "cancelled"),
    "snapshot.updated": (Emission("state.snapshot", "runtime", "task", "reconciling", "task_capsule", "snapshot"),),
    "review.requested": review("review.requested", "reviewing", "requested", "request_review"),
    "review.verdict": judged,
    "review.applied": review("review.completed", "completed", "applied"),
    "evidence.exported": (
        Emission(
            "evidence.changed", "evidence", "evidence", "completed", "timeline_evidence", "evidence_pack", "export"
        ),
    ),
    "artifact.created": artifact("artifact.created", "producing"),
    "artifact.save.requested": artifact("artifact.changed", "producing", "edit", status="saving"),
    "artifact.version.created": artifacts.version,
    "artifact.updated": artifact("artifact.updated", "completed"),
    "artifact.failed": artifacts.failed,
    "artifact.export.started": artifact("artifact.export.started", "producing", "export"),
    "artifact.export.progressed": artifact("artifact.changed", "producing", "export", status="exporting"),
    "artifact.export.completed": artifact("artifact.export.completed", "completed", "export"),
    "artifact.deleted": artifact("artifact.deleted", "archived", status="deleted"),
    "context.resolved": (Emission("context.changed", "context", "run", "preparing", "inline_process", "archive"),),
    "context.pinned": (Emission("context.changed", "context", "thread", "accepted", "inline_process", "snapshot"),),
    "context.compaction.started": (
        Emission("context.compaction.started", "context", "thread", "preparing", "inline_process", "archive"),
    ),
    "context.compaction.completed": (
        Emission("context.compaction.completed", "context", "thread", "completed", "inline_process", "archive"),
    ),
    "context.compaction.failed": (
        Emission("context.compaction.completed", "context", "thread", "failed", "inline_process", "archive"),
    ),
    "tool.catalog.resolved": (Emission("context.changed", "context", "run", "preparing", "diagnostics", "archive"),),
    "tool.server.connected": (diagnostic("acting"),),
    "tool.server.lost": (diagnostic("failed"),),
    "model.quota": (metric("application"),),  # a provider's account is nobody's in particular
    "process.started": (diagnostic("acting"),),
    "process.input": (diagnostic("acting"),),
    "process.stop.requested": (diagnostic("acting"),),
    "process.ended": (diagnostic("completed"),),
    "warning.raised": (diagnostic("acting"),),
    "error.raised": (diagnostic("failed"),),
    "workspace.opened": _BY_OTHERS,  # a folder is no surface of Agent UI; its sessions are
    "workspace.session.listed": _BY_OTHERS,  # told as session.opened by the session itself
    "workspace.session.titled": session("session.updated", "completed"),
    "workspace.session.pinned": session("session.updated", "completed"),
    "workspace.session.archived": archived,
    "workspace.session.scheduled": _BY_OTHERS,  # told by agent.slept and agent.woke of the session itself
    "workspace.session.trimmed": session("session.updated", "completed"),
    "workspace.session.deleted": session("session.closed", "archived"),
    "workspace.trusted": permission("workspace"),
    "workspace.trust.revoked": permission("workspace"),
    "workspace.settings.changed": permission("workspace"),
}

#: That what there was of a session is told. No fact says so: it is how a stream of events stands.
HYDRATED = Emission("session.hydrated", "session", "session", "hydrating", "session_tabs", "snapshot")

#: Text in the making, by its kind.
DELTAS: dict[FrameKind, Emission] = {
    "text": Emission("text.delta", "model", "part", "producing", "conversation", "ephemeral_live"),
    "reasoning": Emission("reasoning.delta", "model", "part", "reasoning", "inline_process", "ephemeral_live"),
    "arguments": Emission(
        "tool.args", "model", "tool_call", "acting", "tool_ui", "ephemeral_live", None, {"toolState": "input-streaming"}
    ),
    "output": Emission(
        "tool.output.delta", "tool", "tool_call", "acting", "tool_ui", "ephemeral_live", None, {"toolState": "progress"}
    ),
    "progress": Emission(
        "tool.progress", "tool", "tool_call", "acting", "tool_ui", "ephemeral_live", None, {"toolState": "progress"}
    ),
}


def emissions(tag: str, fact: Fact) -> tuple[Emission, ...]:
    """What a fact is told as. One of a type that this version does not know is told to diagnostics, as unknown."""
    row = CLASSES.get(tag)
    if row is None:
        return (diagnostic("acting"),)
    return row(fact) if callable(row) else row
