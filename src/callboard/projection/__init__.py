"""What is seen: one reducer file a panel, and the emit maps of the edges.

Facts and partials go in, row operations come out. Pure, so that a view built live equals the view rebuilt.
"""
