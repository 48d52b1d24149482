"""Content of a measured turn: 0.9 kB in two model calls and one tool call."""

from __future__ import annotations

PROMPT = (
    "The nightly export has written an empty file three times this week. Read notes.md, which the person on duty keeps, "
    "and tell me in a few sentences what happens, since when, and what I should look at first."
)
TOOL = "Read"
ARGUMENTS = {"file_path": "notes.md"}
NOTES = (
    "# On duty\n\nMon 02:10 export empty, rerun by hand was fine.\nTue 02:10 export fine.\nWed 02:10 export empty. "
    "The volume had been mounted late, at 02:11.\nThu 02:10 export empty, mounted at 02:12. The job does not wait "
    "for the mount and writes to the folder below it.\n"
)
ANSWER = (
    "The job starts at 02:10 and the volume has been mounted a minute or two later since Monday, so the export goes to "
    "the folder below the mount point and the file on the volume stays empty. Look first at the order of the two units: "
    "the export has to require the mount and come after it (notes.md:5)."
)
#: Bytes of content in a turn.
BYTES = len((PROMPT + str(ARGUMENTS) + NOTES + ANSWER).encode())
