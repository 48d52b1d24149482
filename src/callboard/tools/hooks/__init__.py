"""Hooks: programs of a person's own that are asked about a call before the gate looks at it. They can only narrow.

asking     which hooks a call is for, in which order, and what their answers come to
program    one program behind its guard: what it is given, what it answers, and how it fails
"""
