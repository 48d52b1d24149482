"""Facts in the vocabularies of other programs.

entities       each fact's translation into three vocabularies, one file an entity
agentui        the Agent UI specification's events
subagents      the Subagents specification's events
agentruns      the Multi-agent runtime specification's events
runtime        the runtime's own events: every fact under its wire tag
translation    the events of one type of fact in all of them; agentui_emission and run_emission build them
identity       derived ids of an event's envelope
lineage        parents of agents and tasks
"""
