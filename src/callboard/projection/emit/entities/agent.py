"""Translations of facts about agents and their threads: agents that sleep and remote agents included."""

from __future__ import annotations

from typing import Any

from callboard.contracts.entities.team import BackgroundState, RemoteTaskState
from callboard.contracts.facts.agent import (
    AgentConnected,
    AgentDefined,
    AgentDisconnected,
    AgentModeChanged,
    AgentSlept,
    AgentWoke,
    EdgeAdded,
    RemoteArtifact,
    RemoteTaskChanged,
)
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.session import ThreadOpened, ThreadPaused, ThreadResumed
from callboard.contracts.rows.status import RuntimeStatus
from callboard.contracts.vocabulary import Phase, Surface

from ..agentui_emission import Emission, Emissions, emit_agent, emit_run, emit_session
from ..run_emission import Translation, update_settings, update_state

#: The runtime status and the phase of an agent that sleeps and wakes.
BACKGROUND_STATUS: dict[BackgroundState, tuple[RuntimeStatus, Phase]] = {
    "scheduled": ("idle", "accepted"),
    "sleeping": ("idle", "waiting"),
    "waking": ("accepted", "accepted"),
    "running": ("streaming", "acting"),
    "blocked": ("blocked", "waiting"),
    "paused": ("blocked", "waiting"),
    "failed": ("failed", "failed"),
    "completed": ("done", "completed"),
    "unknown": ("blocked", "waiting"),
}
#: The runtime status and the phase of a remote task.
_REMOTE_STATUS: dict[RemoteTaskState, tuple[RuntimeStatus, Phase]] = {
    "submitted": ("accepted", "submitted"),
    "working": ("streaming", "acting"),
    "input_required": ("blocked", "waiting"),
    "auth_required": ("blocked", "waiting"),
    "completed": ("done", "completed"),
    "failed": ("failed", "failed"),
    "canceled": ("done", "cancelled"),
    "rejected": ("failed", "failed"),
    "unknown": ("blocked", "waiting"),
}


def emit_background(state: BackgroundState) -> Emissions:
    """Emit the state of an agent that sleeps and wakes (Agent UI specification, Durable automation job)."""
    runtime, phase = BACKGROUND_STATUS[state]
    adds = {"runtimeEntity": "automation_job", "status": state, "runtimeStatus": runtime}
    return _emit_task_and_agent(phase, "background_teammate", adds)


def build_remote_task_payload(state: RemoteTaskState, task: str) -> dict[str, Any]:
    """Return the payload of a remote task: its id and whether it waits for input."""
    return {
        "runtimeEntity": "external_task",
        "status": state,
        "runtimeStatus": _REMOTE_STATUS[state][0],
        "remoteTaskId": task,
        "inputRequired": state == "input_required",
        "authRequired": state == "auth_required",
    }


def _emit_opened(fact: Fact) -> Emissions:
    joined = emit_session("session.opened", "accepted", "thread")
    if isinstance(fact, ThreadOpened) and fact.kind == "remote":
        adds = {"runtimeEntity": "external_task", "runtimeStatus": "idle", "agentCardRef": fact.url}
        surface: Surface = "remote_teammate"
        return (*joined, Emission("agent.changed", "agent", "agent", "accepted", surface, "snapshot", None, adds))
    return joined


def _emit_slept(fact: Fact) -> Emissions:
    if not isinstance(fact, AgentSlept):
        return emit_background("unknown")
    reasons: dict[str, BackgroundState] = {"ended": "completed", "joined": "scheduled"}
    return emit_background(reasons.get(fact.reason, "sleeping"))


def _emit_remote_task(fact: Fact) -> Emissions:
    """Emit the state of a remote task (Agent UI specification, Remote protocol task)."""
    readable = isinstance(fact, RemoteTaskChanged)
    state, task = (fact.state, fact.remote_task_id) if readable else ("unknown", "")
    return _emit_task_and_agent(_REMOTE_STATUS[state][1], "remote_teammate", build_remote_task_payload(state, task))


def _emit_remote_artifact(fact: Fact) -> Emissions:
    adds: dict[str, Any] = {"runtimeEntity": "external_task"}
    if isinstance(fact, RemoteArtifact):
        adds["remoteTaskId"] = fact.remote_task_id
    surface: Surface = "remote_teammate"
    return (Emission("artifact.changed", "artifact", "artifact", "producing", surface, "artifact_store", None, adds),)


def _emit_task_and_agent(phase: Phase, surface: Surface, adds: dict[str, Any]) -> Emissions:
    return (
        Emission("task.changed", "task", "task", phase, surface, "snapshot", None, adds),
        Emission("agent.changed", "agent", "agent", phase, surface, "snapshot", None, adds),
    )


_POLICY: Emissions = (Emission("team.changed", "agent", "team", "accepted", "team_policy", "snapshot"),)

TRANSLATIONS: dict[type[Fact], Translation] = {
    ThreadOpened: Translation(_emit_opened, update_state("agent_joined")),
    ThreadPaused: Translation(
        emit_run("run.status", "waiting", "blocked", scope="thread"), update_state("thread_paused")
    ),
    ThreadResumed: Translation(
        emit_run("run.status", "accepted", "accepted", scope="thread"), update_state("thread_resumed")
    ),
    AgentConnected: Translation(
        emit_agent("agent.changed", "accepted", "idle", connection="idle"), update_state("agent_connected")
    ),
    AgentDisconnected: Translation(
        emit_agent("agent.changed", "waiting", "waiting", connection="disconnected"), update_state("agent_disconnected")
    ),
    AgentModeChanged: Translation(_POLICY, update_settings("agent_mode")),
    AgentDefined: Translation(_POLICY, update_settings("agent_defined")),
    EdgeAdded: Translation(
        (Emission("team.changed", "agent", "team", "accepted", "delegation_graph", "snapshot"),),
        update_settings("edge_added"),
    ),
    AgentSlept: Translation(_emit_slept, update_state("agent_slept")),
    AgentWoke: Translation(emit_background("waking"), update_state("agent_woke")),
    RemoteTaskChanged: Translation(_emit_remote_task, update_state("remote_task")),
    RemoteArtifact: Translation(_emit_remote_artifact, update_state("remote_artifact"), ("artifact.changed",)),
}
