"""Facts in the vocabularies of other programs.

entities       each fact's translation into three vocabularies, one file an entity
agentui        the Agent UI specification's events
subagents      the Subagents specification's events
agentruns      the Multi-agent runtime specification's events
runtime        the runtime's own events: every fact under its wire tag
agentui_emission, run_emission    build the events of a translation
identity       derived ids of an event's envelope
lineage        parents of agents and tasks
"""
