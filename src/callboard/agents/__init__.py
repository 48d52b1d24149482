"""Agents, defined in Markdown files.

Modules:
    fields: The fields of a definition's frontmatter.
    frontmatter: Decoding of frontmatter, with the line of each problem.
    cron: Validation of cron expressions.
    definition: Loading and validation of one file.
    roster: All agents of a folder: names, aliases, edges, targets and the lead.
    folder: The definitions of a folder, loaded again after a change.
    packaged: The agent of a folder without definitions.
    teams: Team presets to list and copy.
    presets: One folder for each preset.
"""
