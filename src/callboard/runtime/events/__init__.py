"""The events of the Multi-agent runtime specification: one order for each workspace, the same for every client.

heard    the live feed, told on to whoever numbers
order    which number an event has, and the newest events
stream   one client: from where it was, without gap or repeat

**How `seq` is given.** A workspace's facts lie in several streams, one for each session. What orders them is the place of a
fact in the store (`FactLog.arrivals`): the order in which facts became durable, kept with them, which no restart changes. Each
place opens a block of numbers, `place << 22`: the first sixteen are for the events that the fact itself is told as, and are
the same whoever computes them and whenever; the rest are for the live events (Token, AgentStatus) that come until the next
fact. Live events are numbered once for all clients, and are not kept. A process that dies takes its live numbers with it. The
next one begins behind them: each writer of the store has a share of a block of its own, counted by the epochs since the one
that wrote the fact. What is numbered after a restart is never taken for a repeat.

A client that comes back names the last `seq` that it has. The facts behind it are told again from the log under their own
numbers. Tokens are not: in their place comes the text so far of each part that is still being made, under the number of the
newest Token that it contains. A part that has ended meanwhile is told by its final Message.
"""
