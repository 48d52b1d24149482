"""Proofs: drive the real product from outside, kill it, and compare it with code that it does not
share.

crash     kill -9 at moments spread over facts and within commits: nothing acknowledged is missing,
          nothing runs twice
fsync     an acknowledgement leaves after the sync of its facts, seen by tracing
resume    clients that drop at random end with the view of a fold of the log
deltas    the cost of a long reply in many pieces, while it runs and afterwards
cancel    a cancel at a random moment of a tree ends all of it
inbox     kill -9 between any two facts of a handoff: it is consumed exactly once, and in order
evidence  exported packs convince a receiver without the product, through kills and erasures;
          changed ones do not
secrets   planted secrets are in no stored, sent or shown byte, and what uses them runs
provider  errors of a model's provider are reported correctly in each wire format, and no turn hangs
faults    lost power, a failing disk and a full disk: nothing acknowledged is missing
team      the conformance fixture of subagents in a real run, and the shown team beside a fold of
          the log
origin    pages of other ports, clicked links, listeners and command lines obtain no valid
          credential
idle      random histories of teams: no agent with unread input or open work reads done or running
          without a run
upgrade   golden stores of earlier versions open; a changed byte in any table is refused or changes
          nothing

Each is a module to run (`python -m tests.prove.NAME.proof --n N`), ends with PASS or FAIL and the
exit code 0 or 1, and has a sabotage under which it must fail (`--sabotage`, see the tests beside
it). Shared modules are in `driver`. Only modules that are the product in their own processes
import the product. `auditor` checks an evidence pack from its README alone.
"""
