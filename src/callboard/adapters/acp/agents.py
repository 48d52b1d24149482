"""Starts agents and talks with them. The library of the protocol is loaded when the first one is started."""

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
from callboard.contracts.text.redactor import without_secrets
from callboard.runtime.workspaces.installation import install_command

from .lines import LineTransport
from .process import AgentProcess, start_agent

if TYPE_CHECKING:
    from acp import schema
    from acp.client.connection import ClientSideConnection
    from acp.interfaces import Client
    from pydantic import ValidationError

    from .client import AcpClient

#: How long an agent may take to start and to open a conversation, in seconds; some install themselves first.
START_S = 120.0
#: How long a process may outlast its output, in seconds, before it counts as running without one.
_OUTLASTS_S = 2.0
_ASKS = AgentControl()


class AcpAgents:
    """Implements the port `ExternalAgents`. `given` is the environment of which agents get a part."""

    def __init__(self, environment: Mapping[str, str] | None = None, start_s: float = START_S) -> None:
        self._given = environment
        self._start_s = start_s

    def check(self) -> None:
        """Check that the library of the protocol is there. Raises ExternalFailure `not_installed` without the extra `acp`."""
        try:
            import acp  # noqa: F401  # pyright: ignore[reportUnusedImport]
        except ImportError as error:
            message = f"The library of the Agent Client Protocol is missing. In a terminal: {install_command('acp')}"
            raise ExternalFailure("not_installed", message) from error

    async def start(
        self,
        command: tuple[str, ...],
        folder: str,
        *,
        wanted: AgentControl = _ASKS,
        resume: str = "",
        reads: bool = False,
        writes: bool = False,
    ) -> AcpSession:
        """Starts the command and opens a conversation. Raises ExternalFailure `not_installed` without the extra `acp`,
        `model_auth` where the agent wants a login, `model_unavailable`, `model_timeout`, `agent_mode_unavailable`,
        `unknown_model`."""
        self.check()
        from .client import AcpClient

        process = await start_agent(command, folder, os.environ if self._given is None else self._given)
        session = AcpSession(process, AcpClient(), command)
        try:
            async with asyncio.timeout(self._start_s):
                await session.open(folder, resume, reads=reads, writes=writes)
                await session.control(wanted)
        except TimeoutError as error:
            await session.close()
            message = session.unavailable_message(f"It did not answer within {self._start_s:.0f} s.")
            raise ExternalFailure("model_timeout", message, retryable=True) from error
        except BaseException:
            await session.close()
            raise
        return session


