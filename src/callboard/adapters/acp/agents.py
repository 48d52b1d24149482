"""Processes of external agents and conversations with them. The protocol library is loaded on first use."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from callboard import __version__
from callboard.contracts.ports.external import (
    AgentControl,
    AgentSettings,
    ExternalEvent,
    ExternalFailure,
    PermissionAnswer,
    PromptEnded,
)
from callboard.contracts.text.redactor import mask_secrets
from callboard.runtime.workspaces.installation import build_install_command

from .lines import LineTransport
from .process import AgentProcess, start_agent

if TYPE_CHECKING:
    from acp import schema
    from acp.client.connection import ClientSideConnection
    from acp.interfaces import Client
    from pydantic import ValidationError

    from .client import AcpClient

#: Time limit for starting an agent and opening a conversation, in seconds. Some agents install themselves first.
START_SECONDS = 120.0
#: Wait for the end of a process whose output ended, in seconds. After that it counts as running without output.
_EXIT_WAIT_SECONDS = 2.0
_DEFAULT_CONTROL = AgentControl()


class AcpAgents:
    """Implement the port `ExternalAgents`.

    Args:
        environment: The environment that agents receive a part of. Default: this process's environment.
        start_s: Time limit for starting an agent and opening a conversation, in seconds.
    """

    def __init__(self, environment: Mapping[str, str] | None = None, start_s: float = START_SECONDS) -> None:
        self._environment = environment
        self._start_s = start_s

    def check(self) -> None:
        """Check that the protocol library is installed. Raises ExternalFailure `not_installed` without the extra `acp`."""
        try:
            import acp  # noqa: F401  # pyright: ignore[reportUnusedImport]
        except ImportError as error:
            command = build_install_command("acp")
            message = f"The library of the Agent Client Protocol is not installed. In a terminal: {command}"
            raise ExternalFailure("not_installed", message) from error

    async def start(
        self,
        command: tuple[str, ...],
        folder: str,
        *,
        wanted: AgentControl = _DEFAULT_CONTROL,
        resume: str = "",
        reads: bool = False,
        writes: bool = False,
    ) -> AcpSession:
        """Start the command and open a conversation.

        Args:
            wanted: The permission mode, and the mode and model of the agent.
            resume: The agent's id of an earlier conversation; empty for a new one.
            reads: True to offer the agent to read files through Callboard.
            writes: True to offer the agent to write files through Callboard.
        Raises:
            ExternalFailure: `not_installed` without the extra `acp`, `model_auth` if the agent needs a login,
                `model_unavailable`, `model_timeout`, `agent_mode_unavailable` or `unknown_model`.
        """
        self.check()
        from .client import AcpClient

        environment = os.environ if self._environment is None else self._environment
        process = await start_agent(command, folder, environment)
        session = AcpSession(process, AcpClient(), command)
        try:
            async with asyncio.timeout(self._start_s):
                await session.open(folder, resume, reads=reads, writes=writes)
                await session.control(wanted)
        except TimeoutError as error:
            await session.close()
            message = session.format_unavailable(f"It did not respond within {self._start_s:.0f} s.")
            raise ExternalFailure("model_timeout", message, retryable=True) from error
        except BaseException:
            await session.close()
            raise
        return session


class AcpSession:
    """Implement the port `ExternalSession`."""

    def __init__(self, process: AgentProcess, client: AcpClient, command: tuple[str, ...]) -> None:
        from acp.client.connection import ClientSideConnection

        self.id = ""
        self.name = Path(command[0]).name
        self.version = ""
        self.resumed = False
        self._process = process
        self._client = client
        self._lines = LineTransport(process.reader, process.writer, client.wait_for_space)
        self._connection: ClientSideConnection = ClientSideConnection(cast("Client", client), self._lines)

    @property
    def settings(self) -> AgentSettings:
        """The mode and the model in force."""
        return self._client.settings.current

    @property
    def allowed(self) -> bool:
        """Return False if the agent's mode allows more than the permission mode."""
        return self._client.settings.allowed

    @property
    def alive(self) -> bool:
        """Return False once the process or its output has ended."""
        return self._process.running and not self._lines.ended.is_set()

    async def wait_for_end(self) -> str:
        """Wait until the process or its output ends, and return the reason."""
        process = asyncio.ensure_future(self._process.wait_for_end())
        output = asyncio.ensure_future(self._lines.ended.wait())
        try:
            await asyncio.wait([process, output], return_when=asyncio.FIRST_COMPLETED)
        finally:
            process.cancel()
            output.cancel()
            await asyncio.gather(process, output, return_exceptions=True)
        return await self._end_reason()

    async def open(self, folder: str, resume: str, *, reads: bool, writes: bool) -> None:
        """Initialise the connection and open the conversation. Raises ExternalFailure."""
        from acp import PROTOCOL_VERSION, RequestError, schema
        from pydantic import ValidationError

        files = schema.FileSystemCapabilities(read_text_file=reads, write_text_file=writes)
        try:
            initialized = await self._connection.initialize(
                protocol_version=PROTOCOL_VERSION,
                client_capabilities=schema.ClientCapabilities(fs=files, terminal=False),
                client_info=schema.Implementation(name="callboard", title="Callboard", version=__version__),
            )
            if (agent := initialized.agent_info) is not None:
                self._client.settings.introduce(agent.name)
                self.name, self.version = agent.title or agent.name, agent.version
            capabilities = initialized.agent_capabilities
            if resume and capabilities is not None:
                self.resumed = await self._resume(folder, resume, capabilities)
            if not self.resumed:
                created = await self._connection.new_session(cwd=folder, mcp_servers=[])
                self.id = self._client.conversation = created.session_id
                self._client.settings.apply_advertised(created.modes, created.config_options)
        except RequestError as error:
            if error.code == RequestError.auth_required().code:
                message = f"{self.name} needs a login: start it once by hand and log in. {_format_error(error)}"
                raise ExternalFailure("model_auth", message) from error
            raise ExternalFailure("model_unavailable", self.format_unavailable(_format_error(error))) from error
        except ValidationError as error:
            raise self._build_invalid_failure(error) from error
        except (ConnectionError, OSError) as error:
            raise await self._build_disconnect_failure() from error

    async def control(self, wanted: AgentControl) -> None:
        """Put the agent into a mode that the permission mode allows, and choose its model. Raises ExternalFailure."""
        from pydantic import ValidationError

        try:
            await self._client.settings.apply(self._connection, self.id, wanted)
        except ExternalFailure as failure:
            raise ExternalFailure(failure.code, f"{self.name}: {failure.message}") from failure
        except ValidationError as error:
            raise self._build_invalid_failure(error) from error
        except (ConnectionError, OSError) as error:
            raise await self._build_disconnect_failure() from error

    async def prompt(self, text: str) -> AsyncGenerator[ExternalEvent]:
        """Send the next input and yield the agent's events. Raises ExternalFailure."""
        from acp import RequestError, text_block
        from pydantic import ValidationError

        from .translation import convert_end

        events = self._client.events
        while not events.empty():
            events.get_nowait()
        self._client.listening = True
        prompt_task = asyncio.create_task(self._connection.prompt(session_id=self.id, prompt=[text_block(text)]))
        prompt_task.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await self._client.read_event()) is not None:
                yield event
            try:
                end, usage = convert_end(prompt_task.result())
            except RequestError as error:
                code = "model_auth" if error.code == RequestError.auth_required().code else "model_refused_request"
                raise ExternalFailure(code, f"{self.name} failed: {_format_error(error)}", retryable=True) from error
            except ValidationError as error:
                raise self._build_invalid_failure(error) from error
            except (ConnectionError, OSError) as error:
                raise await self._build_disconnect_failure() from error
            yield PromptEnded(end, usage)
        finally:
            self._client.stop_listening()
            # The caller takes no more events, so open requests of the agent would wait forever.
            self._client.withdraw()
            prompt_task.cancel()
            await asyncio.gather(prompt_task, return_exceptions=True)

    def permit(self, key: int, answer: PermissionAnswer) -> None:
        """Answer a request for permission."""
        self._client.permit(key, answer)

    def answer_file_request(self, key: int, text: str = "", *, refusal: str = "", missing: bool = False) -> None:
        """Answer a request to read or write a file.

        Args:
            text: Content of the file that was read.
            refusal: Reason of a refusal; empty if the request was allowed.
            missing: True if the file does not exist.
        """
        self._client.answer_file_request(key, text, refusal, missing=missing)

    async def cancel(self) -> None:
        """Ask the agent to stop its prompt."""
        try:
            await self._connection.cancel(session_id=self.id)
        except (ConnectionError, OSError):
            # The process has ended, which ends the prompt as well.
            return
        self._client.withdraw()

    async def close(self) -> None:
        """End the agent and all processes that it started."""
        if self.alive:
            self._client.withdraw()
        await self._process.end()
        # Messages to an agent that has ended are lost.
        with contextlib.suppress(ConnectionError):
            await self._connection.close()

    def format_unavailable(self, reason: str) -> str:
        """Return why the agent is unavailable, with the end of its error output."""
        tail = self._process.read_tail()
        return f"{self.name} is not available. {reason}" + (f" Its last error output:\n{tail}" if tail else "")

    async def _resume(self, folder: str, resume: str, capabilities: schema.AgentCapabilities) -> bool:
        from acp import RequestError

        session_capabilities = capabilities.session_capabilities
        # The agent sends updates of the conversation before its response.
        self._client.conversation = resume
        try:
            if capabilities.load_session:
                loaded = await self._connection.load_session(cwd=folder, session_id=resume, mcp_servers=[])
            elif session_capabilities is not None and session_capabilities.resume is not None:
                loaded = await self._connection.resume_session(cwd=folder, session_id=resume, mcp_servers=[])
            else:
                loaded = None
        except RequestError:
            # The agent no longer has this conversation, so the caller opens a new one.
            loaded = None
        if loaded is None:
            self._client.conversation = ""
            return False
        self.id = resume
        self._client.settings.apply_advertised(loaded.modes, loaded.config_options)
        return True

    def _build_invalid_failure(self, error: ValidationError) -> ExternalFailure:
        message = self.format_unavailable(f"It sent an invalid {error.title}.")
        return ExternalFailure("model_unavailable", message, retryable=True)

    async def _build_disconnect_failure(self) -> ExternalFailure:
        return ExternalFailure("model_unavailable", self.format_unavailable(await self._end_reason()), retryable=True)

    async def _end_reason(self) -> str:
        # The output ends a moment before the process.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_WAIT_SECONDS):
                await self._process.wait_for_end()
        return self._lines.fault or self._process.describe_end()


def _format_error(error: Exception) -> str:
    data: Any = getattr(error, "data", None)
    fields = cast("dict[str, Any]", data) if isinstance(data, dict) else {"details": data}
    details = str(fields.get("details") or fields.get("message") or "")
    text = f"{error}: {details}" if details and details not in str(error) else str(error)
    return mask_secrets(text[:1000])
