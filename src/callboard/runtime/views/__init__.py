"""Panels kept up to date behind the log, and the rings that clients follow.

ring        encoded operations of one stream; a client is a cursor into it
window      the rows that a client gets first
behind      rows written behind the log
reached     how far the views are, for those who wait
session     the panels of one session as they are now
"""
