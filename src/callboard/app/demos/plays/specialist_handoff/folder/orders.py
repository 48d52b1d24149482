"""The orders of one customer, newest first."""

import sqlite3


def of_customer(database: sqlite3.Connection, customer: int) -> list[tuple[int, str, int]]:
    rows = database.execute("SELECT id, placed_at, total FROM orders WHERE customer = ?", (customer,)).fetchall()
    return sorted(rows, key=lambda row: row[1], reverse=True)[:20]
