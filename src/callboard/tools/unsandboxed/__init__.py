"""What runs outside of the sandbox: hooks, tool servers and external agents pass one check at every start.

reach      the files that a command names, and the folders of agents that they are in
variables  the environment variables by which a program is made to load something
binding    a command with its program, its scripts and its environment, as one digest
"""
