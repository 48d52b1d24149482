"""Files that decide what agents may do, or that other programs obey.

repositories  what a git repository names that git would run
tree          the bounded walk that finds protected paths at every depth
watch         protected paths around one command: read-only while it runs, compared after it
"""
