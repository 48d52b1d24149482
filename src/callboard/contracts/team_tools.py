"""The tools by which agents ask things of their team."""

from __future__ import annotations

from typing import Literal, NamedTuple

from .commands.action import AskPersonArguments, ProposePlanArguments
from .commands.agent import AddEdgeArguments, DefineAgentArguments
from .commands.base import TeamToolArguments
from .commands.handoff import HandoffArguments, MessageArguments, RespondArguments
from .commands.subagent import (
    ChildInputArguments,
    CloseArguments,
    ListChildrenArguments,
    MergeArguments,
    SpawnArguments,
    WaitArguments,
)
from .commands.task import CreateTaskArguments, RequestReviewArguments, UpdateTaskArguments, VerdictArguments
from .entities.team import Capability


class TeamTool(NamedTuple):
    """A request as an agent's tool. `policy` is what its policy must hold; `description` is written for the model. One that
    takes a `capability` is asked about in every mode, and no rule answers for the person."""

    name: str
    arguments: type[TeamToolArguments]
    description: str
    policy: Literal["Delegate", "Patch"] | None = None
    capability: Capability | None = None


#: The tools by which an agent asks a person something: what the person says is their result.
PROPOSE_PLAN = "propose_plan"
ASK_PERSON = "ask_person"
QUESTIONS = frozenset({PROPOSE_PLAN, ASK_PERSON})
#: The one tool of a team that takes effect outside the log: it changes files of the folder.
MERGE = "merge_subagent"


#: The tools by which an agent asks things of its team, by name.
TEAM_TOOLS: dict[str, TeamTool] = {
    tool.name: tool
    for tool in (
        TeamTool(
            "spawn_subagent",
            SpawnArguments,
            "Gives an objective to a new child of yours, which works on its own beside you. Answers at once with its id; "
            "use wait_subagents for what comes of it.",
            "Delegate",
        ),
        TeamTool("send_subagent_input", ChildInputArguments, "Gives a child of yours more to do.", "Delegate"),
        TeamTool(
            "wait_subagents",
            WaitArguments,
            "Waits for children of yours and answers with their results; with what is there when one fails or time is up.",
            "Delegate",
        ),
        TeamTool("cancel_subagent", CloseArguments, "Stops what a child of yours works on.", "Delegate"),
        TeamTool(
            "close_subagent", CloseArguments, "Stops a child of yours for good; its transcript stays.", "Delegate"
        ),
        TeamTool(
            MERGE,
            MergeArguments,
            "Merges what a child of yours did in its own worktree into your folder, all of it or nothing; names the files "
            "that are in conflict.",
            "Patch",
        ),
        TeamTool("list_subagents", ListChildrenArguments, "Tells how your children stand.", "Delegate"),
        TeamTool(
            "send_handoff",
            HandoffArguments,
            "Hands work, or a report of it, to an agent that an edge leads to. It is told of it in its next turn.",
        ),
        TeamTool(
            "respond_handoff", RespondArguments, "Accepts, rejects or gives back a handoff that waits for your answer."
        ),
        TeamTool(
            "send_message", MessageArguments, "Writes to other agents. They are told in their next turn; nobody waits."
        ),
        TeamTool("request_review", RequestReviewArguments, "Asks another agent to judge work."),
        TeamTool("submit_verdict", VerdictArguments, "Gives your verdict on work that you were asked to judge."),
        TeamTool(
            "define_agent",
            DefineAgentArguments,
            "Makes an agent for this session that no file defines, allowed what you are at most. A person is asked first.",
            capability="spawn",
        ),
        TeamTool(
            "add_edge",
            AddEdgeArguments,
            "Makes an edge for this session, over which one agent can hand off to another. A person is asked first.",
            capability="edge",
        ),
        TeamTool(
            PROPOSE_PLAN,
            ProposePlanArguments,
            "Shows the person a plan and waits: it is accepted, rejected with a reason, or they say what to change.",
        ),
        TeamTool(
            ASK_PERSON,
            AskPersonArguments,
            "Asks the person a question and waits for the answer.",
        ),
        TeamTool("create_task", CreateTaskArguments, "Puts a task on the board that the team and the person share."),
        TeamTool("update_task", UpdateTaskArguments, "Changes a task of the board, comments on it, or ends it."),
    )
}
