"""Row operations for panels, from facts and live text.

    view        all panels of a session, from facts, live frames or a stored state
    session     the header of a session
    sessions    the session's card in the list of sessions
    turns       one row per turn
    parts/      the conversation within turns: text, reasoning, tool calls, actions, notices
    queue       queued turns
    actions     requests that wait for an answer
    status      the status line of each thread
    team/       the panels of a team
    task/       the board
    live        live text, shown over the rows of facts
    workspace   a workspace's row, and the listing of its sessions
    overlay     rows of a dead epoch
    rows        a table of rows
    reducer     the base of reducers
    emit/       facts in the vocabularies of other programs

Pure: no clock, no I/O. A reducer stores open entities only, and a view can continue from its encoded state.
"""
