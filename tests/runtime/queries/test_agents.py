"""The list of agents that a session's folder defines."""

from __future__ import annotations

from pathlib import Path

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.agent import AddAgent, AgentList, DefinedAgent, ListAgents
from callboard.contracts.facts.session import ThreadOpened
from tests.agents.files import write_agents
from tests.runtime.rigs.runtime_rig import calls, open_runtime, says
from tests.runtime.rigs.team import CLERK, CRITIC, LEAD, WORKER, list_facts


async def test_the_folders_agents_are_listed_with_the_participants(tmp_path: Path) -> None:
    """MAR-01, MAR-02: files are read on each request. An invalid file is counted and hides no
    agent."""
    async with open_runtime(tmp_path, calls(says("Yes.")), FolderDefinitions()) as rig:
        write_agents(rig.folder, lead=LEAD, clerk=CLERK, critic=CRITIC)
        session = (await rig.submit("go")).session_id
        write_agents(rig.folder, worker=WORKER, bad="no agent")
        listed: AgentList = await rig.do(ListAgents(session_id=session))
        named = {agent.name: agent for agent in listed.agents}
        assert named["lead"] == DefinedAgent(
            name="lead", kind="main", description=named["lead"].description, file="agents/lead.md", added=True
        )
        assert {name: (fact.kind, fact.added) for name, fact in named.items()} == {
            "lead": ("main", True),
            "clerk": ("main", False),
            "critic": ("main", False),
            "worker": ("subagent", False),
        }
        assert listed.problems == 1

        await rig.do(AddAgent(session_id=session, agent="clerk"))

        again: AgentList = await rig.do(ListAgents(session_id=session))
        assert {agent.name for agent in again.agents if agent.added} == {"lead", "clerk"}
        assert [fact.agent_name for fact in await list_facts(rig, session, ThreadOpened)] == ["lead", "clerk"]
