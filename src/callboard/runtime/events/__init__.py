"""Events of the Multi-agent runtime specification, in one order per workspace for all clients.

A workspace's facts are in several streams. Their order is the position of a fact in the store
(`FactLog.read_arrivals`): the order in which facts became durable, which no restart changes.

**Numbers.** Each position opens a block of numbers, `position << 22`. The first sixteen are for the
events of the fact itself, and are always the same. The rest are for live events (Token,
AgentStatus) until the next fact. Live events are numbered once for all clients and are not stored.
Each writer of the store has its own share of a block, counted by epochs since the writer of the
fact. So a number is never used twice, also after a crash.

**Reconnection.** A client sends its last `seq`. It receives later facts from the log under their
own numbers. In place of missed Tokens, it receives the text so far of each unfinished part, under
the number of the newest Token in it. A part that has ended arrives as its final Message.
"""
