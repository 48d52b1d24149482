"""A team as its deciders know it: definitions, budgets, and each agent's model answering when a test says so."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from callboard.contracts.commands.subagent import SpawnSubagent
from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.model import Candidate
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused
from callboard.contracts.facts.turn import InterruptCause, Mode, PermissionMode
from callboard.contracts.ports.agents import Definition, Roster
from callboard.control.decision_inputs import DecisionInputs, RunConfig
from callboard.control.outcomes import ModelAnswered, ModelAttemptFailed, RequestedCall, RunStopped
from callboard.control.state.agent_definitions import session_roster
from callboard.control.state.session import Thread
from callboard.control.state.turn import OpenRun
from tests.control.rigs.decisions import Given, Step, Then
from tests.control.rigs.examples import ALLOW, SESSION, SETUP, answered, submit, text

F = TypeVar("F", bound=Fact)


def agent(name: str, **rest: Any) -> Definition:
    """A definition. A main may do everything, a subagent only works, unless said otherwise."""
    main = rest.get("kind", "main") == "main"
    given: dict[str, Any] = {
        "description": "",
        "kind": "main",
        "prompt": "",
        "hash": f"hash-{name}",
        "tools": ("*",),
        "policy": ("Patch", "Finalize", "Delegate") if main else (),
    }
    return Definition(name=name, **{**given, **rest})


LEAD = agent("lead", edges=(Edge(to="critic", ownership=True), Edge(to="clerk", confirm=True)), aliases=("Boss",))
CRITIC = agent("critic", aliases=("The Judge",))
CLERK = agent("clerk", edges=(Edge(to="critic", direction="both", kind="report"),))
WORKER = agent("worker", kind="subagent")
EDITOR = agent("editor", kind="subagent", permission_mode="planning", model="other")


class Team(Given):
    """A session of these definitions; the first leads."""

    def __init__(self, *definitions: Definition, budget: int = 8, group: int = 16, **rest: Any) -> None:
        super().__init__(setup=self._setup, **rest)
        self.definitions = definitions or (LEAD, CRITIC, CLERK, WORKER, EDITOR)
        self.budgets = budget, group
        self._calls = 0

    def of(self, name: str) -> Thread:
        """The thread of that agent."""
        return next(one for one in self.state.threads.values() if one.agent == name)

    def run_of(self, name: str) -> OpenRun:
        """What that agent is at."""
        run = self.of(name).run
        assert run is not None, f"{name} runs nothing"
        return run

    def status(self, name: str) -> str:
        """How that child stands."""
        child = self.of(name).child
        assert child is not None
        return child.status

    def works(self) -> list[str]:
        """The agents that run something."""
        return [one.agent for one in self.state.threads.values() if one.run is not None]

    def says(self, name: str, said: str = "Done.") -> Then:
        """The agent's model answers with a text."""
        run = self.run_of(name)
        return self.when(self._answer(name, text(run.model_step + 1, said)))

    def uses(self, name: str, tool: str, /, **arguments: Any) -> Then:
        """The agent's model asks for a tool, which the gate allows."""
        self._calls += 1
        evaluation = msgspec.structs.replace(ALLOW, arguments=msgspec.json.encode(arguments).decode())
        run = self.run_of(name)
        call = RequestedCall(
            call=f"cal_{self._calls}",
            step=run.model_step + 1,
            tool=tool,
            arguments=evaluation.arguments,
            provider_call_id=f"call-{self._calls}",
            evaluation=evaluation,
        )
        return self.when(self._answer(name, call))

    def gets(self, name: str, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """What the tool answers."""
        return msgspec.json.decode(one(self.uses(name, tool, **arguments), ToolCompleted).output.text)

    def denied(self, name: str, tool: str, /, **arguments: Any) -> str:
        """The code with which the tool is refused, which leaves nothing but the refusal."""
        then = self.uses(name, tool, **arguments)
        told = types(then)
        assert told[told.index("tool.requested") :] == [
            "tool.requested",
            "permission.evaluated",
            "tool.refused",
            "model.requested",
        ]
        return one(then, ToolRefused).code

    def spawns(self, count: int = 1, definition: str = "worker", **rest: Any) -> list[str]:
        """The lead gives objectives to children."""
        return [
            self.gets("lead", "spawn_subagent", agent=definition, objective=f"part {number + 1}", **rest)["agent_id"]
            for number in range(count)
        ]

    def fails(self, name: str) -> Then:
        """The agent's model cannot be asked."""
        run = self.run_of(name)
        failure = ModelAttemptFailed(
            thread=self.of(name).thread,
            run=run.run,
            step=run.model_step,
            attempt=1,
            code="model_unavailable",
            message="The provider cannot be reached.",
            retryable=True,
        )
        return self.when(failure)

    def stopped(self, name: str, cause: InterruptCause = "person") -> Then:
        """What the agent had under way has ended, as was asked."""
        return self.when(RunStopped(thread=self.of(name).thread, run=self.run_of(name).run, cause=cause))

    def _answer(self, name: str, *parts: Any) -> ModelAnswered:
        run = self.run_of(name)
        number = int(run.run.removeprefix("run_"))
        return answered(*parts, run=number, step=run.model_step, thread=self.of(name).thread)

    def _setup(self, definition: str, mode: Mode, permission_mode: PermissionMode) -> RunConfig:
        found = self._find(definition) if definition else self.definitions[0]
        assert found is not None, f"nobody is called {definition}"
        return msgspec.structs.replace(
            SETUP,
            agent_name=found.name,
            kind=found.kind,
            definition=found.name,
            definition_hash=found.hash,
            max_iters=100,
            candidates=(Candidate(provider=found.model or "local", model="small"),),
        )

    def _find(self, name: str) -> Definition | None:
        return self._roster().find(name)

    def _roster(self) -> Roster:
        folder = Roster(definitions=self.definitions, problems=(), lead="", packaged=False, hash="")
        return session_roster(folder, self.state)

    def _known(self, step: Step | None) -> DecisionInputs:
        return msgspec.structs.replace(
            super()._known(step),
            find_definition=self._find,
            list_definition_names=lambda: tuple(one.name for one in self._roster().definitions),
            team_budget=self.budgets[0],
            group_budget=self.budgets[1],
        )


def team(*definitions: Definition, mode: Mode = "chat", permission_mode: PermissionMode = "ask", **rest: Any) -> Team:
    """A team whose lead works on a person's objective."""
    made = Team(*definitions, **rest)
    made.when(submit("the objective", mode=mode, permission_mode=permission_mode))
    return made


def spawn(definition: str = "worker", **rest: Any) -> SpawnSubagent:
    """A person gives the lead a child."""
    return SpawnSubagent(session_id=SESSION, agent=definition, objective="a part", **rest)


def types(then: Then) -> list[str]:
    """The types of a step's facts, in order."""
    return [fact.type for fact in then.facts]


def all_of(then: Then, kind: type[F]) -> list[F]:
    """The facts of that kind, in order."""
    return [fact for fact in then.facts if isinstance(fact, kind)]


def one(then: Then, kind: type[F]) -> F:
    """The only fact of that kind."""
    (found,) = all_of(then, kind)
    return found
