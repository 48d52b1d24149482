"""One-line texts about team calls."""

from __future__ import annotations

from callboard.contracts.commands.action import AskPersonArguments, ProposePlanArguments
from callboard.contracts.commands.agent import AddEdgeArguments, DefineAgentArguments
from callboard.contracts.commands.exchange.handoff import HandoffArguments, RespondArguments
from callboard.contracts.commands.exchange.message import MessageArguments
from callboard.contracts.commands.exchange.review import RequestReviewArguments, VerdictArguments
from callboard.contracts.commands.subagent import (
    ChildInputArguments,
    CloseArguments,
    MergeArguments,
    SpawnArguments,
    WaitArguments,
)
from callboard.contracts.commands.task import CreateTaskArguments, UpdateTaskArguments
from callboard.contracts.entities.arguments import Arguments


def describe_team_call(arguments: Arguments | None) -> str | None:
    """Describe a team call for its tool row; None for other calls."""
    match arguments:
        case SpawnArguments(agent=agent, title=title, objective=objective):
            return f"{agent}: {title or objective}"
        case ChildInputArguments(agent=agent, text=text):
            return f"{agent}: {text}"
        case WaitArguments():
            return _describe_await(arguments)
        case CloseArguments(agent=agent, reason=reason):
            return f"{agent}: {reason}" if reason else agent
        case MergeArguments(agent=agent):
            return agent
        case HandoffArguments(to=to, message=message):
            return f"→ {to}: {message}"
        case MessageArguments(to=to, text=text):
            return f"→ {', '.join(to)}: {text}"
        case RespondArguments(decision=decision, handoff_id=handoff, reason=reason):
            return f"{decision} {handoff}{f': {reason}' if reason else ''}"
        case _:
            return _describe_work(arguments)


def _describe_work(arguments: Arguments | None) -> str | None:
    match arguments:
        case ProposePlanArguments(summary=summary):
            return summary
        case AskPersonArguments(question=question):
            return question
        case DefineAgentArguments(name=name, kind=kind, description=description):
            return f"{name} ({kind}){f': {description}' if description else ''}"
        case AddEdgeArguments(source=source, to=to, kind=kind):
            return f"{source or ''} → {to}: {kind}".strip()
        case RequestReviewArguments(reviewer=reviewer, target=target):
            return f"→ {reviewer}{f': the work of {target}' if target else ''}"
        case VerdictArguments(agent=agent, review_id=review, verdict=verdict, summary=summary):
            return f"{agent or review or ''}: {verdict}{f', {summary}' if summary else ''}"
        case CreateTaskArguments(title=title):
            return title
        case UpdateTaskArguments(task_id=task, status=status, progress=progress, comment=comment, title=title):
            return f"{task}: {status or progress or comment or title or 'changed'}"
        case _:
            return None


def _describe_await(arguments: WaitArguments) -> str:
    agents = ", ".join(arguments.agents) or "all children"
    subject = f"{arguments.mode} of {agents}" if arguments.agents and len(arguments.agents) > 1 else agents
    return subject if arguments.timeout_s is None else f"{subject}, at most {arguments.timeout_s} s"
