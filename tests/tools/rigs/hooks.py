"""Hooks as real programs: Python scripts that record their input."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from callboard.contracts.ports.tools import Evaluation, HookResult, ToolCall
from callboard.contracts.settings import Hook
from tests.tools.rigs.calls import Agent, call

#: Beginning of every script: `request` is the input, which is recorded as a line.
_BEFORE = """
import json, sys
request = json.loads(sys.stdin.read())
open({log!r}, "a").write(json.dumps(request) + "\\n")
def answer(**fields):
    print(json.dumps(fields))
"""


class Scripts:
    """Hooks in a folder outside every workspace."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir(parents=True, exist_ok=True)

    def hook(self, name: str, body: str = "", **more: Any) -> Hook:
        """Return a hook whose script runs this body."""
        script = self.place / f"{name}.py"
        script.write_text(_BEFORE.format(log=str(self._log(name))) + body)
        return Hook(name=name, command=(sys.executable, str(script)), **{"timeout": 30.0, **more})

    def read_inputs(self, name: str) -> list[dict[str, Any]]:
        """Return the recorded inputs of the hook."""
        log = self._log(name)
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def _log(self, name: str) -> Path:
        return self.place / f"{name}.inputs"


async def run_hooks(agent: Agent, wanted: ToolCall, *hooks: Hook) -> HookResult | None:
    """Return the hooks' decision on a call of the agent."""
    context = msgspec.structs.replace(agent.context, hooks=hooks)
    return await agent.toolbox.run_hooks(wanted, context, session="ses_1", thread="thr_1")


async def evaluate_with_hooks(agent: Agent, *hooks: Hook, tool: str, **arguments: Any) -> Evaluation:
    """Return the gate's verdict on a call after its hooks."""
    wanted = call(tool, **arguments)
    result = await run_hooks(agent, wanted, *hooks)
    if result is not None:
        final = wanted.arguments if result.arguments is None else result.arguments
        wanted = msgspec.structs.replace(wanted, arguments=final, hook_result=result)
    return await agent.toolbox.evaluate(wanted, agent.context)
