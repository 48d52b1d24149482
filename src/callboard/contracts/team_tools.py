"""The tools by which agents ask things of their team."""

from __future__ import annotations

from typing import Literal, NamedTuple

from .commands.action import AskPerson, ProposePlan
from .commands.agent import AddEdge, DefineAgent
from .commands.base import AgentRequest
from .commands.handoff import Handoff, Message, Respond
from .commands.subagent import Await, Close, GiveInput, List, Merge, Spawn
from .commands.task import AskReview, ChangeTask, Judge, MakeTask
from .entities.team import Capability


class TeamTool(NamedTuple):
    """A request as an agent's tool. `policy` is what its policy must hold; `description` is written for the model. One that
    takes a `capability` is asked about in every mode, and no rule answers for the person."""

    name: str
    arguments: type[AgentRequest]
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
            Spawn,
            "Gives an objective to a new child of yours, which works on its own beside you. Answers at once with its id; "
            "use wait_subagents for what comes of it.",
            "Delegate",
        ),
        TeamTool("send_subagent_input", GiveInput, "Gives a child of yours more to do.", "Delegate"),
        TeamTool(
            "wait_subagents",
            Await,
            "Waits for children of yours and answers with their results; with what is there when one fails or time is up.",
            "Delegate",
        ),
        TeamTool("cancel_subagent", Close, "Stops what a child of yours works on.", "Delegate"),
        TeamTool("close_subagent", Close, "Stops a child of yours for good; its transcript stays.", "Delegate"),
        TeamTool(
            MERGE,
            Merge,
            "Merges what a child of yours did in its own worktree into your folder, all of it or nothing; names the files "
            "that are in conflict.",
            "Patch",
        ),
        TeamTool("list_subagents", List, "Tells how your children stand.", "Delegate"),
        TeamTool(
            "send_handoff",
            Handoff,
            "Hands work, or a report of it, to an agent that an edge leads to. It is told of it in its next turn.",
        ),
        TeamTool("respond_handoff", Respond, "Accepts, rejects or gives back a handoff that waits for your answer."),
        TeamTool("send_message", Message, "Writes to other agents. They are told in their next turn; nobody waits."),
        TeamTool("request_review", AskReview, "Asks another agent to judge work."),
        TeamTool("submit_verdict", Judge, "Gives your verdict on work that you were asked to judge."),
        TeamTool(
            "define_agent",
            DefineAgent,
            "Makes an agent for this session that no file defines, allowed what you are at most. A person is asked first.",
            capability="spawn",
        ),
        TeamTool(
            "add_edge",
            AddEdge,
            "Makes an edge for this session, over which one agent can hand off to another. A person is asked first.",
            capability="edge",
        ),
        TeamTool(
            PROPOSE_PLAN,
            ProposePlan,
            "Shows the person a plan and waits: it is accepted, rejected with a reason, or they say what to change.",
        ),
        TeamTool(
            ASK_PERSON, AskPerson, "Asks the person a question that only a person can answer, and waits for the answer."
        ),
        TeamTool("create_task", MakeTask, "Puts a task on the board that the team and the person share."),
        TeamTool("update_task", ChangeTask, "Changes a task of the board, comments on it, or ends it."),
    )
}
