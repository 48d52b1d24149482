"""Who takes part: agents defined in Markdown.

fields      the fields of a definition's frontmatter
marks       frontmatter read with its places, so that each fault has a line
definition  one file, read and checked
roster      the files of a folder side by side: names, aliases, edges, targets, the lead
folder      the definitions of a folder, read again when a file changed
packaged    the definition of a folder that has none of its own
teams       presets of teams, listed and copied
presets/    the presets, a folder each
"""
