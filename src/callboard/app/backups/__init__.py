"""Backups of a state folder."""

from __future__ import annotations

from .archive import Manifest
from .backup_restorer import RestoreResult, finish_restore, restore
from .backup_writer import BackupResult, back_up

__all__ = ["BackupResult", "Manifest", "RestoreResult", "back_up", "finish_restore", "restore"]
