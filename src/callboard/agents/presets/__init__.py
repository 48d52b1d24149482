"""Teams that come with the package: a folder each, with one Markdown file an agent."""
