"""Implementations of the model port (`contracts.ports.model`).

Modules:
    registry: The configured models, and the route of a run. `configuration` has the settings of one moment.
    wire: Models over HTTP, in the format of their provider.
    scripted: A model that plays a scenario file. `scenario` is its format.
    recorded: A model that repeats the responses of an evidence pack. `recording` reads them.
    offline: A search, used while no model is configured.
    retry: The policy of repeated calls. The caller repeats them and records each attempt.
    turn: Helpers to read the current turn from a request.
"""
