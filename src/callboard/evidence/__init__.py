"""Evidence packs: exported facts of a session that any reader can verify.

Modules:
    layout: Files of a pack, lines of facts, the manifest and the README. Pure.
    lineage: The facts of a task, its subtasks and the agents that worked on them. Pure.
    pack: Writing of a pack, page by page.
    verify: Verification of a pack without the log.
"""
