"""What a tool is asked with."""

from __future__ import annotations

import msgspec


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The arguments of a tool. Descriptions of fields are written for the model."""
