"""Facts as they leave the system.

identity    what of an event's envelope is derived and not stored
runtime     the runtime's own events: every fact under its wire tag
agentui     Agent UI's event classes: one map for facts, one for text in the making
classes     the rows of that map; emission and teamwork make them
context     those events with what other facts say of what each is about
subagents   the Subagents specification's events
lineage     what those need beside their own fact
"""
