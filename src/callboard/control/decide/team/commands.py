"""Commands on a team: requests of its agents that a person makes for one of them."""

from __future__ import annotations

from callboard.contracts.commands.agent import AddAgent
from callboard.contracts.commands.base import Answer
from callboard.contracts.commands.exchange.handoff import RespondHandoff, SendHandoff
from callboard.contracts.commands.exchange.message import SendMessage
from callboard.contracts.commands.exchange.review import ApplyReview, RequestReview, ReviewChanged, SubmitVerdict
from callboard.contracts.commands.job import CancelJob, CreateJob, PauseJob, ResumeJob, RetryJobItem
from callboard.contracts.commands.subagent import CancelSubagent, CloseSubagent, SendSubagentInput, SpawnSubagent
from callboard.contracts.commands.task import MergeSubagent

from ...batch import Batch
from ..agent.join import add_agent
from ..exchange import handoff, messages, review
from ..job.commands import JobCommand, decide_job
from ..subagent import children, worktree
from ..subagent.spawn import spawn_child
from ..task import commands
from ..task.commands import TaskCommand
from ..turn.start import require_thread

TeamCommand = (
    SpawnSubagent
    | SendSubagentInput
    | CancelSubagent
    | CloseSubagent
    | SendHandoff
    | RespondHandoff
    | SendMessage
    | RequestReview
    | SubmitVerdict
    | ApplyReview
    | TaskCommand
    | AddAgent
    | MergeSubagent
    | JobCommand
)


def decide_team(batch: Batch, request: TeamCommand) -> Answer:
    """Decide a command on a team. Raises what its decider raises."""
    match request:
        case SpawnSubagent():
            return spawn_child(batch, require_thread(batch.state, request.thread_id), request)
        case SendSubagentInput():
            return children.give_input(batch, None, request)
        case CancelSubagent():
            return children.cancel_child(batch, None, request)
        case CloseSubagent():
            return children.close_child(batch, None, request)
        case SendHandoff():
            return handoff.send_handoff(batch, require_thread(batch.state, request.thread_id), request)
        case RespondHandoff():
            return handoff.respond_handoff(batch, None, request)
        case SendMessage():
            return messages.send_message(batch, require_thread(batch.state, request.thread_id), request)
        case RequestReview():
            return review.request_review(batch, require_thread(batch.state, request.thread_id), request)
        case SubmitVerdict():
            return review.record_verdict(batch, None, request)
        case ApplyReview():
            review_applied = review.apply_review(batch, request.review_id, request.assignee, "person")
            return ReviewChanged(
                session_id=batch.state.session,
                review_id=review_applied.review,
                verdict="changes_requested",
                sequence=batch.state.sequence,
            )
        case MergeSubagent():
            return worktree.begin_merge(batch, request)
        case AddAgent():
            return add_agent(batch, request)
        case CreateJob() | CancelJob() | PauseJob() | ResumeJob() | RetryJobItem():
            return decide_job(batch, request)
        case _:
            return commands.decide_task(batch, request)
