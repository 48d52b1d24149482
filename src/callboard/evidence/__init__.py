"""What can be proved from a log.

layout   what a pack looks like: its files, a fact's line, the manifest, the words that go with it; pure
lineage  which facts are of a task, its parts and the agents that worked on them; pure
pack     making a pack, page by page, into a file that is given
verify   checking a pack with nothing but the pack
"""
