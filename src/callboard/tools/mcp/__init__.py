"""Servers of tools that speak the Model Context Protocol, behind the same gate as everything else.

names      what a server's tools are called here
offered    which of a server's tools are taken, and as what
expansion  how large a schema becomes by its references
checking   comparing a value with a schema, in bounded time
program    a server that is a program, behind a guard that ends it with its host
web        a server at an address, and how much may come from it
link       one connection: there, lost, its tools, its calls
answers    what a call came to, in our words
resources  a server's resources, as one tool of ours
failures   why a connection failed, as a code and a text
questions  what a server asks a person
servers    the servers of all folders: connected when they are needed, tried again, let go

Only `link`, `program`, `web`, `answers`, `resources`, `failures` and `questions` import the protocol's package, which is large;
they are imported when the first server is connected to.
"""
