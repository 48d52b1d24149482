"""Base class of tool arguments."""

from __future__ import annotations

import msgspec


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Arguments of a tool. Descriptions of fields are for the model."""
