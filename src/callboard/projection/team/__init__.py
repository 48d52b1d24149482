"""The panels of a team, each empty as long as there is nothing that it is about.

panels                    all of them together
member, changes, roster   who takes part, and how each stands
inbox                     what waits for each agent's next turn
team, edges               how the work is organised, and the lines of the graph
tasks, reviews            the board, and what was judged
handoffs, messages        what was handed over and said
notifications             what parents are told of their children
runs                      one record an execution
"""
