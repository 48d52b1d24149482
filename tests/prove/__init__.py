"""Proofs: the real product is driven from outside, killed for real, and compared with what shares no code with it.

    crash     kill -9 at moments spread over facts and within commits; nothing acknowledged is missing, nothing runs twice
    fsync     an acknowledgement leaves after the facts that it tells of were synced, seen by tracing
    resume    clients that drop at random end with the view that a fold of the log gives
    deltas    a long reply in many pieces: what it costs while it runs and after it ended
    cancel    cancel at a random moment of a tree: nothing of it lives on, and nothing of it goes on
    inbox     kill -9 between any two facts of a handoff: it is consumed exactly once, and in order
    evidence  exported packs hold for somebody who has nothing of the product, through kills and erasures; changed ones do not
    secrets   planted secrets are found in no byte that is kept, sent or told, and what uses them runs
    provider  what a model's provider does wrong is told as what it was, in each wire format, and no turn hangs
    faults    lost power, a failing disk and a full disk: nothing acknowledged is missing
    team      the conformance fixture of subagents out of a real run, and the team that is shown beside a fold of the log
    origin    pages of other ports, clicked links, listeners and command lines obtain no credential that the API accepts
    idle      random histories of teams: no agent with unread input or open work reads done or running without a run
    upgrade   golden stores of former versions open, and a changed byte in any table is refused or changes nothing

Each is a module to run (`python -m tests.prove.NAME.proof --n N`), ends with PASS or FAIL and the exit code 0 or 1, and has a
sabotage under which it must fail (`--sabotage`, see the tests beside it). No module here imports the product, but those
that are it, in processes of their own:

    product   the server as a process
    auditor   a pack of evidence checked from its README alone, with the standard library
    wire      HTTP/1.1 and server-sent events over sockets
    store     the log as it lies on disk, with the chain checked anew
    fold      facts folded into the view that a client should have
    team_fold facts folded into the team that a client should be shown
    team_snapshot the team out of task snapshots alone, and out of facts
    view      the view that a client has, from the operations it was sent
    scenes    scenario files for the scripted model
    crew      teams: agents of a folder, what their model says, a session followed from outside
    planted   the product with a fault
    secrets_made  secrets of one run, their forms, and where they are looked for
    erasing   the product erasing facts
    speaking  the product's events and task snapshots of a session
    report    figures, progress and the verdict
"""
