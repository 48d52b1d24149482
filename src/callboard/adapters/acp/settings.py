"""Mode and model of a conversation: the advertised ones, the current ones and changes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from acp import RequestError, schema

from callboard.contracts.errors import Code
from callboard.contracts.ports.external import OWN_MODE, AgentControl, AgentSettings, ExternalFailure
from callboard.contracts.text.redactor import mask_secrets
from callboard.contracts.text.sentences import to_clause

from .modes import KnownAgent, choose_mode, find_agent, find_widest_rank, is_allowed, is_known

if TYPE_CHECKING:
    from acp.client.connection import ClientSideConnection

#: Time limit for a change of mode or model, in seconds.
CHANGE_SECONDS = 15.0

_Options = Sequence[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean]
_WITHOUT_MODES = "It advertises no mode that asks for approval, so Callboard cannot supervise it."


class SettingsController:
    """Keep an agent within a permission mode. `current` is the mode and model that the agent reports."""

    def __init__(self) -> None:
        self.current = AgentSettings()
        self._agent: KnownAgent = find_agent("")
        self._wanted = AgentControl()
        self._modes: tuple[str, ...] = ()
        self._models: tuple[str, ...] = ()
        #: Ids of the options that set mode and model; empty if the agent has no such option.
        self._options = {"mode": "", "model": ""}

    @property
    def missing_is_empty(self) -> bool:
        """Return True if a missing file must read as empty."""
        return self._agent.missing_is_empty

    @property
    def writes_itself(self) -> bool:
        """Return True if the agent writes files itself, and a write through the client is a copy."""
        return self._agent.writes_itself

    @property
    def allowed(self) -> bool:
        """Return True if the permission mode allows the mode in force."""
        return self._is_allowed(self.current.mode)

    def introduce(self, name: str) -> None:
        """Store the name that the agent reports."""
        self._agent = find_agent(name)

    def apply_advertised(self, modes: schema.SessionModeState | None, options: _Options | None) -> None:
        """Store the modes and options that the agent advertises with a conversation."""
        if modes is not None:
            self._modes = tuple(mode.id for mode in modes.available_modes)
            self._set_current(mode=modes.current_mode_id)
        self._apply_options(options or ())

    def apply_update(self, update: object) -> bool:
        """Apply an update of the conversation. Return whether it changed the mode or the model."""
        before = self.current
        if isinstance(update, schema.CurrentModeUpdate):
            self._set_current(mode=update.current_mode_id)
        elif isinstance(update, schema.ConfigOptionUpdate):
            self._apply_options(update.config_options)
        return self.current != before

    async def apply(self, connection: ClientSideConnection, session: str, wanted: AgentControl) -> None:
        """Put the agent into a mode that the permission mode allows, and choose its model.

        Raises:
            ExternalFailure: `agent_mode_unavailable` or `unknown_model`, with what the agent offers.
        """
        self._wanted = wanted
        mode = self._select_mode()
        if mode != self.current.mode:
            await self._set(connection, session, "mode", mode)
        if not self.allowed or (mode and self.current.mode != mode):
            raise _build_failure(f"Its mode is {self.current.mode or '(none)'} after it was set to {mode}.")
        if wanted.model and wanted.model != self.current.model:
            if wanted.model not in self._models:
                raise ExternalFailure(
                    "unknown_model", f"It has no model {wanted.model}. {_format_offers(self._models)}"
                )
            await self._set(connection, session, "model", wanted.model)

    def _select_mode(self) -> str:
        """Return the mode to work in. Raises ExternalFailure if no mode fits."""
        wanted, permission = self._wanted.mode, self._wanted.permission
        if wanted == OWN_MODE:
            return self.current.mode
        chosen = choose_mode(self._agent, self._modes, self.current.mode, permission)
        if wanted:
            planned = permission == "planning" and self._agent.modes.get(chosen) == "plan"
            mode = chosen if planned else wanted
            if mode not in self._modes:
                raise _build_failure(f"It has no mode {mode}. {_format_offers(self._modes)}")
            if not self._is_allowed(mode):
                limit = find_widest_rank(permission)
                message = f"Its mode {mode} allows more than the permission mode {permission} (at most {limit})."
                raise _build_failure(message)
            return mode
        if not chosen and not self._is_allowed(self.current.mode):
            unknown = f"{_format_offers(self._modes)} Callboard knows none of them to ask for approval."
            raise _build_failure(unknown if self._modes else _WITHOUT_MODES)
        return chosen or self.current.mode

    def _is_allowed(self, mode: str) -> bool:
        """Allow an unknown mode if the definition names it: a person approved it with the start."""
        if self._wanted.mode == OWN_MODE or (not mode and not self._modes and self._agent.asks_without_modes):
            return True
        if mode and mode == self._wanted.mode and not is_known(self._agent, mode):
            return True
        return is_allowed(self._agent, mode, self._wanted.permission)

    async def _set(self, connection: ClientSideConnection, session: str, kind: str, value: str) -> None:
        code: Code = "agent_mode_unavailable" if kind == "mode" else "unknown_model"
        try:
            async with asyncio.timeout(CHANGE_SECONDS):
                if self._options[kind]:
                    response = await connection.set_config_option(
                        config_id=self._options[kind], session_id=session, value=value
                    )
                    self._apply_options(response.config_options)
                else:
                    await connection.set_session_mode(session_id=session, mode_id=value)
                    self._set_current(mode=value)
        except (RequestError, TimeoutError) as error:
            reason = mask_secrets(str(error)[:500]) or f"no response within {CHANGE_SECONDS:.0f} s"
            raise ExternalFailure(code, f"It did not accept its {kind} {value}: {to_clause(reason)}.") from error

    def _apply_options(self, options: _Options) -> None:
        for option in options:
            kind = str(option.category)
            if kind not in self._options or not isinstance(option, schema.SessionConfigOptionSelect):
                continue
            self._options[kind] = option.id
            values = tuple(_list_values(option))
            if kind == "mode":
                self._modes = values
                self._set_current(mode=option.current_value)
            else:
                self._models = values
                self._set_current(model=option.current_value)

    def _set_current(self, *, mode: str | None = None, model: str | None = None) -> None:
        before = self.current
        self.current = AgentSettings(
            mode=before.mode if mode is None else mode, model=before.model if model is None else model
        )


def _list_values(option: schema.SessionConfigOptionSelect) -> list[str]:
    values: list[str] = []
    for entry in option.options:
        grouped = entry.options if isinstance(entry, schema.SessionConfigSelectGroup) else [entry]
        values += [choice.value for choice in grouped]
    return values


def _format_offers(names: tuple[str, ...]) -> str:
    return f"It offers {', '.join(names[:30])}." if names else "It offers none."


def _build_failure(message: str) -> ExternalFailure:
    return ExternalFailure("agent_mode_unavailable", message)
