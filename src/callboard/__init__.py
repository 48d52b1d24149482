"""Callboard runs teams of AI agents and writes down every fact.

The house, and who may import whom (each arrow also reaches everything to its right)::

    app -> adapters -> runtime -> control | projection | log | agents | models | tools | evidence -> contracts

    contracts    what is said: facts, commands, rows, ids, errors, ports
    control      what is decided (pure)
    projection   what is seen (pure)
    log          where facts live
    agents       who takes part
    models       how a model is asked
    tools        what an agent can do
    evidence     what can be proved
    runtime      what makes it move
    adapters     how others speak to it
    app          where it is put together
"""

__version__ = "0.1.0"
