"""The command line, one file a verb.

main        the verbs, their errors and their exit codes
exits       what the exit codes mean
terminal    where text goes, and text as it is safe to print
milestones  how far `up` is
up, run, sessions, facts, view    the verbs
printing    a turn as it happens
asking      approvals in the terminal, and in place of a person
rendering   a conversation from its rows
"""
