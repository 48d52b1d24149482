"""The agents that come with the package, one Markdown file each."""
