"""What agents of a session ask of each other.

agents    who is meant, and who may do what to whom: the invariants
spawn     a child is given an objective
children  a child is given more, cancelled, closed
slots     how many work at once, and who is next
waits     a call that waits for children
handoff   envelopes over edges
messages  messages between agents
review    judgements
tasks     the board
worktree  a child with files of its own
commands  what a person asks for
defining  agents and edges that agents make
cards     what a person is shown of them before they are made
calls     the tools by which agents ask for all of this
"""
