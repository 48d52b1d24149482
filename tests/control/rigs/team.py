"""A session with a team: definitions, budgets, and responses of each agent's model on demand."""

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
from callboard.control.outcomes import ModelAttemptFailed, ModelResponded, RequestedCall, RunStopped
from callboard.control.state.agent_definitions import build_session_roster
from callboard.control.state.session import Thread
from callboard.control.state.turn import OpenRun
from tests.control.rigs.decisions import Scenario, Step, StepResult
from tests.control.rigs.examples import ALLOW, RUN_CONFIG, SESSION, model_response, submit, text_part

F = TypeVar("F", bound=Fact)


def agent_definition(name: str, **fields: Any) -> Definition:
    """Return a definition. By default a main agent has every policy and a subagent has none."""
    main = fields.get("kind", "main") == "main"
    defaults: dict[str, Any] = {
        "description": "",
        "kind": "main",
        "prompt": "",
        "hash": f"hash-{name}",
        "tools": ("*",),
        "policy": ("Patch", "Finalize", "Delegate") if main else (),
    }
    return Definition(name=name, **{**defaults, **fields})


LEAD = agent_definition(
    "lead", edges=(Edge(to="critic", ownership=True), Edge(to="clerk", confirm=True)), aliases=("Boss",)
)
CRITIC = agent_definition("critic", aliases=("The Judge",))
CLERK = agent_definition("clerk", edges=(Edge(to="critic", direction="both", kind="report"),))
WORKER = agent_definition("worker", kind="subagent")
EDITOR = agent_definition("editor", kind="subagent", permission_mode="planning", model="other")


class Team(Scenario):
    """A session with these definitions. The first one is the lead."""

    def __init__(self, *definitions: Definition, budget: int = 8, group: int = 16, **fields: Any) -> None:
        super().__init__(configure_run=self._configure_run, **fields)
        self.definitions = definitions or (LEAD, CRITIC, CLERK, WORKER, EDITOR)
        self.budgets = budget, group
        self._calls = 0

    def thread_of(self, name: str) -> Thread:
        """Return the thread of that agent."""
        return next(thread for thread in self.state.threads.values() if thread.agent == name)

    def run_of(self, name: str) -> OpenRun:
        """Return the open run of that agent."""
        run = self.thread_of(name).run
        assert run is not None, f"{name} has no open run"
        return run

    def child_status(self, name: str) -> str:
        """Return the status of that child."""
        child = self.thread_of(name).child
        assert child is not None
        return child.status

    def running_agents(self) -> list[str]:
        """Return the names of the agents with an open run."""
        return [thread.agent for thread in self.state.threads.values() if thread.run is not None]

    def responds(self, name: str, content: str = "Done.") -> StepResult:
        """Apply a text response of the agent's model."""
        run = self.run_of(name)
        return self.when(self._response(name, text_part(run.model_step + 1, content)))

    def uses(self, name: str, tool: str, /, **arguments: Any) -> StepResult:
        """Apply a response of the agent's model with an allowed tool call."""
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
        return self.when(self._response(name, call))

    def tool_result(self, name: str, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Apply an allowed tool call, and return the tool's output."""
        return msgspec.json.decode(only_fact(self.uses(name, tool, **arguments), ToolCompleted).output.text)

    def refusal_code(self, name: str, tool: str, /, **arguments: Any) -> str:
        """Check that the call leads to a refusal alone, and return its code."""
        result = self.uses(name, tool, **arguments)
        types = fact_types(result)
        assert types[types.index("tool.requested") :] == [
            "tool.requested",
            "permission.evaluated",
            "tool.refused",
            "model.requested",
        ]
        return only_fact(result, ToolRefused).code

    def spawns(self, count: int = 1, definition: str = "worker", **fields: Any) -> list[str]:
        """Let the lead spawn children, and return their names."""
        return [
            self.tool_result("lead", "spawn_subagent", agent=definition, objective=f"part {number + 1}", **fields)[
                "agent_id"
            ]
            for number in range(count)
        ]

    def fails(self, name: str) -> StepResult:
        """Apply a failed model call of the agent."""
        run = self.run_of(name)
        failure = ModelAttemptFailed(
            thread=self.thread_of(name).thread,
            run=run.run,
            step=run.model_step,
            attempt=1,
            code="model_unavailable",
            message="The provider cannot be reached.",
            retryable=True,
        )
        return self.when(failure)

    def stops(self, name: str, cause: InterruptCause = "person") -> StepResult:
        """Apply the end of the agent's run after a stop."""
        return self.when(RunStopped(thread=self.thread_of(name).thread, run=self.run_of(name).run, cause=cause))

    def _response(self, name: str, *parts: Any) -> ModelResponded:
        run = self.run_of(name)
        number = int(run.run.removeprefix("run_"))
        return model_response(*parts, run=number, step=run.model_step, thread=self.thread_of(name).thread)

    def _configure_run(self, definition: str, mode: Mode, permission_mode: PermissionMode) -> RunConfig:
        chosen = self._find(definition) if definition else self.definitions[0]
        assert chosen is not None, f"no definition is named {definition}"
        return msgspec.structs.replace(
            RUN_CONFIG,
            agent_name=chosen.name,
            kind=chosen.kind,
            definition=chosen.name,
            definition_hash=chosen.hash,
            max_iters=100,
            candidates=(Candidate(provider=chosen.model or "local", model="small"),),
        )

    def _find(self, name: str) -> Definition | None:
        return self._roster().find(name)

    def _roster(self) -> Roster:
        folder = Roster(definitions=self.definitions, problems=(), lead="", packaged=False, hash="")
        return build_session_roster(folder, self.state)

    def _decision_inputs(self, step: Step | None) -> DecisionInputs:
        return msgspec.structs.replace(
            super()._decision_inputs(step),
            find_definition=self._find,
            list_definition_names=lambda: tuple(definition.name for definition in self._roster().definitions),
            team_budget=self.budgets[0],
            group_budget=self.budgets[1],
        )


def team(*definitions: Definition, mode: Mode = "chat", permission_mode: PermissionMode = "ask", **fields: Any) -> Team:
    """Return a session whose lead works on a person's objective."""
    session = Team(*definitions, **fields)
    session.when(submit("the objective", mode=mode, permission_mode=permission_mode))
    return session


def spawn(definition: str = "worker", **fields: Any) -> SpawnSubagent:
    """Return a person's command to spawn a child of the lead."""
    return SpawnSubagent(session_id=SESSION, agent=definition, objective="a part", **fields)


def fact_types(result: StepResult) -> list[str]:
    """Return the types of a step's facts, in order."""
    return [fact.type for fact in result.facts]


def facts_of(result: StepResult, kind: type[F]) -> list[F]:
    """Return the facts of that class, in order."""
    return [fact for fact in result.facts if isinstance(fact, kind)]


def only_fact(result: StepResult, kind: type[F]) -> F:
    """Return the only fact of that class."""
    (fact,) = facts_of(result, kind)
    return fact
