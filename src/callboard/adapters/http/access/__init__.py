"""How the person's own page gets a credential, and what the page may do with it.

    codes           one-time codes for a first contact, each with a file that opens the page
    credentials     what pages hold: short-lived and bound to one origin
    confirmations   single-use confirmations of one command with one body
    granting        which commands grant more permission and so need a confirmation
    routes          the routes of the three

Nothing here is stored: a restart ends all of it.
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
