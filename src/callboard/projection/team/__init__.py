"""The panels of a team, each empty as long as there is nothing that it is about.

panels                    all of them together
member, changes, roster   who takes part, and how each stands
background, remote        what of that only agents that sleep, or are elsewhere, have
inbox, persons            what waits for each agent's next turn, and for a person who is an agent
merging                   what a parent's call merged
team, topology, edges     the team as a whole, how its work is organised, and the lines of the graph
tasks, attempts, reviews  the board, what was tried, and what was judged
handoffs, messages        what was handed over and said
notifications             what parents are told of their children
runs, ended               one record an execution, and how it ended
"""
