"""Backups of a state folder.

archive   the file that a backup is: a manifest and what it lists
taking    making one, beside the process that writes
restoring putting one in the place of the store, which is kept
"""

from __future__ import annotations

from .archive import Manifest
from .backup_restorer import RestoreResult, finish_restore, restore
from .backup_writer import BackupResult, back_up

__all__ = ["BackupResult", "Manifest", "RestoreResult", "back_up", "finish_restore", "restore"]
