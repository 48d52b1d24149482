"""A small agent that speaks the protocol and plays a script: `agent.py SCRIPT.json`. Run as a real process by the tests.

Its conversations are named `conversation-PID`, or as `"conversation"` says. The script is `{"prompts": [[step, ...], ...],
"load": false, "state": "file"}`; each prompt plays the next list. It has the modes `ask`, `code` and `plan` and begins in
`code`, or those of `"modes"`, the first of which is in force; none with `"modes": []`. With `"sticks"` it reports success and
stays in its mode, with `"deaf"` it refuses. With `"options"` it has them as an option of its configuration, with `"models"` an
option for its model. `"agent"` is its name. In a mode named `code`, `auto` or `yolo`, `run` asks nothing. A step is one of

say, think     a piece of text
plan           lines, each a text (pending) or [text, status]
call           a tool call as the protocol has it: id, title, kind, status, input, diff, output, path, terminal, meta
run            asks for permission for a command, and runs it once it is allowed; a cancelled one ends the prompt. With `hasty`
               it reports the command as in progress before it asks, as OpenCode does
permit         asks for permission for the call of that id, with the options given; says what was answered
read, write    asks for a file; says what came of it
later          asks for a file while no prompt is under way, and writes into the file `into` what came of it
mark           makes a file, so that a test sees how far it is
edit           asks for permission to change a file, and writes it through the client once that is allowed
mode           changes its own mode
echo           says what it was prompted with
err            writes to its standard error
die            ends the process with that code
hang           waits until it is cancelled
stay           waits for ever, cancelled or not
end            the stop reason
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def _without_descriptions() -> Generator[None]:
    """Spare this process a third of its start: pydantic parses the source of 280 models for descriptions, if it finds it."""

    def no_source(_: object) -> Any:
        raise OSError

    found = inspect.currentframe, inspect.findsource
    inspect.currentframe, inspect.findsource = lambda: None, no_source
    try:
        yield
    finally:
        inspect.currentframe, inspect.findsource = found


with _without_descriptions():
    import acp
    from acp import schema

SCRIPT: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
OPTIONS: tuple[tuple[str, Any], ...] = (("yes", "allow_once"), ("always", "allow_always"), ("no", "reject_once"))


class Scripted:
    def __init__(self) -> None:
        self._conn: Any = None
        self._cancelled = asyncio.Event()
        self._later: set[asyncio.Task[None]] = set()
        self._prompts = 0
        self._modes: list[str] = SCRIPT.get("modes", ["code", "ask", "plan"])
        self._mode = self._modes[0] if self._modes else ""
        self._models: list[str] = SCRIPT.get("models", [])
        self._model = self._models[0] if self._models else ""

    def on_connect(self, conn: Any) -> None:
        self._conn = conn

    async def initialize(self, protocol_version: int, client_capabilities: Any = None, **kwargs: Any) -> Any:
        if "refuse" in SCRIPT:
            raise acp.RequestError.auth_required({"details": SCRIPT["refuse"]})
        return schema.InitializeResponse(
            protocol_version=protocol_version,
            agent_info=schema.Implementation(name=SCRIPT.get("agent", "scripted"), title="Scripted", version="1.2.3"),
            agent_capabilities=schema.AgentCapabilities(load_session=bool(SCRIPT.get("load"))),
        )

    async def new_session(self, cwd: str, **kwargs: Any) -> Any:
        conversation = SCRIPT.get("conversation") or f"conversation-{os.getpid()}"
        return schema.NewSessionResponse(session_id=conversation, **self._offers())

    async def load_session(self, cwd: str, session_id: str, **kwargs: Any) -> Any:
        await self._tell(session_id, acp.update_agent_message_text("an old answer, told again"))
        return schema.LoadSessionResponse(**self._offers())

    async def set_session_mode(self, session_id: str, mode_id: str, **kwargs: Any) -> Any:
        if "deaf" in SCRIPT or mode_id not in self._modes:
            raise acp.RequestError.invalid_params({"details": f"no mode {mode_id}"})
        self._mode = mode_id
        return schema.SetSessionModeResponse()

    async def set_config_option(self, session_id: str, config_id: str, value: Any, **kwargs: Any) -> Any:
        if config_id == "the-mode" and "sticks" not in SCRIPT:
            self._mode = value
        elif config_id == "the-model":
            self._model = value
        return schema.SetSessionConfigOptionResponse(config_options=self._options())

    def _offers(self) -> dict[str, Any]:
        modes = [schema.SessionMode(id=one, name=one) for one in self._modes]
        state = schema.SessionModeState(current_mode_id=self._mode, available_modes=modes) if modes else None
        return {"modes": None if "options" in SCRIPT else state, "config_options": self._options()}

    def _options(self) -> list[Any]:
        found: list[Any] = []
        if "options" in SCRIPT:
            found.append(_option("the-mode", "mode", self._mode, self._modes))
        if self._models:
            found.append(_option("the-model", "model", self._model, self._models))
        return found

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        self._cancelled.set()

    async def prompt(self, prompt: list[Any], session_id: str, **kwargs: Any) -> Any:
        self._cancelled.clear()
        steps = SCRIPT["prompts"][min(self._next(), len(SCRIPT["prompts"]) - 1)]
        for step in steps:
            for kind, value in step.items():
                if kind == "end":
                    return schema.PromptResponse(stop_reason=value)
                if kind == "run":
                    if not await self._run(session_id, value):
                        return schema.PromptResponse(stop_reason="cancelled")
                    continue
                if kind == "hang":
                    await self._cancelled.wait()
                    await self._tell(session_id, acp.update_agent_message_text(" (stopped)"))
                    return schema.PromptResponse(stop_reason="cancelled")
                await self._play(session_id, kind, value, prompt)
        usage = schema.Usage(total_tokens=30, input_tokens=20, output_tokens=10)
        return schema.PromptResponse(stop_reason="end_turn", usage=usage)

    def _next(self) -> int:
        """The number of the prompt, also over a restart where the script names a file for that."""
        if "state" in SCRIPT:
            kept = Path(SCRIPT["state"])
            self._prompts = int(kept.read_text()) if kept.exists() else 0
            kept.write_text(str(self._prompts + 1))
        self._prompts += 1
        return self._prompts - 1

    async def _play(self, session: str, kind: str, value: Any, prompt: list[Any]) -> None:
        match kind:
            case "say":
                await self._tell(session, acp.update_agent_message_text(value))
            case "echo":
                await self._tell(session, acp.update_agent_message_text(" ".join(one.text for one in prompt)))
            case "think":
                await self._tell(session, acp.update_agent_thought_text(value))
            case "plan":
                lines = [line if isinstance(line, list) else [line, "pending"] for line in value]
                entries = [schema.PlanEntry(content=line, priority="medium", status=status) for line, status in lines]
                await self._tell(session, schema.AgentPlanUpdate(session_update="plan", entries=entries))
            case "call":
                await self._tell(session, _call(value))
            case "permit":
                options = [schema.PermissionOption(option_id=name, name=name, kind=one) for name, one in OPTIONS]
                call = schema.ToolCallUpdate(**_fields(value))
                answer = await self._conn.request_permission(session_id=session, tool_call=call, options=options)
                said = answer.outcome.outcome
                said = answer.outcome.option_id if said == "selected" else said
                await self._tell(session, acp.update_agent_message_text(f"[{said}]"))
            case "read":
                await self._ask(session, self._conn.read_text_file(session_id=session, **value))
            case "write":
                await self._ask(session, self._conn.write_text_file(session_id=session, **value))
            case "mark":
                os.close(os.open(value, os.O_CREAT | os.O_WRONLY))
            case "err":
                sys.stderr.write(value + "\n")
                sys.stderr.flush()
            case "stay":
                await asyncio.Event().wait()
            case "die":
                os._exit(value)
            case _:
                await self._change(session, kind, value)

    async def _change(self, session: str, kind: str, value: Any) -> None:
        match kind:
            case "later":
                self._later.add(asyncio.create_task(self._read_later(session, **value)))
            case "edit":
                await self._edit(session, **value)
            case "mode":
                self._mode = value
                change = schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=value)
                await self._tell(session, change)
            case _:
                raise ValueError(kind)

    async def _edit(self, session: str, id: str, path: str, before: str | None, after: str) -> None:
        asked = {"id": id, "title": "Edit files", "kind": "edit", "path": path, "diff": [path, before, after]}
        options = [schema.PermissionOption(option_id=name, name=name, kind=one) for name, one in OPTIONS]
        call = schema.ToolCallUpdate(**_fields(asked))
        answer = await self._conn.request_permission(session_id=session, tool_call=call, options=options)
        allowed = answer.outcome.outcome == "selected" and answer.outcome.option_id == "yes"
        if allowed:
            await self._ask(session, self._conn.write_text_file(session_id=session, path=path, content=after))
        await self._tell(session, _call({"id": id, "status": "completed" if allowed else "failed"}))

    async def _run(self, session: str, value: dict[str, Any]) -> bool:
        """False where it was cancelled."""
        call = {"id": value["id"], "title": value["command"], "kind": "execute", "input": {"command": value["command"]}}
        await self._tell(session, _call(call))
        if self._mode in ("code", "auto", "yolo"):
            return await self._do(session, value)
        if value.get("hasty"):
            await self._tell(session, _call({"id": value["id"], "status": "in_progress"}))
        options = [schema.PermissionOption(option_id=name, name=name, kind=one) for name, one in OPTIONS]
        asked = schema.ToolCallUpdate(**_fields(call))
        answer = await self._conn.request_permission(session_id=session, tool_call=asked, options=options)
        if answer.outcome.outcome != "selected":
            return False
        if answer.outcome.option_id == "no":
            await self._tell(session, _call({"id": value["id"], "status": "failed", "output": "refused"}))
            return True
        return await self._do(session, value)

    async def _do(self, session: str, value: dict[str, Any]) -> bool:
        running = await asyncio.create_subprocess_shell(value["command"], stdout=asyncio.subprocess.PIPE)
        printed, _ = await running.communicate()
        await self._tell(session, _call({"id": value["id"], "status": "completed", "output": printed.decode()}))
        return True

    async def _ask(self, session: str, asked: Any) -> None:
        await self._tell(session, acp.update_agent_message_text(f"[{await self._heard(asked)}]"))

    async def _read_later(self, session: str, path: str, into: str) -> None:
        heard = await self._heard(self._conn.read_text_file(session_id=session, path=path))
        await asyncio.to_thread(Path(into).write_text, heard)

    async def _heard(self, asked: Any) -> str:
        try:
            return str(getattr(await asked, "content", "done"))
        except acp.RequestError as error:
            return f"refused: {error.data}" if error.data else f"{error.code} {error}"

    async def _tell(self, session: str, update: Any) -> None:
        await self._conn.session_update(session_id=session, update=update)


def _option(name: str, category: Any, current: str, values: list[str]) -> Any:
    options = [schema.SessionConfigSelectOption(value=one, name=one) for one in values]
    return schema.SessionConfigOptionSelect(
        id=name, name=name, category=category, type="select", current_value=current, options=options
    )


def _fields(value: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {"tool_call_id": value["id"]}
    fields |= {name: value[name] for name in ("title", "kind", "status") if name in value}
    if "input" in value:
        fields["raw_input"] = value["input"]
    if "path" in value:
        fields["locations"] = [schema.ToolCallLocation(path=value["path"])]
    content: list[Any] = []
    if "diff" in value:
        path, before, after = value["diff"]
        content.append(schema.FileEditToolCallContent(type="diff", path=path, old_text=before, new_text=after))
    if "output" in value:
        content.append(acp.tool_content(acp.text_block(value["output"])))
    if "terminal" in value:
        content.append(schema.TerminalToolCallContent(type="terminal", terminal_id=value["terminal"]))
    if "meta" in value:
        fields["field_meta"] = value["meta"]
    return fields | ({"content": content} if content else {})


def _call(value: dict[str, Any]) -> Any:
    fields = _fields(value)
    if value.get("title") and value.get("status", "pending") == "pending":
        return schema.ToolCallStart(session_update="tool_call", **fields)
    return schema.ToolCallProgress(session_update="tool_call_update", **fields)


if __name__ == "__main__":
    agent: Any = Scripted()
    asyncio.run(acp.run_agent(agent))