class AcpSession:
    """Implements the port `ExternalSession`."""

    def __init__(self, process: AgentProcess, inward: AcpClient, command: tuple[str, ...]) -> None:
        from acp.client.connection import ClientSideConnection

        self.id = ""
        self.name = Path(command[0]).name
        self.version = ""
        self.resumed = False
        self._process = process
        self._client = inward
        self._lines = LineTransport(process.reader, process.writer, inward.wait_for_room)
        self._connection: ClientSideConnection = ClientSideConnection(cast("Client", inward), self._lines)

    @property
    def settings(self) -> AgentSettings:
        """The mode and the model in force."""
        return self._client.settings.current

    @property
    def allowed(self) -> bool:
        """False for a mode that allows more than the permission mode."""
        return self._client.settings.allowed

    @property
    def alive(self) -> bool:
        """False once the agent is gone, or nothing more can be read from it."""
        return self._process.running and not self._lines.ended.is_set()

    async def gone(self) -> str:
        """Waits until the agent is gone or closed its output; says how it ended."""
        process = asyncio.ensure_future(self._process.ended())
        output = asyncio.ensure_future(self._lines.ended.wait())
        try:
            await asyncio.wait([process, output], return_when=asyncio.FIRST_COMPLETED)
        finally:
            process.cancel()
            output.cancel()
            await asyncio.gather(process, output, return_exceptions=True)
        return await self._how_it_ended()

    async def open(self, folder: str, resume: str, *, reads: bool, writes: bool) -> None:
        """Says hello and opens the conversation. Raises ExternalFailure."""
        from acp import PROTOCOL_VERSION, RequestError, schema
        from pydantic import ValidationError

        files = schema.FileSystemCapabilities(read_text_file=reads, write_text_file=writes)
        try:
            hello = await self._connection.initialize(
                protocol_version=PROTOCOL_VERSION,
                client_capabilities=schema.ClientCapabilities(fs=files, terminal=False),
                client_info=schema.Implementation(name="callboard", title="Callboard", version=__version__),
            )
            if hello.agent_info is not None:
                self._client.settings.introduce(hello.agent_info.name)
                self.name, self.version = hello.agent_info.title or hello.agent_info.name, hello.agent_info.version
            able = hello.agent_capabilities
            if resume and able is not None:
                self.resumed = await self._resume(folder, resume, able)
            if not self.resumed:
                made = await self._connection.new_session(cwd=folder, mcp_servers=[])
                self.id = self._client.conversation = made.session_id
                self._client.settings.apply_advertised(made.modes, made.config_options)
        except RequestError as error:
            if error.code == RequestError.auth_required().code:
                message = f"{self.name} wants a login first: start it once by hand. {_said(error)}"
                raise ExternalFailure("model_auth", message) from error
            raise ExternalFailure("model_unavailable", self.unavailable_message(_said(error))) from error
        except ValidationError as error:
            raise self._invalid(error) from error
        except (ConnectionError, OSError) as error:
            raise await self._disconnected() from error

    async def control(self, wanted: AgentControl) -> None:
        """Put the agent into a mode that the permission mode allows, and choose its model. Raises ExternalFailure."""
        from pydantic import ValidationError

        try:
            await self._client.settings.apply(self._connection, self.id, wanted)
        except ExternalFailure as failure:
            raise ExternalFailure(failure.code, f"{self.name}: {failure.message}") from failure
        except ValidationError as error:
            raise self._invalid(error) from error
        except (ConnectionError, OSError) as error:
            raise await self._disconnected() from error

    async def prompt(self, text: str) -> AsyncGenerator[ExternalEvent]:
        """Gives the agent its next input. Raises ExternalFailure."""
        from acp import RequestError, text_block
        from pydantic import ValidationError

        from .translation import prompt_end

        events = self._client.events
        while not events.empty():
            events.get_nowait()
        self._client.listening = True
        asking = asyncio.create_task(self._connection.prompt(session_id=self.id, prompt=[text_block(text)]))
        asking.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await self._client.next_event()) is not None:
                yield event
            try:
                end, usage = prompt_end(asking.result())
            except RequestError as error:
                code = "model_auth" if error.code == RequestError.auth_required().code else "model_refused_request"
                raise ExternalFailure(code, f"{self.name} failed: {_said(error)}", retryable=True) from error
            except ValidationError as error:
                raise self._invalid(error) from error
            except (ConnectionError, OSError) as error:
                raise await self._disconnected() from error
            yield PromptEnded(end, usage)
        finally:
            self._client.stop_listening()
            # What was asked last and is not taken any more must not wait for ever.
            self._client.withdraw()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    def permit(self, key: int, answer: PermissionAnswer) -> None:
        """Answers what asked for permission."""
        self._client.permit(key, answer)

    def give(self, key: int, text: str = "", *, refusal: str = "", missing: bool = False) -> None:
        """Answers a read or a write."""
        self._client.give(key, text, refusal, missing=missing)

    async def cancel(self) -> None:
        """Asks the agent to stop."""
        try:
            await self._connection.cancel(session_id=self.id)
        except (ConnectionError, OSError):
            # It is gone, which ends the prompt as well.
            return
        self._client.withdraw()

    async def close(self) -> None:
        """Ends the agent with all that it started."""
        if self.alive:
            self._client.withdraw()
        await self._process.end()
        # What was on its way to an agent that is gone already reaches nobody.
        with contextlib.suppress(ConnectionError):
            await self._connection.close()

    def unavailable_message(self, why: str) -> str:
        """Why the agent is of no use, with its last words."""
        tail = self._process.tail()
        return f"{self.name} is not available. {why}" + (f" It said last:\n{tail}" if tail else "")

    async def _resume(self, folder: str, resume: str, able: schema.AgentCapabilities) -> bool:
        from acp import RequestError

        more = able.session_capabilities
        # It sends updates of that conversation before its answer.
        self._client.conversation = resume
        try:
            if able.load_session:
                found = await self._connection.load_session(cwd=folder, session_id=resume, mcp_servers=[])
            elif more is not None and more.resume is not None:
                found = await self._connection.resume_session(cwd=folder, session_id=resume, mcp_servers=[])
            else:
                found = None
        except RequestError:
            # It has that conversation no longer; a new one begins, and says that it is new.
            found = None
        if found is None:
            self._client.conversation = ""
            return False
        self.id = resume
        self._client.settings.apply_advertised(found.modes, found.config_options)
        return True

    def _invalid(self, error: ValidationError) -> ExternalFailure:
        message = self.unavailable_message(f"It sent an invalid {error.title}.")
        return ExternalFailure("model_unavailable", message, retryable=True)

    async def _disconnected(self) -> ExternalFailure:
        return ExternalFailure(
            "model_unavailable", self.unavailable_message(await self._how_it_ended()), retryable=True
        )

    async def _how_it_ended(self) -> str:
        """Its output ends a moment before the process."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_OUTLASTS_S):
                await self._process.ended()
        return self._lines.fault or self._process.end_reason()


def _said(error: Exception) -> str:
    data: Any = getattr(error, "data", None)
    held = cast("dict[str, Any]", data) if isinstance(data, dict) else {"details": data}
    details = str(held.get("details") or held.get("message") or "")
    said = f"{error}: {details}" if details and details not in str(error) else str(error)
    return without_secrets(said[:1000])
