"""Panels kept up to date behind the log, and the rings that clients follow.

ring        encoded operations of one stream; a client is a cursor into it
window      the rows that a client gets first
session     the panels of one session, from facts and live pieces
workspace   the list of a workspace's sessions
feeds       what the surfaces follow: operations and facts
"""
