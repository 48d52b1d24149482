"""What makes it move: the command service, the turn loop, effects, placement, recovery and views.

Outcomes of effects come back as commands; nothing is acknowledged before its facts are committed.
"""
