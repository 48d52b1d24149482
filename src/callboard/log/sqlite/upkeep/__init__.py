"""Checks and copies of a store.

Modules:
    damage: A defect in a store, with advice.
    checking: The check of a store, in whole or in part.
    derived_check: The check of `views.db`.
    copying: A consistent copy while another process writes.
    folders: The folders of the store's workspaces.
"""
