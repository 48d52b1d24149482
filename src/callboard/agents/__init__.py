"""Who takes part: agents defined in Markdown.

definition  a Markdown file with frontmatter, read and checked
presets/    the agents that come with the package
packaged    the definitions of a folder that has none of its own
"""
