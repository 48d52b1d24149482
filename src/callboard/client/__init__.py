"""Python client of a running Callboard.

Example:
    from callboard.client import Client, Endpoint, Refusal
"""

from __future__ import annotations

from callboard.contracts.content import BlobRef, Text
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.live import Cursor
from callboard.contracts.ports.runtime import OpBatch
from callboard.contracts.ports.uploads import Upload
from callboard.contracts.record import WireEvent

from .client import Client, PageLink
from .endpoint import Endpoint, ModelMark

__all__ = [
    "BlobRef",
    "Client",
    "Cursor",
    "Endpoint",
    "ModelMark",
    "OpBatch",
    "PageLink",
    "Problem",
    "Refusal",
    "Text",
    "Upload",
    "WireEvent",
]
