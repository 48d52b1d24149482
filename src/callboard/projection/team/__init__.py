"""The panels of a team, each empty as long as there is nothing that it is about.

panels                    all of them together
member, changes, roster   who takes part, and how each stands
inbox                     what waits for each agent's next turn
tasks                     the board
runs                      one record an execution
"""
