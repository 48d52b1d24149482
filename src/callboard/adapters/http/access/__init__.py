"""Access of the person's own page: credentials and confirmations. All are in memory and end with the process.

Modules:
    codes: Single-use codes that open the page.
    credentials: Credentials of pages, each for one origin and a limited time.
    confirmations: Single-use confirmations of one command with one body.
    granting: Commands that grant more permissions and need a confirmation.
    routes: The routes of codes, credentials and confirmations.
"""

from __future__ import annotations

from .codes import LoginCodes, PageLink
from .confirmations import Confirmations
from .credentials import PageCredentials
from .granting import ConfirmedCommands
from .routes import PageAccess, access_routes

__all__ = [
    "Confirmations",
    "ConfirmedCommands",
    "LoginCodes",
    "PageAccess",
    "PageCredentials",
    "PageLink",
    "access_routes",
]
