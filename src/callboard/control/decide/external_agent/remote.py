"""Remote agents: states of their tasks, deliveries, requests to a person, and replies.

A state is recorded as the remote agent reported it. A missing update changes no state. A request is a call
beside the open prompt that waits for a person.
"""

from __future__ import annotations

from callboard.contracts.commands.exchange.message import MessageArguments
from callboard.contracts.facts.action import ActionWithdrawn
from callboard.contracts.facts.agent import RemoteArtifact, RemoteTaskChanged
from callboard.contracts.facts.exchange.handoff import ReplyEnded
from callboard.contracts.facts.tool import ToolCancelled
from callboard.contracts.ports.external import TaskReported
from callboard.contracts.scope import Scope

from ...batch import Batch, build_action_scope, build_call_scope, build_run_scope
from ...outcomes import RemoteNeedEnded, RemoteReported
from ...state.session import Thread
from ...state.turn import OpenRun
from ..agent.addressing import find_agent
from ..artifact.versions import record_delivery
from ..exchange import messages
from ..turn.inbox import consume_inbox
from ..turn.iterate import find_run, require_run


def record_remote(batch: Batch, outcome: RemoteReported | RemoteNeedEnded) -> None:
    """Record a report of a remote agent."""
    if isinstance(outcome, RemoteReported):
        record_remote_report(batch, outcome)
    else:
        withdraw_request(batch, outcome)


def record_remote_report(batch: Batch, outcome: RemoteReported) -> None:
    """Record a task state or an artifact. The first report consumes the inbox items of the prompt."""
    open_run = find_run(batch, outcome.thread, outcome.run)
    if open_run is None or open_run[1].model_step != outcome.prompt:
        return
    thread, run = open_run
    scope, content = build_run_scope(thread, run), outcome.report
    if isinstance(content, TaskReported):
        batch.add(
            RemoteTaskChanged(
                remote_task_id=content.task, state=content.state, message=batch.store_text(content.message)
            ),
            scope,
        )
    else:
        batch.add_blobs(*content.blobs)
        fact = RemoteArtifact(
            remote_task_id=content.task,
            remote_artifact_id=content.artifact,
            name=content.name,
            description=content.description,
            parts=content.parts,
            left_out=content.left_out,
        )
        batch.add(fact, scope)
        record_delivery(batch, scope, fact)
    if not (isinstance(content, TaskReported) and content.state == "unknown"):
        consume_inbox(batch, outcome.thread)


def withdraw_request(batch: Batch, outcome: RemoteNeedEnded) -> None:
    """Withdraw a request that the agent no longer needs. An answer in transit is kept."""
    open_run = find_run(batch, outcome.thread, outcome.run)
    call = open_run[1].find_call(outcome.call) if open_run is not None else None
    if open_run is None or call is None or call.phase != "waiting":
        return
    thread, run = open_run
    batch.add(ActionWithdrawn(reason=outcome.reason), build_action_scope(thread, run, call))
    batch.add(ToolCancelled(started=False), build_call_scope(thread, run, call))


def reply_to_senders(batch: Batch, thread_id: str) -> None:
    """Send the answer to the agents whose messages the run received. A remote agent has no tool
    to write to them."""
    thread, run = require_run(batch, thread_id)
    text = _join_answer(run)
    if thread.kind != "remote" or not text:
        return
    for name in run.senders:
        sender = find_agent(batch.state, name)
        if sender is None or sender.child is not None or sender.thread == thread.thread:
            continue
        messages.send_message(batch, thread, MessageArguments(to=(sender.agent,), text=text))
        _end_reply_waits(batch, thread, sender)


def _join_answer(run: OpenRun) -> str:
    texts = [text.text for text in run.answer if text.text.strip()]
    artifacts = [f"[artifact {delivery.name}]\n{delivery.text.text}" for delivery in run.deliveries]
    return "\n\n".join((*texts, *artifacts))


def _end_reply_waits(batch: Batch, thread: Thread, sender: Thread) -> None:
    for handoff in list(batch.state.handoffs.values()):
        if handoff.reply_by and handoff.receiver == thread.thread and handoff.sender == sender.thread:
            batch.add(
                ReplyEnded(end="answered", to_thread=handoff.sender, by=thread.agent),
                Scope(agent=thread.agent, thread=thread.thread, handoff=handoff.handoff),
            )
