"""Pure rules: commands and outcomes become facts here and nowhere else.

    state/           what deciders read: the open entities of a session
    evolve/          how each fact changes that state
    outcomes.py      what the runtime reports: responses of models, results of tools, a stop, a takeover
    batch.py         the facts of one decision, with the state that they lead to
    decide/          the rules, one folder per entity
    effects.py       which facts make the runtime act
    task_status.py   questions about tasks that several deciders ask

Time, fresh ids and data from outside of the stream come in as `DecisionInputs`.
"""
