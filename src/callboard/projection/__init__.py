"""What is seen: facts, and text in the making, become row operations.

    session     the shell of a session
    sessions    the session's card in the list of sessions
    turns       one row a turn, with its counts and its end
    parts/      the conversation within turns: text, reasoning, tool calls, actions, asides
    queue       turns that wait, in their order
    actions     requests that wait for an answer
    status      the status line of each thread
    live        text in the making, laid over the rows of facts
    view        all panels of a session together, from facts, frames or a kept state
    workspace   a workspace's row, and what it says of its sessions' titles, pins and archive
    overlay     what a row reads where the process that wrote it is dead
    rows        a table that operations are applied to
    emit/       facts as they leave the system: the runtime's events, Agent UI's event classes

Pure: no clock, no I/O. A reducer holds what is still open and nothing older, and can be encoded and gone on from.
"""
