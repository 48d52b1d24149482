"""Access of the person's own page: credentials and confirmations. All are in memory and end with the process."""

from __future__ import annotations

from .codes import LoginCodes, PageLink
from .confirmations import Confirmations
from .confirmed_commands import ConfirmedCommands
from .credentials import PageCredentials
from .routes import PageAccess, build_access_routes

__all__ = [
    "Confirmations",
    "ConfirmedCommands",
    "LoginCodes",
    "PageAccess",
    "PageCredentials",
    "PageLink",
    "build_access_routes",
]
