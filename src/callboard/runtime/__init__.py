"""What makes it move.

clock       time and ids, the only place where either comes from
parts       what the rooms below give the runtime, and its limits
setup       what a run starts with: definition, prompt layers, tools, route
context     what a model is told: a thread's facts as messages
gather      pieces of parts, gathered into frames and partials
ask         the effect of asking a model
call        the effect of running a tool
home        the workspace of a session, as far as its decisions need it
keeper      a session's state: opened, folded on, kept
contexts    the contexts of a session's threads
runs        what a session's open runs were told
verdicts    the gate's verdicts on a session's calls
knowing     what a decision knows from outside
expiries    when pending actions run out, for all sessions
host        one session: decides, commits, publishes, acts
sessions    the hosts of the sessions that are in use
workspaces  the workspaces and their lists of sessions
commands    the command service: keys, routing, answers
queries     the reads
views/      panels kept up to date behind the log, and the rings that clients follow
runtime     the whole, started and closed
"""
