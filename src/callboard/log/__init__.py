"""Where facts live: memory, SQLite and PostgreSQL behind one port.

Append-only streams with one gapless sequence each, their hash chain, blobs, partials, rows and the live feed.
"""
