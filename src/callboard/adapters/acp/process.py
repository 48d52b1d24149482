"""The process of an agent: started with few variables behind a guard, ended with all that came of it, its last words kept."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import signal
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from callboard.contracts.ports.external import ExternalFailure
from callboard.contracts.text.redactor import without_secrets
from callboard.tools.sandbox.launch import Descriptors, Guard, Launch, as_it_is, launched

from .modes import ENVIRONMENT

#: What an agent is told of this process's environment: where programs, its home and its own settings are. No key of a provider
#: and none of ours is among them; an agent uses its own login, which is in its home.
PASSED = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LANGUAGE"),
        *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"),
        *(
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "GEMINI_CLI_HOME",
            "OPENCODE_CONFIG",
            "OPENCODE_CONFIG_DIR",
            "GOOSE_PATH_ROOT",
        ),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    }
)
#: A line of the protocol may hold a whole file.
LARGEST_LINE = 64 * 1024 * 1024
_TAIL_LINES = 20
_LONGEST_LINE = 400
#: How long an agent may take to end by itself once its input is closed, and its last words to arrive, in seconds.
_BY_ITSELF_S = 1.0
_LAST_WORDS_S = 2.0
#: How long the guard may take to end what the agent started, in seconds: longer than it goes on against new processes.
_TREE_S = 30.0
#: What a shell adds to the number of the signal that ended a program, and the guard as well.
_SIGNALLED = 128


def agent_environment(given: Mapping[str, str]) -> dict[str, str]:
    """The variables that an agent gets."""
    passed = {name: value for name, value in given.items() if name in PASSED or name.startswith("LC_")}
    return {**passed, **ENVIRONMENT}


class AgentProcess:
    """A started agent. `tail` is what it wrote last on its standard error, without what looks like a secret.

    Its guard ends every process that came of it as soon as the agent has ended, `end` is called, or this process is gone.
    """

    def __init__(self, guard: Guard, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._guard = guard
        self._process = guard.process
        self._how = ""
        self._closed = False
        self._lines: deque[str] = deque(maxlen=_TAIL_LINES)
        self._listening = asyncio.create_task(self._listen())

    @property
    def running(self) -> bool:
        """False once it has ended, and all that it started."""
        return self._process.returncode is None

    def tail(self) -> str:
        """Its last words."""
        return without_secrets("\n".join(self._lines))

    def end_reason(self) -> str:
        """Its exit code or signal, as words."""
        if self.running:
            return "It is running, and closed its output."
        return self._how or "It was ended."

    async def ended(self) -> None:
        """Waits for its end and its last words."""
        await self._process.wait()
        await asyncio.wait([self._listening], timeout=_LAST_WORDS_S)
        self._note_end()

    async def end(self) -> None:
        """Closes its input, which asks it to end, and has the guard end it with all that it started."""
        with contextlib.suppress(OSError, RuntimeError):
            self.writer.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _BY_ITSELF_S)
        self._guard.let_go()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _TREE_S)
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)
        self._note_end()
        if not self._closed:
            self._closed = True
            self._guard.close()

    def _note_end(self) -> None:
        for status in () if self._how or self._closed else self._guard.told():
            if status.error:
                self._how = f"It could not be started: {status.error.rpartition(': ')[2]}."
                return
            if status.exit is not None and status.exit > _SIGNALLED:
                self._how = f"It was ended by {_signal_name(status.exit - _SIGNALLED)}."
            elif status.exit is not None:
                self._how = f"It ended with {status.exit}."

    async def _listen(self) -> None:
        stderr = self._process.stderr
        while stderr is not None:
            try:
                line = await stderr.readline()
            except ValueError:
                continue
            if not line:
                return
            self._lines.append(line.decode("utf-8", "replace").rstrip()[:_LONGEST_LINE])


async def start_agent(command: tuple[str, ...], folder: str, given: Mapping[str, str]) -> AgentProcess:
    """Starts the command. Raises ExternalFailure `model_unavailable` where it cannot be."""
    passed = agent_environment(given)
    program = Path(folder, command[0]) if "/" in command[0] else command[0]
    if shutil.which(program, path=passed.get("PATH")) is None:
        reason = os.strerror(errno.EACCES if isinstance(program, Path) and program.is_file() else errno.ENOENT)
        raise ExternalFailure("model_unavailable", f"{command[0]} could not be started: {reason}.")
    launch = Launch(as_it_is(command), folder, passed, {})
    try:
        with Descriptors() as ours:
            reads, writes = ours.pipe()
            ours.keep(reads)
            guard, cancelled = await launched(launch, given=reads, limit=LARGEST_LINE)
            try:
                if cancelled or guard.process.stdout is None:
                    raise asyncio.CancelledError
                ours.keep(writes)
                return AgentProcess(guard, guard.process.stdout, await _writer(writes))
            except BaseException:
                guard.let_go()
                await guard.process.wait()
                guard.close()
                raise
    except (OSError, ValueError) as error:
        reason = f"{command[0]} could not be started: {getattr(error, 'strerror', '') or error}."
        raise ExternalFailure("model_unavailable", reason) from error


async def _writer(descriptor: int) -> asyncio.StreamWriter:
    """What writes to the agent's standard input."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(descriptor, "wb", 0)
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
