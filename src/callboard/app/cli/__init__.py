"""The command line, one file a verb. A verb's own file is light, so that help is quick; what it needs is imported when it runs.

main        the verbs, their errors
exits       what the exit codes mean
words       what the API says, in words of the command line
terminal    where text goes, and text as it is safe to print
loop        coroutines from a command line, and Ctrl-C
opening     the page in a browser
up, run, demo, agents, sessions, facts, view    the verbs
milestones  how far `up` is, in words
running     what `run` does
conversing  a turn in the terminal: printed, answered, stopped
printing    a turn as it happens
demoing     what `demo` does
watching    a whole team in the terminal, to its end
narrating   a fact on a line
asking      approvals by a person at the terminal, or as was said beforehand
questions   what a question shows there, and what a line says to it
rendering   a conversation from its rows
"""
