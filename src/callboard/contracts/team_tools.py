"""Tools by which agents work with their team and a person."""

from __future__ import annotations

from typing import Literal, NamedTuple

from .commands.action import AskPersonArguments, ProposePlanArguments
from .commands.agent import AddEdgeArguments, DefineAgentArguments
from .commands.base import TeamToolArguments
from .commands.exchange.handoff import HandoffArguments, RespondArguments
from .commands.exchange.message import MessageArguments
from .commands.exchange.review import RequestReviewArguments, VerdictArguments
from .commands.subagent import (
    ChildInputArguments,
    CloseArguments,
    ListChildrenArguments,
    MergeArguments,
    SpawnArguments,
    WaitArguments,
)
from .commands.task import CreateTaskArguments, UpdateTaskArguments
from .entities.team import Capability


class TeamTool(NamedTuple):
    """A request as an agent's tool.

    `policy` is the policy that it requires. `description` is for the model. A tool with a
    `capability` requires approval in every mode, and no rule can approve it.
    """

    name: str
    arguments: type[TeamToolArguments]
    description: str
    policy: Literal["Delegate", "Patch"] | None = None
    capability: Capability | None = None


#: Tools by which an agent asks a person. The answer is their result.
PROPOSE_PLAN = "propose_plan"
ASK_PERSON = "ask_person"
QUESTIONS = frozenset({PROPOSE_PLAN, ASK_PERSON})
#: The only team tool with an effect outside the log: it changes files of the folder.
MERGE = "merge_subagent"


#: Tools by which agents work with their team, by name.
TEAM_TOOLS: dict[str, TeamTool] = {
    tool.name: tool
    for tool in (
        TeamTool(
            "spawn_subagent",
            SpawnArguments,
            "Start a child agent on an objective. It works in parallel. Returns its id immediately; use wait_subagents "
            "for its result.",
            "Delegate",
        ),
        TeamTool(
            "send_subagent_input",
            ChildInputArguments,
            "Send more input to a child of yours.",
            "Delegate",
        ),
        TeamTool(
            "wait_subagents",
            WaitArguments,
            "Wait for children of yours. Returns their results; the results so far if a child fails or time is up.",
            "Delegate",
        ),
        TeamTool(
            "cancel_subagent",
            CloseArguments,
            "Cancel the work of a child of yours. It can get more work.",
            "Delegate",
        ),
        TeamTool(
            "close_subagent", CloseArguments, "Stop a child of yours permanently. Its transcript stays.", "Delegate"
        ),
        TeamTool(
            MERGE,
            MergeArguments,
            "Merge the worktree of a child of yours into your folder, completely or not at all. Returns the files "
            "in conflict.",
            "Patch",
        ),
        TeamTool("list_subagents", ListChildrenArguments, "List your children and their status.", "Delegate"),
        TeamTool(
            "send_handoff",
            HandoffArguments,
            "Hand work or a report to an agent over an edge. The agent receives it in its next turn.",
        ),
        TeamTool(
            "respond_handoff",
            RespondArguments,
            "Accept, reject or return (complete) a handoff.",
        ),
        TeamTool(
            "send_message",
            MessageArguments,
            "Send a message to other agents, who receive it in their next turn. Does not wait.",
        ),
        TeamTool("request_review", RequestReviewArguments, "Request a review of work from another agent."),
        TeamTool("submit_verdict", VerdictArguments, "Submit your verdict on work that you review."),
        TeamTool(
            "define_agent",
            DefineAgentArguments,
            "Create an agent for this session, with at most your permissions. Requires a person's approval.",
            capability="spawn",
        ),
        TeamTool(
            "add_edge",
            AddEdgeArguments,
            "Add an edge to this session, so that one agent can hand off to another. Requires a person's approval.",
            capability="edge",
        ),
        TeamTool(
            PROPOSE_PLAN,
            ProposePlanArguments,
            "Propose a plan to a person and wait for the decision: accepted, rejected with a reason, or changes requested.",
        ),
        TeamTool(
            ASK_PERSON,
            AskPersonArguments,
            "Ask a person a question and wait for the answer.",
        ),
        TeamTool("create_task", CreateTaskArguments, "Create a task on the board that the team and the person share."),
        TeamTool("update_task", UpdateTaskArguments, "Change a task of the board, comment on it, or end it."),
    )
}
