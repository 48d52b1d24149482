"""Scripted agent of the tests, run as a real process: `agent.py SCRIPT.json`.

A conversation's id is `conversation-PID`, or the value of `"conversation"`. The script is `{"prompts": [[step, ...], ...],
"load": false, "state": "file"}`; each prompt plays the next list. The modes are `code`, `ask` and `plan`, or those of
`"modes"`; the first one is in force. With `"sticks"` the agent reports success but keeps its mode; with `"deaf"` it rejects the
change. With `"options"` modes are a configuration option, with `"models"` there is an option for the model. `"agent"` is the
agent's name. In a mode named `code`, `auto` or `yolo`, `run` asks for no permission. Steps:

say, think     sends a piece of text
plan           sends a plan; each line is a text (pending) or [text, status]
call           sends a tool call of the protocol: id, title, kind, status, input, diff, output, path, terminal, meta
run            asks for permission for a command and runs it once allowed; a cancellation ends the prompt. With `hasty` it
               reports the command as in progress before it asks, like OpenCode
permit         asks for permission for a call, and sends the answer as text
read, write    requests a file, and sends the result as text
later          requests a file outside a prompt, and writes the result to the file `into`
mark           creates a file, so that a test sees the progress
edit           asks for permission to change a file, and writes it through the client once allowed
mode           changes its mode
echo           sends the text of the prompt
err            writes to its standard error
die            exits with that code
hang           waits until it is cancelled
stay           waits forever, even if cancelled
end            ends the prompt with that stop reason
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
    """Save a third of the start-up time: pydantic parses the source of 280 models for descriptions if it is available."""

    def no_source(_: object) -> Any:
        raise OSError

    originals = inspect.currentframe, inspect.findsource
    inspect.currentframe, inspect.findsource = lambda: None, no_source
    try:
        yield
    finally:
        inspect.currentframe, inspect.findsource = originals


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
        await self._send(session_id, acp.update_agent_message_text("an old answer, repeated"))
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
        modes = [schema.SessionMode(id=mode, name=mode) for mode in self._modes]
        state = schema.SessionModeState(current_mode_id=self._mode, available_modes=modes) if modes else None
        return {"modes": None if "options" in SCRIPT else state, "config_options": self._options()}

    def _options(self) -> list[Any]:
        options: list[Any] = []
        if "options" in SCRIPT:
            options.append(_option("the-mode", "mode", self._mode, self._modes))
        if self._models:
            options.append(_option("the-model", "model", self._model, self._models))
        return options

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
                    await self._send(session_id, acp.update_agent_message_text(" (stopped)"))
                    return schema.PromptResponse(stop_reason="cancelled")
                await self._play(session_id, kind, value, prompt)
        usage = schema.Usage(total_tokens=30, input_tokens=20, output_tokens=10)
        return schema.PromptResponse(stop_reason="end_turn", usage=usage)

    def _next(self) -> int:
        """Return the number of the prompt; it survives a restart if the script names a file for it."""
        if "state" in SCRIPT:
            state = Path(SCRIPT["state"])
            self._prompts = int(state.read_text()) if state.exists() else 0
            state.write_text(str(self._prompts + 1))
        self._prompts += 1
        return self._prompts - 1

    async def _play(self, session: str, kind: str, value: Any, prompt: list[Any]) -> None:
        match kind:
            case "say":
                await self._send(session, acp.update_agent_message_text(value))
            case "echo":
                await self._send(session, acp.update_agent_message_text(" ".join(block.text for block in prompt)))
            case "think":
                await self._send(session, acp.update_agent_thought_text(value))
            case "plan":
                lines = [line if isinstance(line, list) else [line, "pending"] for line in value]
                entries = [schema.PlanEntry(content=line, priority="medium", status=status) for line, status in lines]
                await self._send(session, schema.AgentPlanUpdate(session_update="plan", entries=entries))
            case "call":
                await self._send(session, _call(value))
            case "permit":
                options = [schema.PermissionOption(option_id=name, name=name, kind=kind) for name, kind in OPTIONS]
                call = schema.ToolCallUpdate(**_fields(value))
                answer = await self._conn.request_permission(session_id=session, tool_call=call, options=options)
                outcome = answer.outcome.outcome
                outcome = answer.outcome.option_id if outcome == "selected" else outcome
                await self._send(session, acp.update_agent_message_text(f"[{outcome}]"))
            case "read":
                await self._send_result(session, self._conn.read_text_file(session_id=session, **value))
            case "write":
                await self._send_result(session, self._conn.write_text_file(session_id=session, **value))
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
                await self._send(session, change)
            case _:
                raise ValueError(kind)

    async def _edit(self, session: str, id: str, path: str, before: str | None, after: str) -> None:
        call_fields = {"id": id, "title": "Edit files", "kind": "edit", "path": path, "diff": [path, before, after]}
        options = [schema.PermissionOption(option_id=name, name=name, kind=kind) for name, kind in OPTIONS]
        call = schema.ToolCallUpdate(**_fields(call_fields))
        answer = await self._conn.request_permission(session_id=session, tool_call=call, options=options)
        allowed = answer.outcome.outcome == "selected" and answer.outcome.option_id == "yes"
        if allowed:
            await self._send_result(session, self._conn.write_text_file(session_id=session, path=path, content=after))
        await self._send(session, _call({"id": id, "status": "completed" if allowed else "failed"}))

    async def _run(self, session: str, value: dict[str, Any]) -> bool:
        """Return False if the command was cancelled."""
        call = {"id": value["id"], "title": value["command"], "kind": "execute", "input": {"command": value["command"]}}
        await self._send(session, _call(call))
        if self._mode in ("code", "auto", "yolo"):
            return await self._do(session, value)
        if value.get("hasty"):
            await self._send(session, _call({"id": value["id"], "status": "in_progress"}))
        options = [schema.PermissionOption(option_id=name, name=name, kind=kind) for name, kind in OPTIONS]
        update = schema.ToolCallUpdate(**_fields(call))
        answer = await self._conn.request_permission(session_id=session, tool_call=update, options=options)
        if answer.outcome.outcome != "selected":
            return False
        if answer.outcome.option_id == "no":
            await self._send(session, _call({"id": value["id"], "status": "failed", "output": "refused"}))
            return True
        return await self._do(session, value)

    async def _do(self, session: str, value: dict[str, Any]) -> bool:
        running = await asyncio.create_subprocess_shell(value["command"], stdout=asyncio.subprocess.PIPE)
        printed, _ = await running.communicate()
        await self._send(session, _call({"id": value["id"], "status": "completed", "output": printed.decode()}))
        return True

    async def _send_result(self, session: str, request: Any) -> None:
        await self._send(session, acp.update_agent_message_text(f"[{await self._result(request)}]"))

    async def _read_later(self, session: str, path: str, into: str) -> None:
        result = await self._result(self._conn.read_text_file(session_id=session, path=path))
        await asyncio.to_thread(Path(into).write_text, result)

    async def _result(self, request: Any) -> str:
        try:
            return str(getattr(await request, "content", "done"))
        except acp.RequestError as error:
            return f"refused: {error.data}" if error.data else f"{error.code} {error}"

    async def _send(self, session: str, update: Any) -> None:
        await self._conn.session_update(session_id=session, update=update)


def _option(name: str, category: Any, current: str, values: list[str]) -> Any:
    options = [schema.SessionConfigSelectOption(value=value, name=value) for value in values]
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
