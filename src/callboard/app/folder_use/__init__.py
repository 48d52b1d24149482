"""Which processes of this user serve which project folders, so that two state folders on one project are noticed.

place    the private folder in which processes announce it
claim    what a process announces, and what the others do

Each process has one file, locked while it lives. Nothing is written into a project.
"""

from __future__ import annotations

from .claim import FolderClaim, FolderUse, others_on

__all__ = ["FolderClaim", "FolderUse", "others_on"]
