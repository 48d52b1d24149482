"""What is decided: commands and outcomes become facts here and nowhere else.

    state       what a decider needs to know of a session: its open entities, nothing that is over
    evolve/     how each fact changes that state, one file a family
    outcomes    what the runtime reports back: answers of models, ends of tools, a stop, a recovery
    batch       the facts of one decision in the making, with the state as they change it
    decide/     the rules, one file a family
    effects     which facts make the runtime act

Pure: time, ids and what only an index knows come in as `Known`.
"""
