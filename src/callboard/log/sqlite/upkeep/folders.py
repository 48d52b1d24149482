"""The workspace folders in the log of a store."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ....contracts.errors import Refusal
from ....contracts.facts.workspace import WorkspaceOpened
from ...batch import decode_record
from ..failures import to_refusal
from ..links import read_stored
from ..schema import FACTS, check_facts, connect_reader


def list_opened_folders(folder: Path) -> tuple[str, ...]:
    """Return the folders of all workspaces, also from an older layout. Workspaces with a damaged first fact are left out.

    Blocks. Raises Refusal `store_unusable`, `store_full` or `store_locked`.
    """
    path = folder / FACTS
    folders: list[str] = []
    try:
        with closing(connect_reader(path)) as connection:
            check_facts(connection, path, writing=True)
            streams = connection.execute("SELECT number, name FROM streams WHERE name LIKE 'wks!_%' ESCAPE '!'")
            for number, name in streams.fetchall():
                for stored in read_stored(connection, number, 0, 1):
                    try:
                        fact = decode_record(name, stored).fact
                    except Refusal:
                        continue
                    if isinstance(fact, WorkspaceOpened):
                        folders.append(fact.path)
    except sqlite3.Error as error:
        raise to_refusal(error, str(path)) from error
    return tuple(folders)
