"""What an agent can do: the gate, path confinement, the sandbox and the tools themselves.

Every tool call of every agent in every mode passes the one gate.

toolbox      the port: tools told, calls evaluated and run
gate, case   the stations that a call passes, and what they find of it
rules        standing answers; commands and globs are what their matchers are made of
telling      what a person reads of a call
kit          the tools that there are
read write edit glob grep bash finalize
             each tool's arguments, and what it does
paths        what may be written down as a path
handles      files opened from the folder's handle, never through a link
texts changes replacing
             bytes as text, a change and its diff, a file replaced as a whole
search/      Glob and Grep, in a process of their own
sandbox/     commands held in by bubblewrap, behind a guard that ends all of them
shell        a command run as the gate said
"""
