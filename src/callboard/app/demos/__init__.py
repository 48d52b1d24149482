"""Demos: real sessions of the runtime with scripted agents, each in its own folder."""
