"""Backups of a state folder.

archive   the file that a backup is: a manifest and what it lists
taking    making one, beside the process that writes
restoring putting one in the place of the store, which is kept
"""

from __future__ import annotations

from .archive import Manifest
from .restoring import RestoreResult, finish_restore, restore
from .taking import BackupResult, back_up

__all__ = ["BackupResult", "Manifest", "RestoreResult", "back_up", "finish_restore", "restore"]
