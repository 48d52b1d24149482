"""What holds in a folder, and what of it can be changed here: nothing yet, and what is asked for is refused by its name."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.rows.run_record import EffectiveSettings

#: Where each setting is changed instead.
_ELSEWHERE = {
    "modes": "A message names its mode: POST /api/chat takes `mode`.",
    "permission_modes": "A message names its permission mode: POST /api/chat takes `permission_mode`.",
    "agent": "Change the agent's file in agents/; it holds from the next turn on.",
    "model": "Name a model in the agent's file in agents/, or in settings.toml.",
    "models": "Set models in settings.toml, or with update_settings.",
    "budgets": "Budgets are the same for every folder.",
    "rules": "add_rule gives one, revoke_rule takes it back; those of files are changed with update_settings.",
}


def refuse_changes(body: bytes) -> None:
    """Raises Refusal that names the first setting of the body: none can be changed by this route, and nothing was."""
    try:
        sent: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal("invalid_input", "The body is not JSON.", hint="Send an object of settings.") from error
    if not isinstance(sent, dict):
        raise Refusal("invalid_input", "Expected an object of settings.")
    names: list[str] = [str(name) for name in sent if name != "project_root"]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    known = EffectiveSettings.__struct_fields__
    for name in names:
        if name not in known:
            raise Refusal(
                "invalid_input",
                f"There is no setting {name[:100]}.",
                field=name[:100],
                hint=f"There are: {', '.join(field for field in known if field != 'project_root')}.",
            )
    if not names:
        raise Refusal(
            "invalid_input", "The body names no setting.", field="body", hint="GET /api/settings tells what holds."
        )
    raise Refusal(
        "bad_settings",
        f"{names[0]} cannot be changed here; nothing was changed.",
        field=names[0],
        hint=_ELSEWHERE[names[0]],
    )
