"""Refusal of changes to settings over this contract, with the way to change each setting."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.rows.settings import EffectiveSettings

#: How to change each setting.
_ALTERNATIVES = {
    "modes": "Set `mode` of a message with POST /api/chat.",
    "permission_modes": "Set `permission_mode` of a message with POST /api/chat.",
    "agent": "Change the agent's file in agents/. Changes apply from the next turn.",
    "model": "Set the model in the agent's file in agents/, or in settings.toml.",
    "models": "Set models in settings.toml, or with update_settings.",
    "budgets": "Budgets are the same for every folder.",
    "rules": "Use add_rule and revoke_rule, or update_settings for rules in files.",
}


def refuse_changes(body: bytes) -> None:
    """Refuse a change of settings: this route cannot change any.

    Raises:
        Refusal: `invalid_input` for an invalid body or an unknown setting, else `bad_settings` for the first setting.
    """
    try:
        settings: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal("invalid_input", "The body is not JSON.", hint="Send an object of settings.") from error
    if not isinstance(settings, dict):
        raise Refusal("invalid_input", "Expected an object of settings.", hint="GET /api/settings shows an example.")
    names: list[str] = [str(name) for name in settings if name != "project_root"]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    fields = EffectiveSettings.__struct_fields__
    for name in names:
        if name not in fields:
            raise Refusal(
                "invalid_input",
                f"There is no setting {name[:100]}.",
                field=name[:100],
                hint=f"Settings: {', '.join(field for field in fields if field != 'project_root')}.",
            )
    if not names:
        raise Refusal(
            "invalid_input", "The body names no setting.", field="body", hint="GET /api/settings returns all settings."
        )
    raise Refusal(
        "bad_settings",
        f"This route cannot change {names[0]}. No setting was changed.",
        field=names[0],
        hint=_ALTERNATIVES[names[0]],
    )
