"""Backups of a state folder.

archive   the file that a backup is: a manifest and what it lists
taking    making one, beside the process that writes
restoring putting one in the place of the store, which is kept
"""

from __future__ import annotations

from .archive import Manifest
from .restoring import Restored, finish_restore, restore
from .taking import BackedUp, back_up

__all__ = ["BackedUp", "Manifest", "Restored", "back_up", "finish_restore", "restore"]
