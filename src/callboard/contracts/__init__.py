"""What is said: the words every other room shares, and nothing that acts.

    ids         the shapes of identifiers and how one is minted from time and randomness given from outside
    content     text that fits a fact, and the blob that holds what does not
    scope       which session, thread, turn, run, step, tool call or action a fact belongs to
    facts/      what happened, one file a family; the registry is the union of the families
    record      a fact as the log keeps it: header, chain link, payload; and a fact as it leaves on the wire
    commands/   what may be asked, one file a family; the table declares each once
    rows/       what a panel shows: keyed rows and the three operations that change them
    erased      what stands in for a fact whose payload was erased
    live        text in the making: partials, frames and the live cursor
    ports/      what the rooms need of each other: log, model, tools, blobs, clock
    errors      the one refusal, and the closed list of its codes
    vocabulary  the closed lists of names that leave the system
    schema      JSON Schema and TypeScript of all of the above

Pure: no clock, no randomness, no I/O.
"""
